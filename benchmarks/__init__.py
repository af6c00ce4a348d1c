"""Timing mercer against its peers, with proof that each solved the same problem to the same tolerance.

``python -m benchmarks.run --help`` (or ``make bench``) is the only entry. The rules it keeps:

- one process per library, started once; only one of them computes at any time; they take turns, for several
  rounds, and a ratio is taken within a round;
- same data (float64), kernel, C, gamma, tolerance, cache size and number of threads;
- code is compiled and memory is touched before the first clock starts; cold start has a line of its own;
- a time is believed only after the KKT violation of the fitted model has been recomputed in float64 from its
  support vectors, coefficients and bias, and its dual objective agrees with the best one found.
"""
