"""The price of agreeing with predict: at most five per cent of log-loss against free calibration.

The opponent is scikit-learn's CalibratedClassifierCV on the same machine with the same parameters. It may put
its one half anywhere, and by default averages five machines.
"""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_moons,
)
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import SVC, NuSVC

pytestmark = pytest.mark.core


def gaussians(share):
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < share).astype(int)
    return rng.normal(size=(3000, 4)) + 1.5 * y[:, None], y


def synthetic(**options):
    return make_classification(3000, 10, n_informative=5, random_state=1, **options)


SETS = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits, odd": lambda: (load_digits().data, load_digits().target % 2),
    "digits, eight": lambda: (load_digits().data, (load_digits().target == 8).astype(int)),
    "moons": lambda: make_moons(1500, noise=0.3, random_state=0),
    "gaussians, 5 %": lambda: gaussians(0.05),
    "synthetic, 5 %": lambda: synthetic(weights=[0.95], flip_y=0.01),
    "synthetic, 5 %, noisy": lambda: synthetic(weights=[0.95], flip_y=0.05, class_sep=0.7),
    "synthetic, 20 %": lambda: synthetic(weights=[0.8], flip_y=0.05, class_sep=0.8),
    "synthetic, even": lambda: synthetic(flip_y=0.1),
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
}


def losses(name, model, opponent, **options):
    X, y = SETS[name]()
    X, new, y, truth = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    X, new = scaler.transform(X), scaler.transform(new)
    model = model.set_params(probability=True, **options).fit(X, y)
    p = model.predict_proba(new)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(new)).all()
    free = CalibratedClassifierCV(opponent.set_params(**options)).fit(X, y).predict_proba(new)
    return log_loss(truth, p), log_loss(truth, free)


@pytest.mark.parametrize("name", SETS)
def test_log_loss_is_at_most_1_05_times_that_of_free_calibration(name):
    ours, free = losses(name, SVC(), SVC())
    assert ours <= 1.05 * free


@pytest.mark.parametrize("name", ["moons", "gaussians, 5 %", "synthetic, 5 %", "synthetic, even"])
def test_so_it_is_at_a_large_price_of_errors(name):
    ours, free = losses(name, SVC(), SVC(), C=10.0)
    assert ours <= 1.05 * free


@pytest.mark.parametrize("name", ["gaussians, 5 %", "synthetic, 20 %", "synthetic, even"])
def test_so_it_is_for_the_squared_hinge_and_linear_machines(name):
    for options in ({"loss": "squared_hinge"}, {"kernel": "linear"}):
        ours, free = losses(name, SVC(), SVC(), **options)
        assert ours <= 1.05 * free


def test_so_it_is_for_nu_machines():
    ours, free = losses("synthetic, even", NuSVC(), NuSVC(), nu=0.3)
    assert ours <= 1.05 * free


@pytest.mark.parametrize("name", ["digits", "wine"])
def test_so_it_is_for_one_against_the_rest(name):
    ours, free = losses(name, SVC(), SVC(), multiclass="ovr")
    assert ours <= 1.05 * free


def test_rare_classes_are_calibrated_on_either_side_of_the_boundary():
    X, y = gaussians(0.05)
    rng = np.random.default_rng(1)
    truth = (rng.random(20_000) < 0.05).astype(int)
    new = rng.normal(size=(20_000, 4)) + 1.5 * truth[:, None]
    p = SVC(probability=True).fit(X, y).predict_proba(new)[:, 1]
    assert abs(p.mean() - truth.mean()) < 0.01
    for side in (p < 0.5, p > 0.5):
        assert abs(p[side].mean() - truth[side].mean()) < 0.05
