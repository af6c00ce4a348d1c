"""Kernels between items that are no vectors, as a user would write them."""

from collections import Counter

import mercer


def _pairs(text):
    return Counter(text[i : i + 2] for i in range(len(text) - 1))


@mercer.kernel(psd=True)
def shared_pairs(a, b):
    """Inner product of the counts of neighbouring letters."""
    p, q = _pairs(a), _pairs(b)
    return float(sum(p[word] * q[word] for word in p))


@mercer.kernel
def shared_letters(a, b):
    """Inner product of the counts of letters; nothing is declared of it."""
    p, q = Counter(a), Counter(b)
    return float(sum(p[letter] * q[letter] for letter in p))


@mercer.kernel
def length_gap(a, b):
    """Minus the squared difference of lengths: conditionally, but not positive semi-definite."""
    return -float((len(a) - len(b)) ** 2)
