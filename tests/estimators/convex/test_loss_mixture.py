"""Kernel logistic regression on a mixture whose posterior is known."""

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from mercer import SVC, KernelLogisticRegression
from mercer.kernels import RBF, Polynomial

pytestmark = pytest.mark.core


@pytest.mark.parametrize(
    ("kernel", "closeness"),
    [(Polynomial(degree=4, gamma=1.0, coef0=1.0), 0.12), (RBF(gamma=1.0), 0.12)],
    ids=["poly", "rbf"],
)
def test_the_posterior_of_a_mixture(kernel, closeness):
    rng = np.random.default_rng(7)
    centres = np.concatenate([rng.normal([1.0, 0.0], 1.0, (10, 2)), rng.normal([0.0, 1.0], 1.0, (10, 2))])

    def mixture(n):
        y = np.repeat([0, 1], n)
        return centres[10 * y + rng.integers(0, 10, 2 * n)] + np.sqrt(0.2) * rng.normal(size=(2 * n, 2)), y

    X, y = mixture(100)
    new, truth = mixture(4000)
    logs = -((new[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2) / 0.4
    posterior = expit(logsumexp(logs[:, 10:], axis=1) - logsumexp(logs[:, :10], axis=1))
    bayes = np.mean((posterior > 0.5) != truth)

    model = KernelLogisticRegression(kernel=kernel, C=1.0).fit(X, y)
    p = model.predict_proba(new)[:, 1]
    assert np.abs(p - posterior).mean() < closeness
    assert np.mean((p > 0.5) != truth) < bayes + 0.06
    # The contours of 1/4 and 3/4 lie on either side of the boundary, and mean what they say.
    low, high = truth[(p < 0.25)].mean(), truth[(p > 0.75)].mean()
    assert low < 0.2 < 0.8 < high
    assert 0.3 < truth[(p > 0.25) & (p < 0.75)].mean() < 0.7
    # The machine with the hinge has much the same boundary.
    machine = SVC(kernel=kernel, C=1.0).fit(X, y)
    assert (machine.predict(new) == model.predict(new)).mean() > 0.93
