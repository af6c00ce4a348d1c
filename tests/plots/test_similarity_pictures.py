"""What is in the pictures of kernel matrices and of calibration."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mercer
from clouds import blobs
from mercer import plots
from mercer.kernels import RBF, Linear


@pytest.fixture
def three():
    return blobs(90, 2, 3, seed=1)


def image(ax):
    return np.asarray(ax.images[0].get_array())


class TestKernelMatrix:
    def test_rows_are_ordered_by_class(self, three):
        X, y = three
        order = np.argsort(y, kind="stable")
        ax = plots.kernel_matrix(RBF(gamma=0.5), X, y)
        assert_allclose(image(ax), RBF(gamma=0.5)(X[order]))
        assert [t.get_text() for t in ax.get_xticklabels()] == [str(c) for c in np.unique(y)]

    def test_a_machine_stands_for_its_kernel(self, three):
        X, y = three
        model = mercer.SVC().fit(X, y)
        ax = plots.kernel_matrix(model, X, title="mine")
        assert_allclose(image(ax), model.kernel_(X))
        assert ax.get_title() == "mine"

    def test_signed_values_have_a_neutral_zero(self, three):
        X, y = three
        ax = plots.kernel_matrix(Linear(), X - X.mean(axis=0), y)
        low, high = ax.images[0].get_clim()
        assert low == -high
        assert ax.images[0].get_cmap().name == "PuOr"

    def test_no_more_rows_than_asked_for(self, three):
        X, y = three
        ax = plots.kernel_matrix("rbf", X, y, rows=30)
        assert image(ax).shape == (30, 30)
        assert "30 of 90 rows" in ax.get_title()

    def test_precomputed_and_strings(self, three):
        X, y = three
        K = RBF(gamma=1.0)(X)
        model = mercer.SVC(kernel="precomputed").fit(K, y)
        order = np.argsort(y, kind="stable")
        assert_allclose(image(plots.kernel_matrix(model, K, y)), K[np.ix_(order, order)])

        @mercer.kernel(psd=True)
        def shared(a, b):
            return float(len(set(a) & set(b)))

        assert_allclose(
            image(plots.kernel_matrix(shared, ["ab", "bc", "cd"])), [[2, 1, 0], [1, 2, 1], [0, 1, 2]]
        )

    def test_refusals_name_what_is_wrong(self, three):
        X, y = three
        with pytest.raises(ValueError, match=r"y has shape \(3,\)"):
            plots.kernel_matrix("rbf", X, y[:3])
        with pytest.raises(ValueError, match="not fitted"):
            plots.kernel_matrix(mercer.SVC(), X)
        with pytest.raises(ValueError, match="rows=1"):
            plots.kernel_matrix("rbf", X, rows=1)


class Oracle:
    """Knows the probabilities."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


class TestCalibration:
    def test_true_probabilities_lie_on_the_diagonal(self):
        rng = np.random.default_rng(0)
        p = rng.uniform(size=20_000)
        y = np.where(rng.uniform(size=p.size) < p, "yes", "no")
        ax = plots.calibration(Oracle(), p[:, None], y, bins=8)
        line = ax.containers[0].lines[0]
        assert line.get_xdata().size == 8
        assert np.abs(line.get_xdata() - line.get_ydata()).max() < 0.03
        assert "yes (Brier score 0.16" in ax.get_legend_handles_labels()[1][1]  # the mean of p (1 - p) is 1/6

    def test_a_curve_for_each_of_several_classes(self, three):
        X, y = three
        model = mercer.SVC(probability=True).fit(X[::2], y[::2])
        ax = plots.calibration(model, X[1::2], y[1::2], bins=5)
        assert len(ax.containers) == 3

    def test_refusals_name_what_is_wrong(self, three):
        X, y = three
        with pytest.raises(ValueError, match="probability=True"):
            plots.calibration(mercer.SVC().fit(X, y), X, y)
        with pytest.raises(ValueError, match="bins=1"):
            plots.calibration(Oracle(), X, y, bins=1)
