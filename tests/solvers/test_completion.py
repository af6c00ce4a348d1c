"""How far a fit has come: shares that grow to 1 and change nothing."""

import itertools

import numpy as np
import pytest

from clouds import blobs
from mercer import SVC, SVDD, SVR, KernelLogisticRegression, NuSVC, OneClassSVM, SVCPath, SVCSearch, SVRPath
from mercer.selection.progress import listening
from mercer.solvers import completion as nearing
from mercer.solvers.completion import WAITING, paced, share_of_way, waiting
from mercer.solvers.progress import Onlooker

pytestmark = pytest.mark.core

X, Y = blobs(150, 3, 2, seed=0)
THREE = blobs(150, 3, 3, seed=1)
TARGET = np.sin(X[:, 0]) + 0.1 * X[:, 1]


@pytest.fixture
def always(monkeypatch):
    """Every look is due: the shares do not depend on the clock."""
    monkeypatch.setattr(nearing, "PAUSE", 0.0)


@pytest.mark.parametrize(
    ("machine", "data"),
    [
        (SVC(C=100.0), (X, Y)),
        (SVC(C=100.0, criterion="gap"), (X, Y)),
        (SVC(C=10.0), THREE),
        (SVC(C=10.0, solver="smo"), (X, Y)),
        (SVC(C=10.0, solver="ascent"), (X, Y)),
        (SVC(C=10.0, solver="interior_point"), (X, Y)),
        (SVC(C=10.0, trace=True), (X, Y)),
        (NuSVC(nu=0.2), (X, Y)),
        (SVR(C=10.0), (X, TARGET)),
        (OneClassSVM(nu=0.3), (X, None)),
        (SVDD(nu=0.3), (X, None)),
        (KernelLogisticRegression(C=10.0), (X, Y)),
    ],
    ids=lambda v: "data" if isinstance(v, tuple) else str(v),
)
def test_shares_grow_to_one_and_the_fit_is_the_same(machine, data, always):
    machine.set_params(n_jobs=1)
    plain = machine.fit(*data)
    before = np.array(plain.dual_coef_), np.array(plain.intercept_)
    told = []
    with waiting(told.append):
        watched = machine.fit(*data)
    assert told[-1] == pytest.approx(1.0)
    assert all(a < b for a, b in itertools.pairwise(told))
    assert all(0.0 < share <= 1.0 for share in told)
    np.testing.assert_array_equal(watched.dual_coef_, before[0])
    np.testing.assert_array_equal(watched.intercept_, before[1])
    assert WAITING.get() is None


def test_a_long_fit_is_told_of_on_its_way(always, monkeypatch):
    """A problem of several rounds has shares between nothing and all."""
    monkeypatch.setattr("mercer.solvers.dual.decomposition.DENSE", 64)
    told = []
    with waiting(told.append):
        SVC(C=100.0, gamma=2.0, n_jobs=1, cache_size=0.1, tol=1e-5).fit(X, Y)
    assert len([share for share in told if 0.05 < share < 0.95]) >= 2


def test_nobody_is_told_more_often_than_agreed():
    heard = []
    look = Onlooker(heard.append, 3600.0)
    assert look.due
    look(None)
    assert not look.due
    assert len(heard) == 1


def test_shares_of_a_way():
    assert share_of_way(1.0, 1.0, 1e-4) == 0.0
    assert share_of_way(1.0, 1e-2, 1e-4) == pytest.approx(0.5)
    assert share_of_way(1.0, 1e-5, 1e-4) == 1.0
    assert share_of_way(1.0, 2.0, 1e-4) == 0.0
    assert share_of_way(np.inf, 1.0, 1e-4) == 0.0
    assert share_of_way(1.0, 0.5, 0.0) == 0.0
    out = []
    tell = paced(out.append)
    for share in (0.1, 0.05, 0.2):
        tell(share)
    assert out == [0.1]  # the others came too soon, or were no news


def test_paths_tell_how_much_of_c_they_have_seen(always):
    for path, target in ((SVCPath(C_max=100.0), Y), (SVRPath(C_max=100.0), TARGET), (SVCPath(), THREE[1])):
        told = []
        with waiting(told.append):
            path.fit(THREE[0] if target is THREE[1] else X, target)
        assert told[-1] == pytest.approx(1.0)
        assert told == sorted(told)


@pytest.mark.parametrize("cache_size", [1000, 0.01], ids=["shared", "alone"])
def test_searches_count_their_fits_and_parts_of_them(cache_size, always, capsys, monkeypatch):
    monkeypatch.setattr("mercer.solvers.dual.decomposition.DENSE", 64)
    told = []
    machine = SVC(gamma=2.0, cache_size=0.1, tol=1e-5, n_jobs=1)
    grid = {"C": [0.1, 1.0, 100.0]}
    search = SVCSearch(estimator=machine, param_grid=grid, cv=2, cache_size=cache_size, n_jobs=1)
    with listening(lambda done, total: told.append((done, total))):
        search.fit(X, Y)
    assert told[0] == (0.0, 6)
    assert {total for _, total in told} == {6}
    done = [done for done, _ in told]
    assert done == sorted(done)
    assert done[-1] == 6
    assert set(range(7)) <= set(done)
    if cache_size < 1:
        assert any(d % 1 for d in done)  # fits of their own are seen on their way
    assert capsys.readouterr().out == ""
