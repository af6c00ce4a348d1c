"""Degenerate and extreme data: the answer is right, or refused in words; never nan, never LinAlgError."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

from gaussian_classes import case
from mercer import KernelFisherDiscriminant
from mercer.estimators.discriminant import (
    FlexibleDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    MixtureDiscriminantAnalysis,
    PenalizedDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from mercer.estimators.discriminant._singular import SingularCovarianceError

SHARES = st.sampled_from([0.0, 5e-324, 1e-300, 1e-16, 0.3, 0.5, 1.0 - 1e-10, 1.0 - 2.0**-53, 1.0])
TOLERANCES = st.sampled_from([1e-4, 0.0, 1e-12, 0.5])
MODELS = st.one_of(
    st.builds(LinearDiscriminantAnalysis, tol=TOLERANCES, store_covariance=st.booleans()),
    st.builds(QuadraticDiscriminantAnalysis, tol=TOLERANCES, store_covariance=st.booleans()),
    st.builds(RegularizedDiscriminantAnalysis, alpha=SHARES, gamma=SHARES, tol=TOLERANCES),
    st.builds(RegularizedDiscriminantAnalysis, alpha=SHARES, gamma=SHARES, store_covariance=st.just(True)),
    st.builds(
        PenalizedDiscriminantAnalysis,
        alpha=st.sampled_from([0.0, 5e-324, 1e-200, 1.0, 1e200, 1.7e308]),
        penalty=st.sampled_from(["ridge", "smooth"]),
        tol=TOLERANCES,
    ),
    st.builds(
        MixtureDiscriminantAnalysis,
        n_subclasses=st.integers(1, 3),
        n_init=st.just(1),
        max_iter=st.just(5),
        rank_tol=TOLERANCES,
        random_state=st.just(0),
    ),
    st.builds(FlexibleDiscriminantAnalysis, tol=TOLERANCES),
    st.builds(KernelFisherDiscriminant, ridge=st.sampled_from([1e-3, 1e-300, 1e300])),
)
HARM = (
    "constant",
    "collinear",
    "the label",
    "units",
    "all units",
    "far",
    "repeated",
    "indicator",
    "one point",
)


@st.composite
def nasty_classes(draw):
    """A few rows of a few classes, with columns and rows that discriminants have no covariance for."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, p, k = draw(st.integers(4, 24)), draw(st.integers(1, 6)), draw(st.integers(2, 4))
    y = rng.integers(0, k, n)
    y[:2] = [0, 1]
    X = rng.normal(size=(n, p)) + draw(st.sampled_from([0.0, 1.0, 100.0])) * rng.normal(size=(k, p))[y]
    exponents = st.one_of(st.integers(-8, 8), st.integers(-140, 140), st.integers(-307, 300))
    for harm in draw(st.lists(st.sampled_from(HARM), max_size=3)):
        c = draw(st.integers(0, p - 1))
        if harm == "constant":
            X[:, c] = 5.0
        elif harm == "collinear":
            X[:, c] = 3.0 * np.clip(X[:, 0], -1e300, 1e300)
        elif harm == "the label":
            X[:, c] = y
        elif harm == "units":
            X[:, c] = np.clip(X[:, c], -1e3, 1e3) * 10.0 ** draw(exponents)
        elif harm == "all units":
            X = np.clip(X, -1e3, 1e3) * 10.0 ** draw(exponents)
        elif harm == "far":
            X[:, c] += 10.0 ** abs(draw(exponents))
        elif harm == "repeated":
            X = X[rng.integers(0, n, n)]
        elif harm == "indicator":
            X[:, c] = rng.random(n) < 0.1
        else:
            X[y == 0] = X[0]
    return X, y


def fitted_or_refused(model, X, y):
    """Return the fitted model, or None if it was refused as it should be."""
    with warnings.catch_warnings():
        for expected in (LinAlgWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", expected)
        # The width of the kernel is computed from all features at once, and says so itself.
        warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning, "mercer.kernels")
        try:
            return model.fit(X, y)
        except SingularCovarianceError:
            return None
        except np.linalg.LinAlgError:  # a kind of ValueError, and no words for a user
            raise
        except ValueError:
            return None


@given(MODELS, nasty_classes())
def test_right_or_refused(model, data):
    X, y = data
    if fitted_or_refused(model, X, y) is None:
        return
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-9)
    assert ((proba >= 0.0) & (proba <= 1.0)).all()
    assert not np.isnan(model.predict_log_proba(X)).any()
    assert not np.isnan(model.decision_function(X)).any()
    chosen = np.searchsorted(model.classes_, model.predict(X))
    # Scores may differ by less than probabilities can show: then these tie.
    assert (proba[np.arange(len(y)), chosen] >= proba.max(axis=1)).all()


