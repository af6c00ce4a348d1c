"""Example kernels, at least one for each class, and data for them.

A class whose parameters all have defaults is tried at these without being named here.
"""

import importlib
import inspect
import pkgutil
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import ExpSineSquared
from sklearn.metrics.pairwise import rbf_kernel

import mercer.kernels
from mercer.kernels import (
    ANOVA,
    DTW,
    RBF,
    AdditiveChi2,
    AnyFunction,
    Centered,
    Chi2,
    Clipped,
    Constant,
    Cosine,
    Diffusion,
    Flipped,
    FromFunction,
    GlobalAlignment,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    MultipleKernel,
    Normalized,
    OfPairs,
    OnColumns,
    Polynomial,
    Power,
    Precomputed,
    Product,
    RationalQuadratic,
    Scaled,
    Shifted,
    Sigmoid,
    Signature,
    SklearnKernel,
    Spline,
    Sum,
    kernel,
)
from mercer.values import subclasses


def exponential(x, z):
    return np.exp(-0.3 * np.abs(x - z).sum())


@kernel(psd=True)
def shared_letters(a, b):
    return len(set(a) & set(b))


@kernel(psd=True)
def smooth(x, z):
    total = 0.0
    for k in range(x.shape[0]):
        total += (x[k] - z[k]) ** 2
    return np.exp(-0.1 * total)


@kernel
def through_python(x, z):
    return float(str(x @ z))  # which numba cannot compile


class Example(NamedTuple):
    kernel: Kernel
    data: str = "real"

    def __str__(self):
        return self.kernel.expression()


WORDS = ["cat", "tack", "dog", "god", "a", "hippopotamus", "tic", "tac", "toe", "emu", "gnu", "cat"]

EXAMPLES = [
    Example(Linear()),
    Example(Cosine()),
    Example(Polynomial(degree=3, gamma=0.2, coef0=1.0)),
    Example(Polynomial(2, 0.5)),
    Example(RBF(0.3)),
    Example(RBF(gamma=np.array([0.1, 0.2, 0.0, 1.0, 0.5]))),
    Example(Sigmoid(0.1, -0.5)),
    Example(Laplacian(0.2)),
    Example(Matern(1.5, nu=0.5)),
    Example(Matern(1.5, nu=1.5)),
    Example(Matern(np.array([1.0, 2.0, 0.5, 1.0, 3.0]), nu=2.5)),
    Example(Matern(2.0, nu=np.inf)),
    Example(RationalQuadratic(1.5, 0.7)),
    Example(RationalQuadratic([1.0, 2.0, 0.5, 1.0, 3.0], alpha=2)),
    Example(Chi2(0.5), "positive"),
    Example(AdditiveChi2(), "positive"),
    Example(HistogramIntersection(), "positive"),
    Example(ANOVA(0.3, 2)),
    Example(Spline()),
    Example(Spline(anchor=np.array([-1.0, 0.0, 1.0, 2.0, -3.0]))),
    Example(Constant(2.5)),
    Example(Constant(2.5), "words"),
    Example(Precomputed(), "matrix"),
    Example(FromFunction(rbf_kernel)),
    Example(OfPairs(exponential)),
    Example(AnyFunction(exponential)),
    Example(SklearnKernel(ExpSineSquared(2.0, 5.0))),
    Example(shared_letters, "words"),
    Example(smooth),
    Example(through_python),
    Example(Sum(RBF(0.3), Linear())),
    Example(Sum(shared_letters, Constant(1.0)), "words"),
    Example(Product(RBF(0.3), Polynomial(2, 0.1, 1.0))),
    Example(Product(FromFunction(rbf_kernel), smooth)),
    Example(Power(Linear(), 3)),
    Example(Power(RBF(0.1), 0.5)),
    Example(Scaled(RBF(0.3), 2.5)),
    Example(Normalized(Polynomial(2, 0.1, 1.0))),
    Example(Normalized(shared_letters), "words"),
    Example(Centered(RBF(0.3))),
    Example(Centered(shared_letters), "words"),
    Example(Clipped(Sigmoid(0.1, -0.5))),
    Example(Clipped(shared_letters), "words"),
    Example(Flipped(Sigmoid(0.1, -0.5))),
    Example(Shifted(Sigmoid(0.1, -0.5))),
    Example(Shifted(Sigmoid(0.1, -0.5), 0.7)),
    Example(Shifted(shared_letters, 1.5), "words"),
    Example(OnColumns(RBF(0.3), [0, 2])),
    Example(OnColumns(Chi2(0.5), slice(1, None)), "positive"),
    Example(MultipleKernel([RBF(0.3), Scaled(Linear(), 2.0)], np.inf)),
    Example(Diffusion(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1), 0.7), "nodes"),
    Example(GlobalAlignment(), "series"),
    Example(GlobalAlignment(1.5, triangular=4), "series"),
    Example(DTW(), "series"),
    Example(DTW(0.3, window=1, root=True), "series"),
    Example(Signature(), "series"),
    Example(Signature(2, lead_lag=True, time=True, scale=0.5, method="recursion"), "series"),
]


