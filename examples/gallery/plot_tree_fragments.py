"""
What two trees share
====================

A tree kernel counts the fragments that two trees have in common. Here are two sentences: the nodes whose
production (label and labels of the children) occurs in the other tree are filled, and links between two such
nodes belong to larger fragments.
"""

import matplotlib.pyplot as plt

from mercer.kernels import SubsetTree

SENTENCES = {
    "the cat saw a dog": ("S", ("NP", ("D", "the"), ("N", "cat")),
                          ("VP", ("V", "saw"), ("NP", ("D", "a"), ("N", "dog")))),
    "the bird saw the cat today": ("S", ("NP", ("D", "the"), ("N", "bird")),
                                   ("VP", ("V", "saw"), ("NP", ("D", "the"), ("N", "cat")), ("A", "today"))),
}  # fmt: skip


def label(node):
    """Return a node's label; a word is its own."""
    return node if isinstance(node, str) else node[0]


def production(node):
    """Return a node's label with those of its children, nothing for a word."""
    return None if isinstance(node, str) else (node[0], *(label(child) for child in node[1:]))


def nodes(tree):
    """Return a tree's nodes."""
    return [tree] if isinstance(tree, str) else [tree, *(n for child in tree[1:] for n in nodes(child))]


def draw(ax, tree, shared, depth=0, left=0.0):
    """Draw a tree from the left; return its root's place and where the next tree begins."""
    place, ends = left, left + 1.0
    places = []
    if not isinstance(tree, str):
        ends = left
        for child in tree[1:]:
            where, ends = draw(ax, child, shared, depth + 1, ends)
            places.append(where)
        place = (places[0] + places[-1]) / 2
    mine = production(tree) in shared
    for where, child in zip(places, tree[1:], strict=not isinstance(tree, str)):
        both = mine and (production(child) in shared or isinstance(child, str))
        color, width = ("tab:blue", 2.5) if both else ("0.6", 2.0 if mine else 1.0)
        ax.plot([place, where], [-depth, -depth - 1], color=color, lw=width, zorder=1)
    word = isinstance(tree, str)
    box = {
        "boxstyle": "round,pad=0.3",
        "fc": "tab:blue" if mine else "white",
        "ec": "none" if word else "0.5",
    }
    ax.text(place, -depth, label(tree), ha="center", va="center", bbox=box, style="italic" if word else None,
            color="white" if mine else "black", zorder=2)  # fmt: skip
    return place, ends


one, two = SENTENCES.values()
shared = {production(n) for n in nodes(one)} & {production(n) for n in nodes(two)} - {None}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for ax, (words, tree) in zip(axes, SENTENCES.items(), strict=True):
    draw(ax, tree, shared)
    ax.set_title(words)
    ax.margins(0.12)
    ax.axis("off")
K = SubsetTree(1.0)([one, two])
figure.suptitle(f"{K[0, 0]:.0f} and {K[1, 1]:.0f} fragments, {K[0, 1]:.0f} pairs of equal ones")
plt.show()

# %%
# Small decays favour small fragments. Divided by the lengths, the values are cosines:
for decay in (1.0, 0.4, 0.1):
    print(decay, SubsetTree(decay).normalized()([one], [two]).round(3))
