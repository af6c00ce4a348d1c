"""Fitting sums of splines: forward and backward passes of hinges, adaptive back-fitting of smooth terms."""
