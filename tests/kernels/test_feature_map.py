"""Explicit features: their inner products are the kernel, their squared norms its diagonal."""

import copy
import dataclasses
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_examples import COMPARED, EXAMPLES, ITEMS, WORDS, concrete_kernels, data_for

from mercer.kernels import RBF, Constant, FeatureMap, Kernel, Linear, Polynomial, Precomputed, Spectrum
from mercer.kernels.data import dense, is_sparse, size
from mercer.values import subclasses

pytestmark = pytest.mark.core


class Letters(Kernel):
    """Inner products of counts of letters: a user's kernel whose features come from the training words."""

    is_psd = True

    @staticmethod
    def counts(words, letters):
        return np.array([[word.count(letter) for letter in letters] for word in words], dtype=float)

    def evaluate(self, X, Z=None):
        Z = X if Z is None else Z
        every = sorted(set("".join([*X, *Z])))
        return self.counts(X, every) @ self.counts(Z, every).T

    def feature_map_on(self, X, names):
        return LetterMap(tuple(sorted(set("".join(X)))))


@dataclass(frozen=True)
class LetterMap(FeatureMap):
    names: tuple = ()

    def transform(self, Z):
        return sp.csr_matrix(Letters.counts(Z, self.names))

    def squared_norms(self, Z):
        return np.array([sum(word.count(letter) ** 2 for letter in set(word)) for word in Z], dtype=float)


def combined(kernel):
    """Return what the algebra makes of a kernel with features, where that has features again."""
    yield 2.5 * kernel
    yield 0 * kernel
    yield kernel + 3.0
    yield kernel.normalized()
    yield 3 * kernel.normalized() + (2 * kernel + 1).normalized()
    yield (0 * kernel).normalized()
    if kernel.is_vector:
        yield kernel.on([0, -1])
        yield kernel.on([True, False, True, True, False])
        yield (kernel.on([1]) + 2 * kernel.on(slice(0, 3))).normalized()


WITH_MAP = [e for e in COMPARED if e.kernel.feature_map(data_for(e.data)) is not None]
CASES = [(k, e.data) for e in WITH_MAP for k in (e.kernel, *combined(e.kernel))]
CASES += [(k, "words") for k in (Letters(), *combined(Letters()))]


def product(A, B):
    return dense(A @ B.T)


def new_items(kind):
    if kind == "words":
        return ["zebra", "cat", "quiz", "toe"]
    if kind in ITEMS:
        return data_for(kind, n=5)[::-1]
    Z = np.array(data_for(kind, n=7, seed=3)) * np.geomspace(1e-3, 1e3, 7)[:, None]
    Z[2] = 0.0
    return Z


def test_some_kernels_have_a_map_and_others_not():
    assert {type(e.kernel).__name__ for e in WITH_MAP} >= {"Linear", "Constant"}
    for kernel in (RBF(1.0), Polynomial(2, 1.0), RBF(1.0) + Linear(), Linear() * Linear(), Linear() ** 2):
        assert kernel.feature_map(data_for("real")) is None
    assert Precomputed().feature_map(data_for("matrix")) is None
    assert concrete_kernels() <= {type(e.kernel) for e in EXAMPLES}  # so that none was left out above


@pytest.mark.parametrize(("kernel", "kind"), CASES, ids=str)
def test_inner_products_and_norms_are_the_kernels(kernel, kind):
    X, Z = kernel.check(data_for(kind)), kernel.check(new_items(kind))
    kernel = kernel.resolve(X)
    found = kernel.feature_map(X)
    A, B = found.transform(X), found.transform(Z)
    assert A.shape == (size(X), len(found.names))
    assert B.shape == (size(Z), len(found.names))
    for got, expected in (
        (product(A, A), kernel(X)),
        (product(A, B), kernel(X, Z)),
        (found.squared_norms(X), kernel.diag(X)),
        (found.squared_norms(Z), kernel.evaluate_diag(Z)),
    ):
        np.testing.assert_allclose(
            got, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max(initial=1e-300)
        )


