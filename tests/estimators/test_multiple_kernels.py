"""Weights of several kernels: against a cone solver on the joint dual, by optimality conditions, in use."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import mercer
from mercer import SVC, SVR, KernelPCA, KernelRidge, NuSVC, OneClassSVM
from mercer.gram import gram
from mercer.kernels import RBF, Linear, MultipleKernel, Polynomial, Sigmoid, Spectrum
from mercer.problems.kernel_alignment import aligned_weights
from mercer.problems.kernel_weights import dual_norm, moved, on_sphere

NORMS = [1.0, 4 / 3, 2.0]


def problem(n=40, seed=0):
    """Return data with two useful columns of five, two classes, and a number to predict."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y, np.sin(X[:, 0]) + X[:, 1] ** 2 / 3 + 0.1 * rng.normal(size=n)


def kernels():
    return [*(RBF().on([column]) for column in range(5)), RBF().on([0, 1]), Linear(), Polynomial(2, 0.2, 1.0)]


def matrices(X, weight=None):
    """Return the matrices of unit trace per row, computed plainly."""
    made = []
    for kernel in kernels():
        resolved = kernel.resolve(X, weight)
        made.append(resolved(X) / np.average(resolved.diag(X), weights=weight))
    return made


def joint_optimum(Ks, p, terms):
    """Return the optimum of the joint dual by a cone solver.

    ``terms`` takes cvxpy and the coefficients, and returns the concave rest of the dual value, the factor of
    the norm of the quadratic forms, and the constraints.
    """
    cp = pytest.importorskip("cvxpy")
    n = Ks[0].shape[0]
    beta, g = cp.Variable(n), cp.Variable(len(Ks), nonneg=True)
    rest, factor, constraints = terms(cp, beta)
    for j, K in enumerate(Ks):
        values, vectors = np.linalg.eigh(K)
        half = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        constraints = [*constraints, cp.sum_squares(half @ beta) <= g[j]]
    norm = cp.max(g) if p == 1.0 else cp.pnorm(g, p / (p - 1.0))
    asked = cp.Problem(cp.Maximize(rest - factor * norm), constraints)
    return asked.solve(solver="CLARABEL")


def machines(X, y, t, p):
    """Return (estimator, arguments of fit, terms of the joint dual) of the four machines."""
    kernel = MultipleKernel(kernels(), norm=p)
    control = {"kernel": kernel, "tol": 1e-6}
    C, epsilon, nu, alpha = 5.0, 0.1, 0.3, 0.2
    return {
        "SVC": (
            SVC(C=C, criterion="gap", **control),
            (X, y),
            lambda cp, b: (y @ b, 0.5, [cp.sum(b) == 0, cp.multiply(y, b) >= 0, cp.multiply(y, b) <= C]),
        ),
        "SVR": (
            SVR(C=C, epsilon=epsilon, criterion="gap", **control),
            (X, t),
            lambda cp, b: (t @ b - epsilon * cp.norm1(b), 0.5, [cp.sum(b) == 0, cp.abs(b) <= C]),
        ),
        "OneClassSVM": (
            OneClassSVM(nu=nu, criterion="gap", **control),
            (X,),
            lambda cp, b: (0.0, 0.5, [b >= 0, b <= 1, cp.sum(b) == nu * len(X)]),
        ),
        "KernelRidge": (
            KernelRidge(alpha=alpha, **control),
            (X, t),
            lambda cp, b: (alpha * (2 * t @ b - alpha * cp.sum_squares(b)), alpha, []),
        ),
    }


@pytest.mark.parametrize("p", NORMS, ids=["1", "4/3", "2"])
@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM", "KernelRidge"])
def test_the_joint_optimum_is_that_of_a_cone_solver(name, p):
    X, y, t = problem()
    model, data, terms = machines(X, y, t, p)[name]
    model.fit(*data)
    wanted = joint_optimum(matrices(X), p, terms)
    certificate = model.certificate_
    assert certificate.status == "optimal"
    assert certificate.relative_gap <= 1e-6
    scale = abs(wanted)
    assert certificate.dual <= wanted + 1e-5 * scale
    assert certificate.primal >= wanted - 1e-5 * scale
    assert certificate.primal == pytest.approx(wanted, rel=1e-5)
    theta = model.kernel_weights_
    assert (theta >= 0).all()
    assert np.sum(theta**p) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM", "KernelRidge"])
