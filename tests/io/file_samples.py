"""Models and files that the tests of this folder share."""

from functools import cache

import numpy as np
from sklearn.base import BaseEstimator

import mercer
from mercer.estimators.degenerate import DegenerateFitWarning
from mercer.structured import CostSensitive

METHODS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")


def made(cls):
    """Return an estimator with its default parameters, and what it cannot do without."""
    return cls(CostSensitive()) if cls is mercer.StructuredSVM else cls()


def estimators():
    """Return every public estimator; a new one is tested by existing."""
    found = [getattr(mercer, name) for name in mercer.__all__]
    return [c for c in found if isinstance(c, type) and issubclass(c, BaseEstimator)]


def data(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    noisy = X[:, 0] + 0.3 * rng.normal(size=n)
    return X, {
        "three": np.digitize(noisy, [-0.5, 0.5]),
        "two": np.where(noisy > 0, 1, -1),
        "real": X[:, 1] ** 2 + 0.1 * rng.normal(size=n),
        "view": X[:, 2:] @ rng.normal(size=(2, 3)),
    }


@cache
def fitted(cls):
    """Return a fitted estimator, on the first of our targets that it takes; not to be changed."""
    X, targets = data()
    refusals = []
    for points in (X, X + 5.0):  # no plane separates the first from the origin
        for y in targets.values():
            try:
                return made(cls).fit(points, y), points
            except (ValueError, DegenerateFitWarning) as error:
                refusals.append(str(error))
    raise AssertionError(f"{cls.__name__} takes none of our targets: {refusals}")


def answers(model, X):
    """Return all that a model says of new points."""
    said = {}
    for name in METHODS:
        method = getattr(model, name, None)
        if method is not None:
            said[name] = method(X)
    assert said, f"{type(model).__name__} has none of {METHODS}"
    return said


def assert_same_answers(a, b, X):
    said, again = answers(a, X), answers(b, X)
    assert said.keys() == again.keys()
    for name, value in said.items():
        for one, two in zip(_flat(value), _flat(again[name]), strict=True):
            assert one.dtype == two.dtype
            same = one.tolist() == two.tolist() if one.dtype.kind == "O" else one.tobytes() == two.tobytes()
            assert same, f"{type(a).__name__}.{name} differs"


def _flat(value):
    return [np.asarray(v) for v in value] if isinstance(value, tuple) else [np.asarray(value)]
