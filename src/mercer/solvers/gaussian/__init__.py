"""Gaussian processes: the evidence, its maximum, the posterior."""