def test_the_certificate_is_recomputed_from_the_data(name):
    X, y, t = problem(seed=3)
    model, data, _ = machines(X, y, t, 1.0)[name]
    model.fit(*data)
    again = model.certify(*data)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert again.dual == pytest.approx(model.certificate_.dual, rel=1e-9)
    assert again.status == "optimal"
    # Weights that are not the best ones are found out, although the machine is the best for them.
    fixed = clone(model).set_params(kernel=model.kernel_)
    fixed.fit(*data)
    alike = clone(model).set_params(kernel=MultipleKernel(kernels(), norm=np.inf)).fit(*data)
    assert fixed.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-5)
    alike.set_params(kernel=MultipleKernel(kernels(), norm=1.0))
    alike.kernel_weights_ = np.full(8, 1 / 8)
    assert alike.certify(*data).status != "optimal"


def test_the_weights_satisfy_the_optimality_conditions():
    X, _, t = problem(60, seed=1)
    model = KernelRidge(alpha=5.0, kernel=MultipleKernel(kernels()), tol=1e-8).fit(X, t)
    g = np.array([model.dual_coef_ @ K @ model.dual_coef_ for K in matrices(X)])
    used = model.kernel_weights_ > 0
    assert 1 < used.sum() < used.size
    assert g[used] == pytest.approx(g.max(), rel=1e-3)  # all kernels in use are equally good
    p = 2.0
    model.set_params(kernel=MultipleKernel(kernels(), norm=p)).fit(X, t)
    g = np.array([model.dual_coef_ @ K @ model.dual_coef_ for K in matrices(X)])
    theta = g ** (1 / (p - 1))
    assert model.kernel_weights_ == pytest.approx(theta / np.linalg.norm(theta), rel=1e-3)


def test_several_classes_and_outputs_share_their_weights():
    X, _, t = problem(60, seed=2)
    y = np.digitize(t, [0.0, 0.6])
    model = SVC(C=5, kernel=MultipleKernel(kernels()), tol=1e-5, criterion="gap").fit(X, y)
    certificate = model.certificate_
    assert len(certificate.parts) == 3
    assert certificate.status == "optimal"
    # The sum of the pairs' problems is the least where the weights are, not for any of the single ones.
    for j in range(8):
        theta = 0.95 * model.kernel_weights_ + 0.05 * np.eye(8)[j]
        scaled = MultipleKernel(kernels()).scaled_on(X, None)
        near = mercer.kernels.multiple.weighted_sum(scaled, theta)
        other = SVC(C=5, kernel=near, tol=1e-5, criterion="gap").fit(X, y)
        assert other.certificate_.primal >= certificate.dual - 1e-9
    T = np.stack([t, X[:, 2]], axis=1)
    both = KernelRidge(alpha=0.5, kernel=MultipleKernel(kernels())).fit(X, T)
    assert both.certificate_.relative_gap <= 1e-6
    assert both.kernel_weights_[2] > 0


def test_sample_weights_count_rows():
    X, y, _ = problem(30, seed=4)
    weight = np.random.default_rng(0).integers(0, 3, size=30)
    kernel = MultipleKernel([RBF(0.5).on([0, 1]), Linear(), RBF(0.1)])
    control = {"kernel": kernel, "tol": 1e-7, "criterion": "gap"}
    one = SVC(**control).fit(X, y, sample_weight=weight)
    two = SVC(**control).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-6)
    assert one.kernel_weights_ == pytest.approx(two.kernel_weights_, abs=1e-3)
    assert one.certify(X, y, weight).status == "optimal"


def test_useless_columns_lose_their_weight():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X = np.hstack([X[:200, :10], np.random.default_rng(0).normal(size=(200, 20))])
    kernel = MultipleKernel([RBF(0.2).on([column]) for column in range(30)])
    model = SVC(C=0.3, kernel=kernel).fit(X, y[:200])
    assert model.kernel_weights_[:10].sum() > 0.95
    assert (model.kernel_weights_[10:] == 0).sum() >= 15
    used = int((model.kernel_weights_ > 0).sum())
    assert repr(model.kernel_).count("RBF") == used  # nothing is computed for the others


