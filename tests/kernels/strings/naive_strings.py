"""Readable twins of the string kernels: features listed one by one, recursions as they are defined."""

import itertools
import math
from collections import Counter


def inner(a, b):
    """Return the inner product of two sparse vectors, given as dictionaries."""
    return float(sum(value * b[key] for key, value in a.items() if key in b))


def substrings(x, k):
    return Counter(tuple(x[i : i + k]) for i in range(len(x) - k + 1))


def spectrum(x, k):
    return substrings(x, k)


def blended(x, k, decay):
    return {u: n * decay ** len(u) for j in range(1, k + 1) for u, n in substrings(x, j).items()}


def gappy_pairs(x, k, g):
    return Counter(
        (tuple(x[i : i + k]), d, tuple(x[i + k + d : i + 2 * k + d]))
        for d in range(g + 1)
        for i in range(len(x) - 2 * k - d + 1)
    )


def mismatches(x, k, m, alphabet):
    found = Counter()
    for i in range(len(x) - k + 1):
        for u in itertools.product(alphabet, repeat=k):
            if sum(a != b for a, b in zip(u, x[i : i + k], strict=True)) <= m:
                found[u] += 1
    return found


def subsequences(x, length, decay, exactly):
    found = Counter()
    for j in [length] if exactly else range(1, length + 1):
        for places in itertools.combinations(range(len(x)), j):
            found[tuple(x[p] for p in places)] += decay ** (places[-1] - places[0] + 1)
    return found


def all_substrings(x, weight):
    """Return counts of all substrings, times the square roots of their weights."""
    return {
        u: n * math.sqrt(weight(len(u))) for j in range(1, len(x) + 1) for u, n in substrings(x, j).items()
    }


def weighted_degree(x, z, degree, shift):
    total = 0.0
    for s in range(shift + 1):
        for a, b in {(s, 0), (0, s)}:
            for d in range(1, degree + 1):
                beta = 2 * (degree - d + 1) / (degree * (degree + 1))
                for i in range(len(x) - s - d + 1):
                    equal = x[a + i : a + i + d] == z[b + i : b + i + d]
                    total += (1.0 if s == 0 else 1 / (2 * (s + 1))) * beta * equal
    return total


def edit_distance(x, z, indel, substitution):
    table = [[0.0] * (len(z) + 1) for _ in range(len(x) + 1)]
    for i in range(len(x) + 1):
        for j in range(len(z) + 1):
            ways = [] if i or j else [0.0]
            if i:
                ways.append(table[i - 1][j] + indel)
            if j:
                ways.append(table[i][j - 1] + indel)
            if i and j:
                ways.append(table[i - 1][j - 1] + substitution * (x[i - 1] != z[j - 1]))
            table[i][j] = min(ways)
    return table[-1][-1]


def local_alignments(x, z, score, gap_open, gap_extend, beta):
    """Return the sum of exp(beta score) over all local alignments, listed one by one.

    An alignment is a choice of equally many places in x and z, in order; a gap between two neighbours, in
    either sequence, costs. None at all counts 1.
    """

    def gap(length):
        return 0.0 if length == 0 else gap_open + gap_extend * (length - 1)

    total = 1.0
    for j in range(1, min(len(x), len(z)) + 1):
        for p in itertools.combinations(range(len(x)), j):
            for q in itertools.combinations(range(len(z)), j):
                value = sum(score[x[a], z[b]] for a, b in zip(p, q, strict=True))
                for places in (p, q):
                    value -= sum(gap(b - a - 1) for a, b in itertools.pairwise(places))
                total += math.exp(beta * value)
    return total
