"""Structures by brute force: all outputs, one after the other."""

import itertools

import numpy as np


def chains(k, length):
    return [np.array(labels) for labels in itertools.product(range(k), repeat=length)]


def label_sets(k):
    return chains(2, k)


def best(structure, x, w, outputs, y=None):
    """Return the largest score of all outputs, with the loss where y is given."""
    return max(
        float(structure.joint_feature(x, other) @ w) + (0.0 if y is None else structure.loss(y, other))
        for other in outputs
    )


def words(rng, n=12, k=3, d=2, edges=0, longest=5):
    """Return sequences of unequal length, one of a single node, whose labels depend on each other."""
    X, Y = [], []
    for i in range(n):
        length = 1 if i == 0 else int(rng.integers(1, longest + 1))
        nodes = rng.normal(size=(length, d))
        labels = (np.cumsum(np.round(nodes[:, 0])) % k).astype(int)
        labels = np.where(rng.random(length) < 0.2, rng.integers(0, k, length), labels)
        X.append((nodes, rng.normal(size=(length - 1, edges))) if edges else nodes)
        Y.append(labels)
    return X, Y