def concrete_kernels():
    """Return every class of the package that is a kernel one can make."""
    for module in pkgutil.walk_packages(mercer.kernels.__path__, "mercer.kernels."):
        importlib.import_module(module.name)
    return {
        cls
        for cls in subclasses(Kernel)
        if not inspect.isabstract(cls) and cls.__module__.startswith("mercer.")
    }


STRINGS = ("words", "codes", "proteins")  # kinds of data that are sequences of letters
ITEMS = (
    *STRINGS,
    "trees",
    "graphs",
    "plots",
    "nodes",
    "series",
)  # kinds of data that are no tables of numbers
PHRASES = [
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "(S (NP (N cats)) (VP (V saw) (NP (D the) (N dog))))",
    "(S(NP(D(the))(N(dog)))(VP(V(saw))(NP(N(cats)))))",
    "(NP (D a) (N (N dog) (N house)))",
    "(N cat)",
    "(X)",
    "(S (S (S (NP (N dogs)) (VP (V ran)))))",
]

MOLECULES = [
    ([(0, 1), (1, 2)], ["C", "C", "O"]),
    ([(0, 1), (1, 2), (2, 0), (2, 3)], ["C", "C", "N", "O"]),
    ([(0, 1), (2, 3)], ["C", "O", "C", "O"]),
    ([], ["N", "N"]),
    ([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], ["C", "C", "C", "C"]),
    ([(0, 1), (1, 2), (2, 3), (3, 4)], ["O", "C", "C", "C", "O"]),
    ([], []),
]


def needs_arguments(cls):
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    return any(p.default is p.empty for p in parameters)


def kind_of(kernel):
    """Return which data a kernel takes, by what it says of itself."""
    if kernel.pairwise or kernel.requires_positive:
        return "matrix" if kernel.pairwise else "positive"
    for kind in ("real", *ITEMS):
        try:
            kernel.check(data_for(kind))
        except (TypeError, ValueError):
            continue
        return kind
    raise AssertionError(f"no example has data for {kernel!r}: add it to EXAMPLES, with data of its own")


def data_for(kind, n=12, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.3] = 0.0
    X[-1] = X[0]  # a duplicate
    if kind == "positive":
        X = np.abs(X)
    elif kind == "matrix":
        X = X @ X.T
    elif kind == "series":  # of several lengths
        made = [rng.normal(size=(1 + (3 * i) % 8, 2)) for i in range(n)]
        return [*made[:-1], made[0]]
    elif kind == "nodes":
        return [*(i % 5 for i in range(n - 1)), 0]
    elif kind == "plots":  # graphs with vectors on their nodes
        return [
            {"edges": edges, "vectors": np.array([[ord(c), len(c) - k] for k, c in enumerate(labels)]) / 60.0}
            if labels
            else []
            for edges, labels in data_for("graphs", n)
        ]
    elif kind == "graphs":
        return [*(MOLECULES[i % len(MOLECULES)] for i in range(n - 1)), MOLECULES[0]]
    elif kind == "trees":
        return [*(PHRASES[i % len(PHRASES)] for i in range(n - 1)), PHRASES[0]]
    elif kind in STRINGS:
        words = [WORDS[i % len(WORDS)] for i in range(n)]
        if kind == "codes":  # of one length
            return [f"{word:.<12}" for word in words]
        return words if kind == "words" else ["".join(c for c in w.upper() if c not in "JOU") for w in words]
    X.flags.writeable = False  # no kernel may write to its data
    return X


# Each class at its defaults is an example that nobody has to write.
for cls in sorted(concrete_kernels(), key=lambda cls: cls.__name__):
    if not needs_arguments(cls) and cls() not in [e.kernel for e in EXAMPLES]:
        EXAMPLES.append(Example(cls(), kind_of(cls())))

VECTORS = [e for e in EXAMPLES if e.data in ("real", "positive")]
COMPARED = [e for e in EXAMPLES if e.data != "matrix"]  # those with data of which blocks can be taken
