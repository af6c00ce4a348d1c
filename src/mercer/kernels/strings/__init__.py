"""Kernels on sequences of symbols: strings, bytes, lists of tokens."""
