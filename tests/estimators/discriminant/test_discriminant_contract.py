"""What every discriminant owes: scikit-learn's contract, symmetries, refusals in words, examples that run."""

import doctest
import importlib
import pickle
import pkgutil

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer.estimators.discriminant as package
from mercer.estimators.discriminant import (
    FlexibleDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    MixtureDiscriminantAnalysis,
    PenalizedDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)

CLASSES = [getattr(package, name) for name in package.__all__ if isinstance(getattr(package, name), type)]
TRANSFORMERS = [cls for cls in CLASSES if hasattr(cls, "transform")]


def make(cls, **params):
    if "random_state" in cls._get_param_names():
        params["random_state"] = 0
    return cls(**params)


@parametrize_with_checks(
    [
        *(cls() for cls in CLASSES),
        LinearDiscriminantAnalysis(method="gaussian", store_covariance=True),
        RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv", cv=2),
        FlexibleDiscriminantAnalysis(regressor=LinearRegression()),
        PenalizedDiscriminantAnalysis(penalty="smooth"),
        MixtureDiscriminantAnalysis(n_subclasses=1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_all_are_here():
    assert set(CLASSES) == {
        FlexibleDiscriminantAnalysis,
        LinearDiscriminantAnalysis,
        MixtureDiscriminantAnalysis,
        PenalizedDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
        RegularizedDiscriminantAnalysis,
    }
    assert len(TRANSFORMERS) == 4


@pytest.mark.parametrize("cls", CLASSES)
class TestEvery:
    def test_order_of_rows_does_not_matter(self, cls, three_classes):
        X, y = three_classes
        order = np.random.default_rng(0).permutation(len(y))
        # The starts of a mixture are drawn, so they do depend on the order.
        params = {"n_subclasses": 1} if cls is MixtureDiscriminantAnalysis else {}
        before = make(cls, **params).fit(X, y)
        after = make(cls, **params).fit(X[order], y[order])
        assert_allclose(after.predict_proba(X), before.predict_proba(X), rtol=1e-7, atol=1e-10)

    def test_names_of_classes_do_not_matter(self, cls, three_classes):
        X, y = three_classes
        params = {"n_subclasses": 1} if cls is MixtureDiscriminantAnalysis else {}
        before = make(cls, **params).fit(X, y)
        for names in (np.array(["ant", "bee", "cow"]), np.array(["z", "m", "b"]), np.array([7, -3, 5])):
            after = make(cls, **params).fit(X, names[y])
            assert_array_equal(after.classes_, np.sort(names))
            assert_array_equal(after.predict(X), names[before.predict(X)])
            column = np.searchsorted(after.classes_, names)
            assert_allclose(after.predict_proba(X)[:, column], before.predict_proba(X), rtol=1e-7, atol=1e-10)

    def test_shift_does_not_matter(self, cls, three_classes):
        X, y = three_classes
        params = {"n_subclasses": 1} if cls is MixtureDiscriminantAnalysis else {}
        before = make(cls, **params).fit(X, y)
        after = make(cls, **params).fit(X + 1000.0, y)
        assert_allclose(after.predict_proba(X + 1000.0), before.predict_proba(X), rtol=1e-6, atol=1e-8)

    def test_probabilities(self, cls, three_classes):
        X, y = three_classes
        model = make(cls).fit(X, y)
        proba = model.predict_proba(X)
        assert_allclose(proba.sum(axis=1), 1.0)
        assert_allclose(np.exp(model.predict_log_proba(X)), proba, atol=1e-12)
        assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
        # Far away the probabilities underflow, their logarithms do not.
        assert np.isfinite(model.predict_log_proba(1e3 * X)).all()

    def test_pickle(self, cls, three_classes):
        X, y = three_classes
        model = make(cls).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        # The layout of arrays may change, and with it the order of sums.
        assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-10)

    def test_parameters_are_keyword_only(self, cls):
        if cls is LinearDiscriminantAnalysis:  # as scikit-learn's
            assert cls("eigen", "auto", [0.5, 0.5], 1, True, 1e-3, None).get_params()["tol"] == 1e-3
            with pytest.raises(TypeError, match="positional"):
                cls("svd", None, None, None, False, 1e-4, None, "gaussian")
            return
        with pytest.raises(TypeError, match="positional"):
            cls(None)

    def test_float32_and_lists(self, cls, three_classes):
        X, y = three_classes
        expected = make(cls).fit(X, y).predict(X)
        assert (
            make(cls).fit(X.astype(np.float32), y).predict(X.astype(np.float32)) == expected
        ).mean() > 0.98
        assert_array_equal(make(cls).fit(X.tolist(), y.tolist()).predict(X.tolist()), expected)

    def test_one_class_is_refused(self, cls, three_classes):
        X, y = three_classes
        with pytest.raises(
            ValueError, match=r"y has one class, 0: a discriminant needs at least two classes"
        ):
            make(cls).fit(X, np.zeros_like(y))

    def test_continuous_target_is_refused(self, cls, three_classes):
        X, y = three_classes
        with pytest.raises(ValueError, match="Unknown label type"):
            make(cls).fit(X, y + 0.5)

    @pytest.mark.parametrize(
        ("priors", "message"),
        [
            ([0.5, 0.5], "must be 3 numbers, one for each class"),
            ([0.5, 0.6, -0.1], "must be non-negative and sum to 1"),
            ([0.5, 0.5, np.nan], "must be non-negative"),
            (["a", "b", "c"], "must be 3 numbers"),
            (0.3, "priors=0.3 must be 3 numbers"),
        ],
    )
    def test_bad_priors_are_refused(self, cls, three_classes, priors, message):
        with pytest.raises(ValueError, match=message):
            make(cls, priors=priors).fit(*three_classes)

    def test_priors_are_scaled_to_sum_to_one(self, cls, three_classes):
        with pytest.warns(UserWarning, match=r"The priors do not sum to 1, but to 1.2. Renormalizing"):
            model = make(cls, priors=[0.5, 0.6, 0.1]).fit(*three_classes)
        np.testing.assert_allclose(model.priors_, np.array([0.5, 0.6, 0.1]) / 1.2)

    def test_search_and_pipeline(self, cls, three_classes):
        X, y = three_classes
        pipeline = make_pipeline(StandardScaler(), make(cls))
        name = f"{cls.__name__.lower()}__tol"
        search = GridSearchCV(pipeline, {name: [1e-3, 1e-4]}, cv=2).fit(X, y)
        assert search.best_score_ > 0.5


@pytest.mark.parametrize("cls", TRANSFORMERS)
class TestTransformers:
    def test_set_output(self, cls, three_classes):
        pandas = pytest.importorskip("pandas")
        polars = pytest.importorskip("polars")
        X, y = three_classes
        frame = pandas.DataFrame(X, columns=list("abcde"))
        model = make(cls).fit(frame, y)
        assert_array_equal(model.feature_names_in_, list("abcde"))
        names = [f"{cls.__name__.lower()}{i}" for i in range(model.transform(frame).shape[1])]
        assert_array_equal(model.get_feature_names_out(), names)
        out = model.set_output(transform="pandas").transform(frame)
        assert isinstance(out, pandas.DataFrame)
        assert list(out.columns) == names
        assert isinstance(model.set_output(transform="polars").transform(frame), polars.DataFrame)
        assert_array_equal(make(cls).set_output(transform="pandas").fit_transform(frame, y).to_numpy(), out)

    def test_number_of_components(self, cls, three_classes):
        X, y = three_classes
        model = make(cls, n_components=1).fit(X, y)
        assert model.transform(X).shape == (len(X), 1)
        assert len(model.get_feature_names_out()) == len(model.explained_variance_ratio_) == 1
        most = "from 1 to"
        with pytest.raises(ValueError, match=r"n_components cannot be larger than .*99"):
            make(cls, n_components=99).fit(X, y)
        with pytest.raises(ValueError, match=rf"n_components=0 must be an integer {most}"):
            make(cls, n_components=0).fit(X, y)
        with pytest.raises(TypeError, match=rf"n_components=1.5 must be an integer {most}"):
            make(cls, n_components=1.5).fit(X, y)

    def test_variates_spread_the_classes_in_order(self, cls, three_classes):
        X, y = three_classes
        ratio = make(cls).fit(X, y).explained_variance_ratio_
        assert (np.diff(ratio) <= 0.0).all()
        assert ratio.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (LinearDiscriminantAnalysis(tol=-1.0), ValueError, r"tol=-1.0 must be a real number in \[0, inf\)"),
        (LinearDiscriminantAnalysis(tol="x"), TypeError, r"tol='x' must be a real number"),
        (LinearDiscriminantAnalysis(tol=np.inf), ValueError, r"tol=inf must be"),
        (
            LinearDiscriminantAnalysis(method="svd"),
            ValueError,
            r"method='svd' must be one of 'gaussian', 'least_s",
        ),
        (
            LinearDiscriminantAnalysis(store_covariance=1),
            TypeError,
            r"store_covariance=1 must be True or False",
        ),
        (QuadraticDiscriminantAnalysis(tol=None), TypeError, r"tol=None must be a real number"),
        (
            RegularizedDiscriminantAnalysis(alpha=1.1),
            ValueError,
            r"alpha=1.1 must be a real number in \[0, 1\]",
        ),
        (
            RegularizedDiscriminantAnalysis(alpha=np.nan),
            ValueError,
            r"alpha=nan must be a real number in \[0, 1\]",
        ),
        (
            RegularizedDiscriminantAnalysis(gamma=-0.1),
            ValueError,
            r"gamma=-0.1 must be a real number in \[0, 1\]",
        ),
        (RegularizedDiscriminantAnalysis(gamma=True), TypeError, r"gamma=True must be a real number"),
        (RegularizedDiscriminantAnalysis(alpha="auto"), ValueError, r"alpha='auto' must be one of 'cv'"),
        (
            RegularizedDiscriminantAnalysis(alpha="cv", alphas=[]),
            ValueError,
            r"alphas=\[\] must be a non-empty",
        ),
        (
            RegularizedDiscriminantAnalysis(alpha="cv", alphas=[2.0]),
            ValueError,
            r"alphas=\[2.0\] must lie in \[0, 1\]",
        ),
        (
            RegularizedDiscriminantAnalysis(scoring="f1"),
            ValueError,
            r"scoring='f1' must be one of 'accuracy'",
        ),
        (
            MixtureDiscriminantAnalysis(n_subclasses=0),
            ValueError,
            r"n_subclasses=0 must be an integer of at least 1",
        ),
        (
            MixtureDiscriminantAnalysis(n_subclasses="two"),
            TypeError,
            r"n_subclasses='two' must be an integer",
        ),
        (MixtureDiscriminantAnalysis(n_init=0), ValueError, r"n_init=0 must be an integer of at least 1"),
        (MixtureDiscriminantAnalysis(max_iter=0), ValueError, r"max_iter=0 must be an integer of at least 1"),
        (
            MixtureDiscriminantAnalysis(covariance_floor=0.0),
            ValueError,
            r"covariance_floor=0.0 must be .* in \(0, 1\)",
        ),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(model, error, message, three_classes):
    with pytest.raises(error, match=message):
        model.fit(*three_classes)


@pytest.mark.parametrize("module", sorted(m.name for m in pkgutil.iter_modules(package.__path__)))
def test_docstring_examples_run(module):
    result = doctest.testmod(importlib.import_module(f"{package.__name__}.{module}"))
    assert result.failed == 0
