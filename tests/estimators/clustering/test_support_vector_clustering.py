"""Support vector clustering: the parts of the region that a ball encloses."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVDD, SupportVectorClustering
from mercer.kernels import RBF, Spectrum

pytestmark = pytest.mark.core

BLOBS, WHICH = make_blobs(90, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.4, random_state=0)


def naive(model, X, n_points):
    """Return the components of the complete graph: all lines between points inside."""
    here = np.flatnonzero(model._inside(X))
    n = here.size
    edges = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i):
            shares = np.arange(1, n_points + 1)[:, None] / (n_points + 1)
            line = X[here[i]] + shares * (X[here[j]] - X[here[i]])
            edges[i, j] = model._inside(line).all()
    return here, connected_components(csr_array(edges), directed=False)[1]


@pytest.mark.parametrize("gamma", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("nu", [0.0, 0.1])
def test_components_are_those_of_all_lines(gamma, nu):
    model = SupportVectorClustering(nu=nu, gamma=gamma, n_points=8).fit(BLOBS)
    here, labels = naive(model, BLOBS, 8)
    assert adjusted_rand_score(model.labels_[here], labels) == pytest.approx(1.0)
    assert model.n_clusters_ == labels.max() + 1
    outside = np.setdiff1d(np.arange(90), here)
    assert (model.labels_[outside] == -1).all()


def test_the_ball_is_that_of_svdd():
    model = SupportVectorClustering(nu=0.1, gamma=0.5, tol=1e-6).fit(BLOBS)
    ball = SVDD(nu=0.1, gamma=0.5, tol=1e-6).fit(BLOBS)
    assert model.radius_ == pytest.approx(ball.radius_)
    assert model.certificate_.status == "optimal"
    assert model.certify(BLOBS).gap == pytest.approx(model.certificate_.gap, abs=1e-9)
    np.testing.assert_allclose(model.distance(BLOBS), ball.distance(BLOBS), atol=1e-6)
    assert np.mean(model.labels_ == -1) <= 0.1 + 1e-9


def test_blobs_and_rings():
    model = SupportVectorClustering(nu=0.02, gamma=0.5).fit(BLOBS)
    known = model.labels_ >= 0
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(WHICH[known], model.labels_[known]) == pytest.approx(1.0)
    sizes = np.bincount(model.labels_[known])
    assert (np.diff(sizes) <= 0).all()  # the largest first
    rings, ring = make_circles(300, factor=0.3, noise=0.03, random_state=0)
    model = SupportVectorClustering(nu=0.0, gamma=10.0).fit(rings)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(ring, model.labels_) == pytest.approx(1.0)


def test_clusters_divide_as_the_scale_falls():
    counts = [SupportVectorClustering(nu=0.0, gamma=g).fit(BLOBS).n_clusters_ for g in (0.01, 0.5, 100.0)]
    assert counts[0] == 1
    assert counts[1] == 3
    assert counts[2] > 20


def test_new_points():
    model = SupportVectorClustering(nu=0.02, gamma=0.5).fit(BLOBS)
    found = model.predict([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [20.0, 20.0], [2.0, 2.0]])
    assert sorted(found[:3]) == [0, 1, 2]
    assert (found[3:] == -1).all()
    inside = model.labels_ >= 0
    assert (model.predict(BLOBS) == model.labels_)[inside].mean() > 0.98
    near = SupportVectorClustering(nu=0.02, gamma=0.5, outliers="nearest").fit(BLOBS)
    assert (near.labels_ >= 0).all()
    assert near.predict([[20.0, 0.0]])[0] == near.predict([[4.0, 0.0]])[0]
    assert (near.fit_predict(BLOBS) == near.labels_).all()


def test_other_kernels_and_refusals():
    assert SupportVectorClustering(kernel=RBF(0.5) + 0.1 * RBF(0.1)).fit(BLOBS).n_clusters_ >= 1
    assert SupportVectorClustering(kernel="linear", nu=0.0).fit(BLOBS).n_clusters_ == 1  # a ball is convex
    with pytest.raises(ValueError, match="vectors"):
        SupportVectorClustering(kernel="precomputed").fit(np.eye(5))
    with pytest.raises(ValueError, match="vectors"):
        SupportVectorClustering(kernel=Spectrum(2)).fit(["abc", "abc", "xyz"])
    with pytest.raises(TypeError, match="sparse"):
        SupportVectorClustering().fit(csr_array(BLOBS))


def test_files(tmp_path):
    model = SupportVectorClustering(nu=0.05, gamma=0.5).fit(BLOBS)
    same = mercer.load(mercer.save(model, tmp_path / "clusters.mercer"))
    assert (same.predict(BLOBS) == model.predict(BLOBS)).all()
    assert same.n_clusters_ == model.n_clusters_


@parametrize_with_checks([SupportVectorClustering(), SupportVectorClustering(outliers="nearest", nu=0.0)])
def test_scikit_learn(estimator, check):
    check(estimator)
