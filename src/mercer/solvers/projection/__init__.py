"""How directions in feature space are found: coordinates, canonical pairs, class scores, pre-images."""
