"""
Strings: a map of sequences, and which substrings matter
========================================================

Kernels make every machine work on strings. Here three families of DNA sequences differ by a motif that stands
somewhere in otherwise random letters. Kernel principal components draw a map of them; a support vector
machine tells two of them apart, and its weights say which substrings it goes by.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.inspect import along_sequence, feature_weights
from mercer.kernels import Mismatch, Spectrum

rng = np.random.default_rng(0)
motifs = {"TATA box": "TATAAT", "-35 box": "TTGACA", "GC box": "GGGCGG"}


def sequence(motif, length=50):
    """Return random letters with two copies of a motif, one letter of each perhaps misspelled."""
    letters = rng.choice(list("ACGT"), size=length)
    for start in (rng.integers(2, 18), rng.integers(26, 42)):
        copy = list(motif)
        copy[rng.integers(len(copy))] = rng.choice(list("ACGT"))
        letters[start : start + len(motif)] = copy
    return "".join(letters)


kinds = np.repeat(list(motifs), 60)
X = [sequence(motifs[kind]) for kind in kinds]

# %%
# The first two kernel principal components. The mismatch kernel forgives one wrong letter in five.
projected = mercer.KernelPCA(n_components=2, kernel=Mismatch(5, 1).normalized()).fit_transform(X)

figure, ax = plt.subplots(figsize=(6.4, 5), layout="constrained")
for kind, marker in zip(motifs, "os^"):
    chosen = kinds == kind
    ax.scatter(*projected[chosen].T, s=28, marker=marker, alpha=0.8, label=f"{kind}, {motifs[kind]}")
ax.set(xlabel="first component", ylabel="second component", title="Kernel principal components of DNA")
ax.legend()
plt.show()

# %%
# A machine that tells two of the families apart has a weight for each substring of four letters.
two = np.isin(kinds, ["TATA box", "-35 box"])
words = [x for x, wanted in zip(X, two) if wanted]
model = mercer.SVC(kernel=Spectrum(4).normalized(), C=10.0).fit(words, kinds[two] == "TATA box")
heavy = feature_weights(model).top(16)
heavy = sorted(heavy, key=lambda one: one[1])

figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
values = [weight for _, weight in heavy]
ax.barh([name for name, _ in heavy], values, color=["C0" if v > 0 else "C3" for v in values])
ax.tick_params(axis="y", labelfontfamily="monospace")
ax.axvline(0, color="0.4", lw=0.8)
ax.set(xlabel="weight: for the TATA box (right) or against it (left)", title="Which substrings matter")
plt.show()

# %%
# Along a sequence, the symbols share the decision. Those of the two copies of the motif stand out.
figure, axes = plt.subplots(2, 1, figsize=(10, 4.2), layout="constrained", sharey=True)
for ax, kind in zip(axes, ("TATA box", "-35 box")):
    item = sequence(motifs[kind])
    shares = along_sequence(model, item)
    places = np.arange(len(item))
    ax.bar(places, shares, width=0.9, color=np.where(shares > 0, "C0", "C3"))
    ax.axhline(0, color="0.4", lw=0.8)
    ax.set_xticks(places, list(item), fontfamily="monospace")
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.7, len(item) - 0.3)
    decision = shares.sum() + model.intercept_[0]
    ax.set_title(f"{kind}: decision {decision:+.2f}", loc="left")
axes[0].set_ylabel("share of the decision")
axes[1].set_ylabel("share of the decision")
plt.show()
