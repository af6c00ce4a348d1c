"""Scores for replacing one amino acid by another, as published: the lower triangles of symmetric tables.

BLOSUM62: S. Henikoff and J. G. Henikoff, "Amino acid substitution matrices from protein blocks", PNAS, 1992.
PAM250: M. O. Dayhoff, R. M. Schwartz and B. C. Orcutt, "A model of evolutionary change in proteins", 1978.
"""

from __future__ import annotations

import numpy as np

from mercer.arrays import Float64

# The twenty amino acids; B is N or D, Z is Q or E, X any of them, * the end of a chain.
LETTERS = "ARNDCQEGHILKMFPSTWYVBZX*"

BLOSUM62 = """
    4
    -1 5
    -2 0 6
    -2 -2 1 6
    0 -3 -3 -3 9
    -1 1 0 0 -3 5
    -1 0 0 2 -4 2 5
    0 -2 0 -1 -3 -2 -2 6
    -2 0 1 -1 -3 0 0 -2 8
    -1 -3 -3 -3 -1 -3 -3 -4 -3 4
    -1 -2 -3 -4 -1 -2 -3 -4 -3 2 4
    -1 2 0 -1 -3 1 1 -2 -1 -3 -2 5
    -1 -1 -2 -3 -1 0 -2 -3 -2 1 2 -1 5
    -2 -3 -3 -3 -2 -3 -3 -3 -1 0 0 -3 0 6
    -1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4 7
    1 -1 1 0 -1 0 0 0 -1 -2 -2 0 -1 -2 -1 4
    0 -1 0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1 1 5
    -3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1 1 -4 -3 -2 11
    -2 -2 -2 -3 -2 -1 -2 -3 2 -1 -1 -2 -1 3 -3 -2 -2 2 7
    0 -3 -3 -3 -1 -2 -2 -3 -3 3 1 -2 1 -1 -2 -2 0 -3 -1 4
    -2 -1 3 4 -3 0 1 -1 0 -3 -4 0 -3 -3 -2 0 -1 -4 -3 -3 4
    -1 0 0 1 -3 3 4 -2 0 -3 -3 1 -1 -3 -1 0 -1 -3 -2 -2 1 4
    0 -1 -1 -1 -2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -2 0 0 -2 -1 -1 -1 -1 -1
    -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 1
"""

PAM250 = """
    2
    -2 6
    0 0 2
    0 -1 2 4
    -2 -4 -4 -5 12
    0 1 1 2 -5 4
    0 -1 1 3 -5 2 4
    1 -3 0 1 -3 -1 0 5
    -1 2 2 1 -3 3 1 -2 6
    -1 -2 -2 -2 -2 -2 -2 -3 -2 5
    -2 -3 -3 -4 -6 -2 -3 -4 -2 2 6
    -1 3 1 0 -5 1 0 -2 0 -2 -3 5
    -1 0 -2 -3 -5 -1 -2 -3 -2 2 4 0 6
    -3 -4 -3 -6 -4 -5 -5 -5 -2 1 2 -5 0 9
    1 0 0 -1 -3 0 -1 0 0 -2 -3 -1 -2 -5 6
    1 0 1 0 0 -1 0 1 -1 -1 -3 0 -2 -3 1 2
    1 -1 0 0 -2 -1 0 0 -1 0 -2 0 -1 -3 0 1 3
    -6 2 -4 -7 -8 -5 -7 -7 -3 -5 -2 -3 -4 0 -6 -2 -5 17
    -3 -4 -2 -4 0 -4 -4 -5 0 -1 -1 -4 -2 7 -5 -3 -3 0 10
    0 -2 -2 -2 -2 -2 -2 -1 -2 4 2 -2 2 -1 -1 -1 0 -6 -2 4
    0 -1 2 3 -4 1 3 0 1 -2 -3 1 -2 -4 -1 0 0 -5 -3 -2 3
    0 0 1 3 -5 3 3 0 2 -2 -3 0 -2 -5 0 0 -1 -6 -4 -2 2 3
    0 -1 0 -1 -3 -1 -1 -1 -1 -1 -1 -1 -1 -2 -1 0 0 -4 -2 -1 -1 -1 -1
    -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 -8 1
"""

TABLES = {"BLOSUM62": BLOSUM62, "PAM250": PAM250}


def table(name: str) -> Float64:
    """Return a named table, in the order of ``LETTERS``."""
    lower = np.zeros((len(LETTERS), len(LETTERS)))
    lower[np.tril_indices(len(LETTERS))] = [float(score) for score in TABLES[name].split()]
    return np.asarray(lower + np.tril(lower, -1).T)
