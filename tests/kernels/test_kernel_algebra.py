"""The laws of sums, products, powers and multiples, on random trees of kernels."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_examples import data_for, shared_letters
from sklearn.base import clone
from sklearn.preprocessing import KernelCenterer

import mercer.kernels
from mercer.kernels import (
    RBF,
    AdditiveChi2,
    Centered,
    Chi2,
    Constant,
    FromFunction,
    Laplacian,
    Linear,
    Normalized,
    OnColumns,
    Polynomial,
    Power,
    Product,
    Scaled,
    Sigmoid,
    Sum,
)

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")
given, settings = hypothesis.given, hypothesis.settings

X = data_for("real", n=7, d=3)
Z = data_for("real", n=4, d=3, seed=1)

numbers = st.floats(0.0, 4.0).map(lambda x: round(x, 3))
leaves = st.one_of(
    st.builds(RBF, numbers),
    st.just(RBF()),
    st.just(Linear()),
    st.builds(Laplacian, numbers),
    st.builds(Polynomial, st.integers(0, 3), st.just(0.3), numbers),
    st.builds(Constant, numbers),
)
trees = st.recursive(
    leaves,
    lambda part: st.one_of(
        st.builds(Sum, part, part),
        st.builds(Product, part, part),
        st.builds(Scaled, part, numbers),
        st.builds(Power, part, st.integers(0, 3)),
        st.builds(Normalized, part),
        st.builds(Centered, part),
        st.builds(OnColumns, part, st.sampled_from([[0, -1], [0], slice(None), slice(0, None, 2)])),
    ),
    max_leaves=5,
)
a_few = settings(max_examples=40, deadline=None)


def on(k):
    """Return both kinds of value, of the kernel as resolved on X."""
    k = k.resolve(X)
    return np.vstack([k(X), k(Z, X)])


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(b).max()))


@a_few
@given(trees, trees)
def test_sums_and_products_commute(k1, k2):
    close(on(k1 + k2), on(k1) + on(k2))
    close(on(k1 * k2), on(k1) * on(k2))
    close(on(k2 + k1), on(k1 + k2))
    close(on(k2 * k1), on(k1 * k2))


@a_few
@given(trees, trees, trees)
def test_products_distribute_over_sums(k1, k2, k3):
    close(on(k1 * (k2 + k3)), on(k1 * k2 + k1 * k3))
    close(on((k1 + k2) + k3), on(k1 + (k2 + k3)))
    close(on(k1 + k2 * k3), on(k1) + on(k2) * on(k3))


@a_few
@given(trees, numbers, numbers, st.integers(0, 5))
def test_multiples_and_powers(k, a, b, p):
    close(on(a * k), a * on(k))
    close(on(k * a), on(a * k))
    close(on(a * k + b * k), on((a + b) * k))
    close(on(k + a), on(k) + a)
    close(on(a + k), on(k + a))
    product = np.ones_like(on(k))
    for _ in range(p):
        product *= on(k)
    close(on(k**p), product)


@a_few
@given(trees)
def test_trees_are_values(k):
    scope = {"np": np, **{name: getattr(mercer.kernels, name) for name in mercer.kernels.__all__}}
    again = eval(repr(k), scope)
    assert again == k
    assert repr(again) == repr(k)
    assert clone(k) == k
    assert hash(clone(k)) == hash(k)
    assert k.is_psd
    resolved = k.resolve(X)
    assert resolved.is_resolved
    K = resolved(X)
    close(K, K.T)
    close(resolved.diag(X), np.diagonal(K))
    assert np.linalg.eigvalsh(K).min() >= -1e-8 * max(1.0, np.trace(K))


@a_few
@given(trees)
def test_normalizing_twice_is_normalizing_once(k):
    once = k.normalized()
    K = on(once)[: len(X)]
    assert np.all(np.abs(K) <= 1 + 1e-6)
    positive = k.resolve(X).diag(X) > 1e-12
    np.testing.assert_array_equal(np.diagonal(K)[positive], 1.0)


def test_structure_stays_what_it_says():
    a, b, c = RBF(1.0), Linear(), Polynomial()
    assert a + b * c == Sum(a, Product(b, c))
    assert (a + b) * c == Product(Sum(a, b), c)
    assert a * b + c == Sum(Product(a, b), c)
    assert a * b**2 == Product(a, Power(b, 2))
    assert 2 * a + 3 == Sum(Scaled(a, 2), Constant(3))
    assert a + b != b + a
    assert np.float64(2.0) * a == a * 2
    assert np.float32(2.0) + a == Constant(2) + a
    assert sum([a, b, c]) == (a + b) + c
    assert repr(a + b * c) == ("RBF(gamma=1.0) + Linear() * Polynomial(degree=3, gamma='scale', coef0=0.0)")
    assert repr((a + b) * b) == "(RBF(gamma=1.0) + Linear()) * Linear()"
    assert repr(b * (b * b)) == "Linear() * (Linear() * Linear())"
    assert repr((2 * b).on([0]).normalized()) == "(2 * Linear()).on([0]).normalized()"
    for operation in (lambda: a + "b", lambda: "b" * a, lambda: a ** "b", lambda: None + a):
        with pytest.raises(TypeError):
            operation()


def test_nested_parameters_change_this_kernel_only():
    part = RBF(1.0)
    k1, k2 = part + Linear(), part * Linear()
    k1.set_params(k1__gamma=2.0)
    assert k1.k1.gamma == 2.0
    assert part.gamma == 1.0
    assert k2.k1.gamma == 1.0
    assert k1.get_params()["k1__gamma"] == 2.0
    deep = (3 * part) + Linear()
    deep.set_params(k1__kernel__gamma=5.0, k1__scale=4, k2=part)
    assert deep == 4 * RBF(5.0) + RBF(1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'gamma' for kernel Linear"):
        k1.set_params(k2__gamma=1.0)
    with pytest.raises(ValueError, match="scale=4 has no parameters"):
        deep.k1.set_params(scale__gamma=1.0)


def test_what_is_known_of_composites():
    good, bad, unknown = RBF(), Sigmoid(), shared_letters.replaced(psd=None)
    assert (good + good).is_psd
    assert (good * good).is_psd
    assert (good**3).is_psd
    assert (2 * good).is_psd
    assert (bad * 2).is_psd is False
    assert (bad * 0).is_psd
    assert (bad**1).is_psd is False
    assert (bad**0).is_psd
    for k in (good + bad, bad * good, bad + unknown, bad**2, good**0.5, bad.normalized(), unknown.centered()):
        assert k.is_psd is None
    assert (good + Chi2()).requires_positive
    assert (good + Constant()).is_vector
    assert not (shared_letters + 1).is_vector
    assert not (good + shared_letters).accepts_sparse


def test_normalized():
    k = Polynomial(2, 1.0, 0.0).normalized()
    A = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [1.0, 1.0]])
    K = k(A)
    np.testing.assert_array_equal(K[0], 0.0)  # 0/0 is 0
    np.testing.assert_allclose(K[1:3, 1:3], 1.0)
    np.testing.assert_allclose(K[1, 3], 0.5)
    np.testing.assert_array_equal(k.diag(A), [0, 1, 1, 1])
    with pytest.raises(ValueError, match=r"k\(x, x\) = .* < 0"):
        Sigmoid(1.0, -5.0).normalized()(A)


def test_centered_is_what_scikit_learn_does():
    K, K_new = RBF(0.5)(X), RBF(0.5)(Z, X)
    centerer = KernelCenterer().fit(K)
    k = RBF(0.5).centered().resolve(X)
    np.testing.assert_allclose(k(X), centerer.transform(K), atol=1e-14)
    np.testing.assert_allclose(k(Z, X), centerer.transform(K_new), atol=1e-14)
    np.testing.assert_allclose(k(np.array(Z), np.array(X)), centerer.transform(K_new), atol=1e-14)
    np.testing.assert_allclose(k.diag(Z), np.diagonal(k(Z)), atol=1e-14)
    np.testing.assert_allclose(RBF(0.5).centered()(X), k(X), atol=1e-14)  # unresolved: on its own data


def counted(A, B):
    n, m = (x.shape[0] if hasattr(x, "shape") else len(x) for x in (A, B))
    counted.pairs = getattr(counted, "pairs", 0) + n * m
    if sp.issparse(A):
        return A @ B.T
    return [[len(set(map(str, a)) & set(map(str, b))) for b in B] for a in A]


@pytest.mark.parametrize("kind", ["array", "csr", "list", "objects"])
def test_centred_training_items_are_not_computed_again(kind):
    """A block of training items costs what it costs without centring."""
    numbers, words = data_for("real", n=12), data_for("words", n=12)
    data = {
        "array": numbers,
        "csr": sp.csr_matrix(numbers),
        "list": words,
        "objects": np.array(words, object),
    }[kind]
    k = FromFunction(counted).centered().resolve(data)
    K = k(data)
    for same in (k, pickle.loads(pickle.dumps(k))):
        training = same._training if kind in ("list", "objects") else data  # objects are known by identity
        counted.pairs = 0
        block = same(k.take(training, [1, 4]), k.take(training, [0, 2, 11]))
        assert counted.pairs == 6
        np.testing.assert_allclose(block, K[np.ix_([1, 4], [0, 2, 11])], atol=1e-12)
        other = k.take(
            data_for("real", n=12, seed=5) if kind in ("array", "csr") else ["xyz", "gnat"] * 6, [0, 1]
        )
        other = sp.csr_matrix(other) if kind == "csr" else other
        counted.pairs = 0
        same(other, k.take(training, [0]))
        assert counted.pairs == 2 * 12 + 2


def test_items_at_the_mean_have_no_length():
    k = RBF(0.0).centered()  # all items are one point in feature space
    np.testing.assert_array_equal(k.diag(X), 0.0)
    np.testing.assert_array_equal(k.normalized()(X), 0.0)


def test_centered_weights_are_repetitions():
    w = np.array([1, 2, 0, 3, 1, 1, 2])
    repeated = np.repeat(X, w, axis=0)
    k1 = RBF().centered().resolve(X, w)
    k2 = RBF().centered().resolve(repeated)
    assert k1.kernel.gamma == pytest.approx(k2.kernel.gamma, rel=1e-13)
    np.testing.assert_allclose(k1(Z), k2(Z), atol=1e-14)


def test_centered_remembers_but_only_as_long_as_it_should():
    k = (RBF(0.5).centered() + Linear()).resolve(X)
    assert k.is_resolved
    assert k == RBF(0.5).centered() + Linear()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(k))(Z), k(Z))
    assert not clone(k).is_resolved
    k.k1.set_params(kernel__gamma=1.0)
    assert not k.is_resolved
    # A conditionally positive definite kernel becomes positive definite.
    H = np.abs(X)
    assert np.linalg.eigvalsh(AdditiveChi2().centered().resolve(H)(np.abs(Z))).min() > -1e-12


def test_on_columns():
    np.testing.assert_allclose(RBF(0.5).on([0, 2])(X, Z), RBF(0.5)(X[:, [0, 2]], Z[:, [0, 2]]))
    np.testing.assert_allclose(RBF(0.5).on(1)(X, Z), RBF(0.5)(X[:, 1:2], Z[:, 1:2]))
    np.testing.assert_allclose(RBF(0.5).on(-1)(X, Z), RBF(0.5)(X[:, 2:], Z[:, 2:]))
    mask = np.array([True, False, True])
    assert RBF(0.5).on(mask)(X)[0, 1] == RBF(0.5).on([0, 2])(X)[0, 1]
    np.testing.assert_allclose(RBF().on([0, 2])(X), RBF()(X[:, [0, 2]]))  # gamma of these columns
    signed = np.column_stack([np.abs(X[:, :2]), -np.abs(X[:, 2])])
    Chi2().on([0, 1])(signed)
    with pytest.raises(ValueError, match="Negative values"):
        Chi2().on([1, 2])(signed)
    for bad in ([3], [-4], [True, False], [0.5], "x", [], slice(3, 3), [[0]]):
        with pytest.raises(ValueError, match="columns="):
            RBF().on(bad)(X)


def test_parts_must_be_kernels():
    with pytest.raises(TypeError, match="k1=3 must be a Kernel"):
        Sum(3, RBF())(X)
    with pytest.raises(TypeError, match="kernel='rbf' must be a Kernel"):
        Scaled("rbf", 2).resolve(X)


def test_domains_of_all_parts_count():
    with pytest.raises(ValueError, match="Negative values in data passed to Chi2"):
        (RBF() + 2 * Chi2())(X)
    with pytest.raises(ValueError, match="convert string to float"):
        (RBF() + shared_letters)(["a", "b"])
