"""How discriminants are found: sphering, canonical variates, optimal scores, mixtures, shrinkage."""
