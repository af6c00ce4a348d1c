"""Kernels that are said to be positive semi-definite and are not are told so; those that are, never."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_examples import COMPARED, ITEMS, data_for

from mercer.kernels import (
    RBF,
    AdditiveChi2,
    FromFunction,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    kernel,
)
from mercer.kernels.indefinite_minors import (
    LARGEST,
    declared_parts,
    find_indefinite_items,
    find_indefinite_minor,
    indefinite_message,
    refuse_indefinite,
)
from mercer.kernels.vector import ElementwiseKernel, VectorKernel

pytestmark = pytest.mark.core


@kernel(psd=True)
def minus_distance(a, b):
    return -np.sqrt(((a - b) ** 2).sum())


@kernel(psd=True)
def longest_word(a, b):
    return float(max(len(a), len(b)))


@kernel(psd=True)
def shared(a, b):
    return len(set(a) & set(b))


class Saddle(ElementwiseKernel):
    """A function of the inner product with a negative coefficient in its series."""

    statistic = "dot"

    def elementwise(self, S):
        return np.cos(S, out=S)


class Wide(ElementwiseKernel):
    """exp(-d^4) is no kernel."""

    statistic = "sqdist"

    def elementwise(self, S):
        return np.exp(-(S**2))


class NegativeLinear(VectorKernel):
    def evaluate(self, X, Z=None):
        return -np.asarray(X @ (X if Z is None else Z).T)


def tables(kind):
    """Return nasty data by name: scales, offsets, duplicates, constants, few and many columns."""
    rng = np.random.default_rng(7)
    base = rng.standard_normal((40, 5))
    found = {
        "plain": base,
        "near": 0.2 * base,
        "huge": 1e150 * base,
        "large": 1e8 * base,
        "tiny": 1e-170 * base,
        "small": 1e-8 * base,
        "far away": base + 1e8,
        "farther away": base + 1e13,
        "duplicates": base[rng.integers(0, 5, 40)],
        "near duplicates": base[rng.integers(0, 5, 40)] * (1 + 1e-9 * base),
        "constant": np.full((40, 5), 3.3),
        "zero": np.zeros((40, 5)),
        "wild": base * 10.0 ** rng.integers(-150, 150, size=(40, 1)),
        "wild columns": base * 10.0 ** np.array([-100, -8, 0, 8, 70]),
        "integers": np.round(3 * base),
        "few": base[:3],
        "one": base[:1],
    }
    return {name: np.abs(X) for name, X in found.items()} if kind == "positive" else found


PROVED = [e for e in COMPARED if e.kernel.is_psd and e.data not in ITEMS]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("example", PROVED, ids=str)
def test_no_false_alarm(example):
    """For no kernel of the library that is psd, whatever the data, their container and precision."""
    for name, X in tables(example.data).items():
        for form in (np.array, sp.csr_matrix, np.float32):
            with np.errstate(all="ignore"):
                data = form(X)
            if (form is np.float32 and not np.isfinite(data).all()) or (
                sp.issparse(data) and not example.kernel.accepts_sparse
            ):
                continue
            k = example.kernel.resolve(data)
            for seed in range(3 if form is np.array else 1):
                found = find_indefinite_items(k, k.check(data), np.random.default_rng(seed))
                assert found is None, (name, form, found)


def test_no_false_alarm_on_items():
    words = data_for("words", n=30)
    for k in (shared, shared.normalized(), shared.centered().resolve(words), shared**3, shared + 1.0):
        assert find_indefinite_items(k, words, np.random.default_rng(0)) is None


def rounded_to_digits():
    X = np.random.default_rng(0).standard_normal((60, 3))
    return np.round(RBF(0.1)(X), 6)


def test_no_false_alarm_on_matrices_that_were_rounded():
    K = rounded_to_digits()
    assert np.linalg.eigvalsh(K).min() < 0  # by rounding alone
    for matrix in (K, K.astype(np.float32), np.zeros((5, 5)), np.eye(1), np.full((9, 9), 1e-320)):
        for seed in range(20):
            assert find_indefinite_minor(matrix, len(matrix), np.random.default_rng(seed)) is None


WRONG = [
    (minus_distance, "plain"),
    (minus_distance, "large"),
    (minus_distance, "small"),
    (minus_distance, "far away"),
    (Saddle(), "plain"),
    (Wide(), "near"),
    (Wide() + 0.1 * Linear(), "near"),
    (3 * Wide() * RBF(0.1), "near"),
    (NegativeLinear(), "plain"),
    (NegativeLinear(), "wild"),
    (NegativeLinear(), "few"),
    (NegativeLinear(), "one"),
    (Wide().on([0, 1]), "duplicates"),
]


@pytest.mark.parametrize(("wrong", "name"), WRONG, ids=lambda v: v if isinstance(v, str) else v.expression())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counterexamples_are_found_and_are_what_they_say(wrong, name, dtype):
    with np.errstate(all="ignore"):
        X = tables("real")[name].astype(dtype)
    if not np.isfinite(X).all() or (X[0] == X).all() > (len(X) == 1):
        pytest.skip("no such numbers in single precision")
    found = find_indefinite_items(wrong, X, np.random.default_rng(1))
    assert found is not None
    assert 1 <= len(found.indices) <= LARGEST
    M = wrong.evaluate(X[list(found.indices)].astype(np.float64))
    np.testing.assert_allclose(M, found.values, rtol=1e-9, atol=1e-9 * np.abs(M).max())
    scale = np.sqrt(np.maximum(np.abs(np.diagonal(M)), 1e-300))
    if (np.diagonal(M) > 0).all():
        assert np.linalg.eigvalsh(M / np.outer(scale, scale))[0] < -1e-6
    else:
        assert np.linalg.eigvalsh(M)[0] < 0
    assert found.eigenvalue < -found.rounding < 0


def test_the_counterexample_is_as_small_as_can_be():
    K = np.eye(20)
    K[3, 11] = K[11, 3] = 2.0
    everywhere = [find_indefinite_minor(K, 20, np.random.default_rng(seed)) for seed in range(40)]
    found = [minor for minor in everywhere if minor is not None]
    assert 5 < len(found) < 40  # chance decides whether both items are looked at together
    assert {minor.indices for minor in found} == {(3, 11)}
    assert found[0].values == ((1.0, 2.0), (2.0, 1.0))
    K[:] = np.eye(20)
    K[7, 7] = -1.0
    assert find_indefinite_minor(K, 20, np.random.default_rng(0)).indices == (7,)


def test_a_function_of_indices_is_as_good_as_a_matrix():
    K = -np.eye(12)
    asked = []

    def block(idx):
        asked.append(idx.size)
        return K[np.ix_(idx, idx)]

    found = find_indefinite_minor(block, 12, np.random.default_rng(0))
    assert found == find_indefinite_minor(K, 12, np.random.default_rng(0))
    assert sum(size**2 for size in asked) <= 3 * LARGEST**2


def test_known_indefinite_kernels_of_the_library():
    X = np.abs(data_for("real", n=40))
    for k in (AdditiveChi2(), Sigmoid(1.0, -1.0), Polynomial(3, 1.0, -5.0)):
        assert k.is_psd is False
        assert find_indefinite_items(k, X, np.random.default_rng(0)) is not None


def declared(k):
    X = data_for("real")
    return [(part, seen.shape[1]) for part, seen in declared_parts(k, X)]


def test_whose_word_it_is():
    assert declared(minus_distance) == [(minus_distance, 5)]
    assert declared(2 * minus_distance.normalized() + 1) == [(minus_distance, 5)]
    assert declared(minus_distance.centered()) == [(minus_distance, 5)]
    assert declared(RBF(1.0) * Wide().on([0, 2]) + Saddle()) == [(Wide(), 2), (Saddle(), 5)]
    assert declared(RBF(1.0) * Laplacian(1.0)) == []
    assert declared(minus_distance.replaced(psd=None)) == []
    assert declared(minus_distance.replaced(psd=False)) == []
    assert declared(FromFunction(np.outer)) == []


def test_the_refusal_shows_the_counterexample():
    X = tables("real")["plain"]
    with pytest.raises(
        ValueError, match=r"minus_distance is declared positive semi-definite, but is not"
    ) as error:
        refuse_indefinite(minus_distance, X, np.random.default_rng(0))
    assert "items" in str(error.value)
    assert "psd=False" in str(error.value)
    with pytest.raises(ValueError, match=r"k\(x, x\) = -.* for item 0"):
        refuse_indefinite(NegativeLinear(), tables("real")["one"], np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"items \d+ and \d+, \[\[.*\], \[.*\]\]"):
        refuse_indefinite(longest_word, ["a", "bb", "cccc", "dddddddd"], np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"^minus_distance is declared"):  # the part that is to blame
        refuse_indefinite((RBF(1.0) * minus_distance.on([0])).centered(), X, np.random.default_rng(0))
    refuse_indefinite(shared, data_for("words"), np.random.default_rng(0))
    refuse_indefinite(minus_distance.replaced(psd=None), X, np.random.default_rng(0))
    message = indefinite_message(shared, find_indefinite_minor(-np.eye(2), 2, np.random.default_rng(0)))
    assert isinstance(message, str)
    assert issubclass(Saddle, Kernel)
