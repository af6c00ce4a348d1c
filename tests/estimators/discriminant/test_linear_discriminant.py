"""Linear discriminant analysis, of full and reduced rank and by least squares."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import discriminant_analysis as reference
from sklearn.covariance import OAS
from sklearn.linear_model import LinearRegression

from mercer.estimators.discriminant import LinearDiscriminantAnalysis
from mercer.problems.discriminant.summary import ClassSummary


def uneven_priors(y):
    weights = np.arange(1.0, len(np.unique(y)) + 1.0)
    return weights / weights.sum()


@pytest.mark.parametrize("given", [False, True], ids=["proportions", "priors"])
def test_equals_scikit_learn(data, given):
    X, y = data
    priors = uneven_priors(y) if given else None
    ours = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    theirs = reference.LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-8, atol=1e-10)
    for name in ("coef_", "intercept_", "means_", "priors_", "xbar_", "explained_variance_ratio_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-10)
    assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-7, atol=1e-9)


def test_stored_covariance_is_maximum_likelihood(three_classes):
    X, y = three_classes
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    expected = sum((y == k).mean() * np.cov(X[y == k].T, bias=True) for k in range(3))
    assert_allclose(model.covariance_, expected, rtol=1e-10)


def test_discriminant_functions_as_written(three_classes):
    X, y = three_classes
    model = LinearDiscriminantAnalysis(store_covariance=True, priors=[0.2, 0.3, 0.5]).fit(X, y)
    scores = []
    for prior, mean in zip(model.priors_, model.means_, strict=True):
        direction = np.linalg.solve(model.covariance_, mean)
        scores.append(X @ direction - 0.5 * mean @ direction + np.log(prior))
    difference = model.decision_function(X) - np.column_stack(scores)
    # Functions common to all classes do not count.
    assert_allclose(difference, np.repeat(difference[:, :1], 3, axis=1), atol=1e-9)


def test_canonical_variates_solve_fishers_problem(data):
    X, y = data
    model = LinearDiscriminantAnalysis().fit(X, y)
    summary = ClassSummary.of(X, y)
    W, B = summary.within(X), summary.between()
    A = model.scalings_
    values = scipy.linalg.eigh(B, W, eigvals_only=True)[::-1][: A.shape[1]]
    assert_allclose(A.T @ W @ A, np.eye(A.shape[1]), atol=1e-10)
    assert_allclose(A.T @ B @ A, np.diag(values), atol=1e-9)
    assert_allclose(model.explained_variance_ratio_, values / values.sum(), rtol=1e-8)


def test_full_rank_is_plain(data):
    X, y = data
    plain = LinearDiscriminantAnalysis().fit(X, y)
    full = LinearDiscriminantAnalysis(n_components=min(len(plain.classes_) - 1, X.shape[1])).fit(X, y)
    assert_array_equal(full.predict(X), plain.predict(X))
    assert_allclose(full.predict_proba(X), plain.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("n_components", [1, 2])
def test_reduced_rank_classifies_in_the_subspace(n_components, request):
    X, y = request.getfixturevalue("three_classes")
    model = LinearDiscriminantAnalysis(n_components=n_components, reduced_rank=True).fit(X, y)
    Z = LinearDiscriminantAnalysis().fit(X, y).transform(X)[:, :n_components]
    assert_allclose(model.transform(X), Z, rtol=1e-10)
    centroids = np.array([Z[y == k].mean(axis=0) for k in range(3)])
    scores = np.log(model.priors_) - 0.5 * ((Z[:, None, :] - centroids) ** 2).sum(axis=2)
    assert_array_equal(model.predict(X), scores.argmax(axis=1))
    posterior = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), posterior, rtol=1e-9)


def test_n_components_leaves_the_classification_alone(three_classes):
    X, y = three_classes
    one, all_of_them = (LinearDiscriminantAnalysis(n_components=k).fit(X, y) for k in (1, None))
    assert_allclose(one.predict_proba(X), all_of_them.predict_proba(X), rtol=1e-12)
    assert_allclose(one.transform(X), all_of_them.transform(X)[:, :1], rtol=1e-12)
    assert one.scalings_.shape == all_of_them.scalings_.shape


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("how", [{}, {"shrinkage": "auto"}, {"shrinkage": 0.3}, {"estimator": True}])
@pytest.mark.parametrize("given", [False, True], ids=["proportions", "priors"])
def test_solvers_equal_scikit_learn(data, solver, how, given):
    X, y = data
    priors = uneven_priors(y) if given else None
    params = {"solver": solver, "shrinkage": how.get("shrinkage"), "priors": priors}
    if "estimator" in how:
        params["covariance_estimator"] = OAS()
    ours = LinearDiscriminantAnalysis(**params).fit(X, y)
    theirs = reference.LinearDiscriminantAnalysis(**params).fit(X, y)
    for name in ("coef_", "intercept_", "means_", "priors_", "covariance_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-9, err_msg=name)
    for method in ("predict_proba", "decision_function"):
        assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-6, atol=1e-8)
    if solver == "eigen" and not given:  # total minus within has negative eigenvalues for other priors
        assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=1e-8)
        assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-6, atol=1e-8)


def test_what_a_solver_cannot_do_is_refused(three_classes):
    X, y = three_classes
    for params in ({"reduced_rank": True}, {"method": "least_squares"}):
        with pytest.raises(ValueError, match="needs solver='svd'"):
            LinearDiscriminantAnalysis(solver="eigen", **params).fit(X, y)
    with pytest.raises(ValueError, match=r"shrinkage=1.5 must be a real number in \[0, 1\]"):
        LinearDiscriminantAnalysis(solver="eigen", shrinkage=1.5).fit(X, y)
    with pytest.raises(ValueError, match="solver='magic' must be one of"):
        LinearDiscriminantAnalysis(solver="magic").fit(X, y)
    with pytest.raises(TypeError, match="covariance_estimator=3 must have a method fit"):
        LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=3).fit(X, y)


def test_coefficients_are_the_decision_function(data):
    X, y = data
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(model.decision_function(X), np.squeeze(X @ model.coef_.T + model.intercept_), rtol=1e-9)


def test_affine_invariance(data):
    X, y = data
    rng = np.random.default_rng(0)
    mapped = X @ rng.normal(size=(X.shape[1], X.shape[1])) + 100.0 * rng.normal(size=X.shape[1])
    before = LinearDiscriminantAnalysis().fit(X, y)
    after = LinearDiscriminantAnalysis().fit(mapped, y)
    assert_array_equal(after.predict(mapped), before.predict(X))
    assert_allclose(after.predict_proba(mapped), before.predict_proba(X), rtol=1e-6, atol=1e-12)
    assert_allclose(after.transform(mapped), before.transform(X), rtol=1e-6, atol=1e-8)


def test_far_from_the_origin(three_classes):
    X, y = three_classes
    near = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    far = LinearDiscriminantAnalysis().fit(X + 1e8, y).predict_proba(X + 1e8)
    assert_allclose(far, near, atol=1e-6)


def test_units_do_not_matter(three_classes):
    X, y = three_classes
    units = 10.0 ** np.arange(-8, 12, 4)
    expected = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    assert_allclose(
        LinearDiscriminantAnalysis().fit(X * units, y).predict_proba(X * units), expected, rtol=1e-9
    )


def test_canonical_variate_of_two_classes_points_to_the_second(two_classes):
    X, y = two_classes
    Z = LinearDiscriminantAnalysis().fit(X, y).transform(X).ravel()
    assert Z[y == 1].mean() > Z[y == 0].mean()
    Z = LinearDiscriminantAnalysis().fit(X, 1 - y).transform(X).ravel()
    assert Z[y == 0].mean() > Z[y == 1].mean()


class TestLeastSquares:
    @pytest.mark.parametrize("coding", [(-1.0, 1.0), (0.0, 1.0), (7.0, 3.0)])
    def test_direction_is_that_of_any_regression_of_the_labels(self, two_classes, coding):
        X, y = two_classes
        model = LinearDiscriminantAnalysis(method="least_squares").fit(X, y)
        regression = LinearRegression().fit(X, np.array(coding)[y]).coef_
        cosine = model.coef_[0] @ regression / np.linalg.norm(model.coef_) / np.linalg.norm(regression)
        assert abs(cosine) == pytest.approx(1.0, abs=1e-10)

    def test_scale_is_that_of_the_gaussian_log_odds(self, two_classes):
        X, y = two_classes
        squares = LinearDiscriminantAnalysis(method="least_squares").fit(X, y)
        assert_allclose(squares.coef_, LinearDiscriminantAnalysis().fit(X, y).coef_, rtol=1e-8)

    @pytest.mark.parametrize("seed", range(5))
    def test_no_cut_errs_less(self, seed):
        rng = np.random.default_rng(seed)
        X = np.vstack([rng.exponential(size=(30, 2)), rng.exponential(size=(70, 2)) + np.array([0.5, 1.0])])
        y = np.repeat(["a", "b"], [30, 70])
        model = LinearDiscriminantAnalysis(method="least_squares").fit(X, y)
        scores = (X @ model.coef_.T).ravel()
        cuts = np.concatenate([scores, [scores.min() - 1.0]])
        fewest = min(((scores > cut) != (y == "b")).mean() for cut in cuts)
        assert (model.predict(X) != y).mean() == pytest.approx(fewest)
        assert fewest <= (LinearDiscriminantAnalysis().fit(X, y).predict(X) != y).mean()
        assert_array_equal(model.predict(X) == "b", model.predict_proba(X)[:, 1] > 0.5)

    def test_priors_weight_the_errors(self):
        X = np.array([[0.0], [1.0], [2.0], [3.0], [1.5], [2.5], [3.5], [4.5], [1.7], [2.7]])
        y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
        rare = LinearDiscriminantAnalysis(method="least_squares", priors=[0.999, 0.001]).fit(X, y)
        assert (rare.predict(X[y == 0]) == 0).all()
        common = LinearDiscriminantAnalysis(method="least_squares", priors=[0.001, 0.999]).fit(X, y)
        assert (common.predict(X[y == 1]) == 1).all()

    def test_needs_two_classes(self, three_classes):
        with pytest.raises(ValueError, match=r"method='least_squares' needs two classes, y has 3"):
            LinearDiscriminantAnalysis(method="least_squares").fit(*three_classes)


class TestSingular:
    def test_collinear_features_are_left_out_with_a_warning(self, three_classes):
        X, y = three_classes
        doubled = np.hstack([X, X[:, :1] + X[:, 1:2]])
        with pytest.warns(
            scipy.linalg.LinAlgWarning, match="within-class covariance is singular: rank 5 for 6"
        ):
            model = LinearDiscriminantAnalysis().fit(doubled, y)
        assert_allclose(
            model.predict_proba(doubled), LinearDiscriminantAnalysis().fit(X, y).predict_proba(X), rtol=1e-8
        )

    def test_constant_feature_is_not_made_of_rounding(self, three_classes):
        X, y = three_classes
        constant = np.hstack([X, np.full((len(X), 1), 123456.789)])
        with pytest.warns(scipy.linalg.LinAlgWarning, match="rank 5 for 6 features"):
            model = LinearDiscriminantAnalysis().fit(constant, y)
        assert_allclose(
            model.predict_proba(constant), LinearDiscriminantAnalysis().fit(X, y).predict_proba(X), rtol=1e-8
        )
        assert_allclose(model.coef_[:, -1], 0.0)

    def test_more_features_than_rows_equals_scikit_learn(self, wide):
        X, y = wide
        with pytest.warns(scipy.linalg.LinAlgWarning, match="rank 25 for 40 features"):
            ours = LinearDiscriminantAnalysis().fit(X, y)
        theirs = reference.LinearDiscriminantAnalysis().fit(X, y)
        assert_array_equal(ours.predict(X), theirs.predict(X))
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-12)

    def test_class_with_one_row(self, two_classes):
        X, y = two_classes
        X, y = np.vstack([X, [[9.0, 9.0, 9.0, 9.0]]]), np.append(y, 2)
        ours = LinearDiscriminantAnalysis().fit(X, y)
        assert_allclose(
            ours.predict_proba(X),
            reference.LinearDiscriminantAnalysis().fit(X, y).predict_proba(X),
            rtol=1e-8,
        )

    def test_nothing_varies(self):
        with pytest.raises(ValueError, match="no variation within any class"):
            LinearDiscriminantAnalysis().fit([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], [0, 1, 0])
        with pytest.raises(ValueError, match="The number of samples must be more than the number of classes"):
            LinearDiscriminantAnalysis().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])

    def test_equal_centroids_leave_no_variate(self):
        X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]] * 2)
        y = np.repeat([0, 1], 4)
        model = LinearDiscriminantAnalysis(priors=[0.3, 0.7]).fit(X, y)
        assert model.transform(X).shape == (8, 0)
        assert_allclose(model.predict_proba(X), np.tile([0.3, 0.7], (8, 1)))
        with pytest.warns(scipy.linalg.LinAlgWarning, match=r"n_components=1, but the class means span 0"):
            LinearDiscriminantAnalysis(n_components=1).fit(X, y)


def test_class_of_prior_zero_is_never_predicted(three_classes):
    X, y = three_classes
    model = LinearDiscriminantAnalysis(priors=[0.5, 0.0, 0.5]).fit(X, y)
    assert 1 not in model.predict(X)
    assert_allclose(model.predict_proba(X)[:, 1], 0.0)
    kept = y != 1
    # Only the covariance still sees the class.
    assert_array_equal(model.predict_proba(X[kept]).sum(axis=1).round(12), 1.0)