def test_a_fitted_model_is_copied_and_saved(tmp_path):
    X, y, t = problem()
    for model, target in ((SVC(), y), (SVR(), t), (KernelRidge(), t), (OneClassSVM(), None)):
        model.set_params(kernel=MultipleKernel(kernels(), norm=1.5)).fit(X, target)
        file = tmp_path / f"{type(model).__name__}.mercer"
        mercer.save(model, file)
        for other in (pickle.loads(pickle.dumps(model)), mercer.load(file)):
            assert other.kernel_ == model.kernel_
            assert other.kernel_weights_ == pytest.approx(model.kernel_weights_, rel=1e-15)
            assert other.predict(X) == pytest.approx(model.predict(X))
            assert other.certify(X, target).gap == pytest.approx(model.certificate_.gap, rel=1e-3)
        plain = clone(model).set_params(kernel="rbf").fit(X, target)
        assert not hasattr(plain, "kernel_weights_")
        model.set_params(kernel="rbf")
        with pytest.raises(ValueError, match="not what the model was fitted with"):
            model.certify(X, target)
        assert not hasattr(model.fit(X, target), "kernel_weights_")


def test_probabilities_and_traces_are_those_of_the_weighted_kernel():
    X, y, _ = problem(60)
    kernel = MultipleKernel([RBF(), Linear()], norm=2)
    model = SVC(kernel=kernel, probability=True, random_state=0, trace=True).fit(X, y)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert len(model.history_) == 1


def test_matrices_beyond_memory_give_the_same_weights():
    X, y, _ = problem(60)
    control = {"kernel": MultipleKernel(kernels()), "tol": 1e-5, "criterion": "gap"}
    kept, recomputed = SVC(**control).fit(X, y), SVC(cache_size=0.02, **control).fit(X, y)
    assert kept.certificate_.primal == pytest.approx(recomputed.certificate_.primal, rel=1e-5)
    assert recomputed.certificate_.status == "optimal"


def test_the_plain_sum_is_for_every_estimator():
    X, y, _ = problem()
    kernel = MultipleKernel(kernels(), norm=np.inf)
    assert kernel(X) == pytest.approx(np.sum(matrices(X), axis=0))
    model = SVC(kernel=kernel).fit(X, y)
    assert model.kernel_weights_.tolist() == [1.0] * 8
    assert model.kernel_(X) == pytest.approx(kernel(X))
    assert model.certify(X, y).status == "optimal"
    assert NuSVC(kernel=kernel, nu=0.3).fit(X, y).certificate_.status == "optimal"
    assert KernelPCA(kernel=kernel, n_components=2).fit_transform(X).shape == (40, 2)


def test_an_early_end_is_reported():
    X, _, t = problem(60)
    model = KernelRidge(alpha=0.01, kernel=MultipleKernel(kernels()), time_limit=1e-9, solver="cholesky")
    with pytest.warns(mercer.estimators.verdict.ConvergenceWarning):
        model.fit(X, t)
    assert model.certificate_.status != "optimal"
    assert model.certificate_.gap > 0


def alignment(v, Ks, Y):
    """Return the centred alignment of a weighted sum of matrices, by its definition."""
    n = len(Y)
    H = np.eye(n) - 1.0 / n
    K, T = H @ np.tensordot(v, Ks, axes=1) @ H, H @ (Y @ Y.T) @ H
    return np.sum(K * T) / np.linalg.norm(K)


@pytest.mark.parametrize("several", [False, True])
def test_alignment_is_the_largest(several):
    X, y, t = problem(300, seed=5)
    Ks = np.stack(matrices(X))
    Y = np.stack([t, X[:, 2]], axis=1) if several else y[:, None]
    scaled = MultipleKernel(kernels()).scaled_on(X, None)
    v = aligned_weights([gram(k, X, precision="double") for k in scaled], Y, np.ones(300))
    best = alignment(v, Ks, Y)
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert alignment(np.maximum(v + 0.1 * v.max() * rng.normal(size=8), 0.0), Ks, Y) <= best * (1 + 1e-9)
    assert best >= max(alignment(e, Ks, Y) for e in np.eye(8))


