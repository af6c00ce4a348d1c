"""Tree kernels by enumeration and by their definitions, on nested tuples (label, child, ...)."""

import itertools
from collections import Counter


def children(tree):
    return tree[1:]


def nodes(tree):
    return [tree, *(node for child in children(tree) for node in nodes(child))]


def production(tree):
    return tree[0], tuple(child[0] for child in children(tree))


def inner_nodes(tree):
    return sum(1 for node in nodes(tree) if children(node))


def subtree(x, z, decay, leaves):
    """Count complete subtrees one by one."""

    def counts(tree):
        return Counter(node for node in nodes(tree) if leaves or children(node)) if tree else Counter()

    one, two = counts(x), counts(z)
    return sum(decay ** max(1, inner_nodes(t)) * one[t] * two[t] for t in one)


def fragments(tree):
    """Return all fragments with this root in which a node has all of its children or none."""
    if not children(tree):
        return []
    choices = [[(child[0],), *fragments(child)] for child in children(tree)]
    return [(tree[0], *parts) for parts in itertools.product(*choices)]


def subset_tree(x, z, decay, leaves):
    """Count fragments one by one, each weighted by its number of productions."""

    def counts(tree):
        found = Counter(f for node in nodes(tree) for f in fragments(node)) if tree else Counter()
        if leaves and tree:
            found.update(node for node in nodes(tree) if not children(node))
        return found

    one, two = counts(x), counts(z)
    return sum(decay ** max(1, inner_nodes(f)) * one[f] * two[f] for f in one)


def partial_tree(x, z, depth, width, terminal, gaps):
    """Sum over all pairs of nodes and all pairs of sequences of children, as the definition says."""

    def span(chosen):
        return chosen[-1] - chosen[0] - (len(chosen) - 1 if gaps == "skipped" else 0)

    def delta(n, m):
        if n[0] != m[0]:
            return 0.0
        if not children(n) or not children(m):
            return depth * width**2 * terminal
        total = width**2
        for length in range(1, min(len(n), len(m))):
            for one in itertools.combinations(range(len(n) - 1), length):
                for two in itertools.combinations(range(len(m) - 1), length):
                    value = width ** (span(one) + span(two))
                    for a, b in zip(one, two, strict=True):
                        value *= delta(n[1 + a], m[1 + b])
                    total += value
        return depth * total

    if not x or not z:
        return 0.0
    return sum(delta(n, m) for n in nodes(x) for m in nodes(z))