@given(SHARES, SHARES, nasty_classes(), st.sampled_from([-200, -60, 60, 200]))
def test_units_do_not_matter_to_regularized_discriminants(alpha, gamma, data, exponent):
    """All of X in other units is the same problem; a power of two leaves the very digits alone."""
    X, y = data
    model = RegularizedDiscriminantAnalysis(alpha=alpha, gamma=gamma)
    scaled = np.ldexp(np.clip(X, -1e140, 1e140), exponent)
    if np.abs(X).max() > 1e80 or 0.0 < np.abs(X[X != 0.0]).min(initial=1.0) < 1e-60:
        return
    plain = fitted_or_refused(model, X, y)
    if plain is None:
        return
    before, certain = plain.predict_proba(X), plain.predict_log_proba(X)
    again = fitted_or_refused(RegularizedDiscriminantAnalysis(alpha=alpha, gamma=gamma), scaled, y)
    assert again is not None
    sure = np.abs(certain).max() < 1e6  # else the last digits of the distances decide
    assert_allclose(again.predict_proba(scaled), before, atol=1e-6 if sure else 1.0)


@pytest.mark.parametrize("cls", [QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis])
@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (1e200, r"column 1 of X reaches .*: variances .* Scale the columns \(StandardScaler\)"),
        (1e308, r"column 1 of X reaches .*: variances"),
        (1e-200, r"column 1 of X varies by no more than .* within the classes: .*\(StandardScaler\)"),
    ],
)
def test_columns_beyond_range_are_named(cls, factor, message):
    X, y = case("three")
    X = X / np.abs(X).max()
    X[:, 1] *= factor
    with pytest.raises(ValueError, match=message) as refusal:
        cls().fit(X, y)
    assert type(refusal.value) is ValueError


def test_columns_beyond_range_are_named_by_their_names():
    pandas = pytest.importorskip("pandas")
    X, y = case("three")
    frame = pandas.DataFrame(X * [1.0, 1.0, 1e250, 1.0, 1.0], columns=["a", "b", "salary", "d", "e"])
    with pytest.raises(ValueError, match=r"column 2 of X \('salary'\) reaches"):
        LinearDiscriminantAnalysis().fit(frame, y)


@pytest.mark.parametrize(
    "model",
    [
        QuadraticDiscriminantAnalysis(),
        RegularizedDiscriminantAnalysis(),
        MixtureDiscriminantAnalysis(random_state=0),
    ],
    ids=lambda m: type(m).__name__,
)
def test_rows_too_far_for_densities_are_named(model):
    X, y = case("three")
    model.fit(X, y)
    new = X[:4].copy()
    new[2, 3] = 1e300
    with pytest.raises(
        ValueError,
        match=r"row 2 of X \(and 0 more\) lies too far from the training data of .*; its largest "
        r"value is 1e\+300 in column 3 of X\. Check its units",
    ):
        model.predict_proba(new)


@pytest.mark.parametrize("cls", [LinearDiscriminantAnalysis, PenalizedDiscriminantAnalysis])
def test_linear_functions_bear_rows_far_away(cls):
    X, y = case("three")
    model = cls().fit(X, y)
    new = X[:4].copy()
    new[2, 3] = 1e300
    assert_allclose(model.predict_proba(new).sum(axis=1), 1.0)


def test_a_penalty_beyond_range_is_named():
    X, y = case("three")
    with pytest.raises(ValueError, match=r"alpha=1.7e\+308 times penalty, .* make alpha smaller"):
        PenalizedDiscriminantAnalysis(alpha=1.7e308).fit(X, y)


def test_a_refused_refit_leaves_no_model_behind():
    """A regression that predicts no numbers: the discriminant is refused, and is not fitted any more."""
    from sklearn.dummy import DummyRegressor
    from sklearn.exceptions import NotFittedError

    class Overflowing(DummyRegressor):
        def predict(self, X):
            return np.full((len(X), 2), 1e308) * np.where(np.arange(len(X)) % 2, 1.0, -1.0)[:, None] * 10.0

    X, y = case("three")
    model = FlexibleDiscriminantAnalysis(regressor=Overflowing())
    with np.errstate(over="ignore"), pytest.raises(ValueError) as refusal:
        model.fit(X, y)
    assert type(refusal.value) is ValueError
    with pytest.raises(NotFittedError):
        model.predict(X)