def test_alignment_chooses_the_kernel_of_a_fit():
    X, y, t = problem(80)
    for model, target in ((SVC(), y), (SVR(), t), (KernelRidge(), t), (SVC(), np.digitize(t, [0.0, 0.6]))):
        model.set_params(kernel=MultipleKernel(kernels(), weights="alignment")).fit(X, target)
        assert model.kernel_weights_.sum() == pytest.approx(1.0)
        assert model.certificate_.status == "optimal"
        assert model.certify(X, target).gap == pytest.approx(model.certificate_.gap, abs=1e-9)
    with pytest.raises(ValueError, match="which OneClassSVM does not have"):
        OneClassSVM(kernel=model.kernel).fit(X)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 5.0])
def test_the_closed_form_is_best_for_the_parts(p):
    rng = np.random.default_rng(0)
    theta, g = on_sphere(rng.uniform(size=6), p), rng.uniform(size=6)
    norms = theta**2 * g  # ||f_j||^2
    best = moved(theta, g, p, 1.0)
    assert np.sum(best**p) == pytest.approx(1.0)
    for _ in range(100):
        other = on_sphere(np.abs(best + 0.1 * rng.normal(size=6)), p)
        assert np.sum(norms / other) >= np.sum(norms / best) * (1 - 1e-12)
        assert other @ g <= dual_norm(g, p) * (1 + 1e-12)


def test_what_is_refused():
    X, y, t = problem()
    kernel = MultipleKernel([RBF(), Linear()])
    with pytest.raises(ValueError, match="NuSVC does not learn the weights"):
        NuSVC(kernel=kernel).fit(X, y)
    with pytest.raises(ValueError, match=r"norm=np\.inf \(the plain sum\)"):
        KernelPCA(kernel=kernel).fit(X)
    for model in (
        SVC(C=np.inf),
        SVC(multiclass="joint"),
        SVC(updatable=True),
        SVC(parametric="linear"),
        SVC(approximation="nystroem"),
        KernelRidge(alpha="loo"),
    ):
        with pytest.raises(ValueError, match="MultipleKernel"):
            model.set_params(kernel=kernel).fit(X, y)
    with pytest.raises(ValueError, match="not known to be positive semi-definite"):
        SVR(kernel=MultipleKernel([RBF(), Sigmoid()])).fit(X, t)
    for wrong in (
        MultipleKernel([]),
        MultipleKernel([RBF()], norm=0.5),
        MultipleKernel([RBF()], norm=np.nan),
        MultipleKernel([RBF()], weights="best"),
    ):
        with pytest.raises(ValueError, match=r"MultipleKernel: .* is not allowed"):
            SVR(kernel=wrong).fit(X, t)
    with pytest.raises(TypeError, match=r"kernels\[0\]='rbf' must be a Kernel"):
        SVR(kernel=MultipleKernel(["rbf"])).fit(X, t)


def test_columns_of_several_kinds():
    pandas = pytest.importorskip("pandas")
    X, y, _ = problem(60)
    letters = np.random.default_rng(0).choice(["ab", "ba", "abba"], size=60)  # of no use
    data = pandas.DataFrame({"one": X[:, 0], "two": X[:, 1], "letters": letters})
    kernel = MultipleKernel([RBF().on(["one", "two"]), Spectrum(2).on("letters")])
    for model in (SVC(kernel=kernel, C=0.1), KernelRidge(kernel=kernel, alpha=100.0)):
        model.fit(data, y)
        assert model.kernel_weights_[1] < 0.1
        assert model.certify(data, y).dual == pytest.approx(model.certificate_.dual, rel=1e-9)
        assert model.predict(data).shape == (60,)


def test_a_kernel_that_is_zero_gets_no_weight():
    X, _, t = problem()
    X = np.hstack([X, np.zeros((40, 1))])
    model = SVR(kernel=MultipleKernel([Linear().on([5]), RBF().on([0, 1])])).fit(X, t)
    assert model.kernel_weights_.tolist() == [0.0, 1.0]