@pytest.mark.parametrize(("kernel", "kind"), [c for c in CASES if c[1] not in ITEMS], ids=str)
@pytest.mark.parametrize("container", [np.array, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_data_stay_what_they_are(kernel, kind, container, dtype):
    X = container(np.array(data_for(kind)).astype(dtype))
    before = X.copy()
    found = kernel.feature_map(X)
    A = found.transform(X)
    assert is_sparse(A) == is_sparse(X)
    assert A.dtype == dtype
    assert found.squared_norms(X).dtype == dtype
    if is_sparse(X):
        assert isinstance(A, sp.sparray) == isinstance(X, sp.sparray)
        assert A.has_canonical_format
    reference = kernel(np.array(data_for(kind)))
    room = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(
        product(A, A), reference, rtol=room, atol=room * np.abs(reference).max(initial=1e-300)
    )
    np.testing.assert_array_equal(dense(X), dense(before))


def test_the_linear_map_copies_nothing():
    for X in (np.ones((3, 2)), sp.csr_matrix(np.eye(3)), np.ones((3, 2), dtype=np.float32)):
        assert Linear().feature_map(X).transform(X) is X


def test_features_that_training_has_not_seen_still_count():
    found = Letters().normalized().feature_map(WORDS)
    seen, new = "cat", "cat" + "z" * 5
    assert "z" not in found.names
    cosine = (found.transform([seen]) @ found.transform([new]).T).toarray()[0, 0]
    assert cosine == pytest.approx(3 / np.sqrt(3 * (3 + 25)))
    assert found.squared_norms([new]) == 1.0
    assert Letters().feature_map(WORDS).squared_norms(["zz"]) == 4.0


def test_names():
    X = data_for("real")
    assert Linear().feature_map(X).names == ("x0", "x1", "x2", "x3", "x4")
    given = ["a", "b", "c", "d", "e"]
    assert Linear().feature_map(X, given).names == tuple(given)
    assert (2 * Linear().on([3, 0])).feature_map(X, given).names == ("d", "a")
    assert Linear().on([-1]).feature_map(sp.csr_matrix(X)).names == ("x4",)
    both = (Linear().on([1]) + (Linear() + 1).normalized()).feature_map(X, given).names
    assert both == ("k1.b", *(f"k2.k1.{name}" for name in given), "k2.k2.1")
    assert Constant(2.0).feature_map(WORDS).names == ("1",)
    with pytest.raises(ValueError, match="names has 2 entries, but the data have 5 columns"):
        Linear().feature_map(X, ["a", "b"])


def test_names_of_a_data_frame():
    pandas = pytest.importorskip("pandas")
    X = data_for("real")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    assert Linear().feature_map(frame).names == tuple("abcde")
    assert Linear().feature_map(pandas.DataFrame(X)).names[:2] == ("x0", "x1")


@pytest.mark.parametrize(("kernel", "kind"), CASES, ids=str)
def test_a_map_pickles_and_never_changes(kernel, kind):
    found = kernel.feature_map(data_for(kind))
    again = pickle.loads(pickle.dumps(found))
    assert again == found == copy.deepcopy(found)
    assert hash(again) == hash(found)  # so that nothing in it can change
    Z = kernel.check(new_items(kind))
    np.testing.assert_array_equal(dense(again.transform(Z)), dense(found.transform(Z)))
    for field in dataclasses.fields(found):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(found, field.name, None)


def test_every_map_of_the_library_is_frozen_and_tried():
    classes = [cls for cls in subclasses(FeatureMap) if cls.__module__.startswith("mercer.")]
    tried, waiting = set(), [k.feature_map(data_for(kind)) for k, kind in CASES]
    waiting.append(Spectrum(2).on(0).feature_map(np.array([["ab"], ["ba"]], dtype=object)))
    while waiting:
        found = waiting.pop()
        tried.add(type(found))
        inner = getattr(found, "inner", ())
        waiting += inner if isinstance(inner, tuple) else [inner]
    assert set(classes) <= tried
    assert all(cls.__dataclass_params__.frozen for cls in classes)


def test_kernels_stay_without_data():
    kernel = 2 * Linear().on([0]) + 1
    state = pickle.dumps(kernel)
    kernel.feature_map(data_for("real")).transform(data_for("real"))
    assert pickle.dumps(kernel) == state


def test_another_width_is_refused():
    X = data_for("real")
    for kernel in (Linear(), 2 * Linear() + 1, Linear().on([0]), Linear().normalized()):
        found = kernel.feature_map(X)
        for method in (found.transform, found.squared_norms):
            with pytest.raises(ValueError, match="Z has 3 features, but the map was fitted on 5"):
                method(X[:, :3])
