"""Data frames of pandas and polars."""

import numpy as np
import pytest

from clouds import blobs
from mercer import SVC

COLUMNS = ["width", "height", "depth"]


def frames():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = blobs(50, 3, 3, seed=0)
    names = np.array(["a", "b", "c"])[y]
    yield "pandas", pd.DataFrame(X, columns=COLUMNS), pd.Series(names), X, names
    yield "polars", pl.DataFrame(X, schema=COLUMNS), pl.Series(names), X, names


@pytest.mark.parametrize("which", [0, 1], ids=["pandas", "polars"])
def test_frames_equal_arrays(which):
    _, frame, series, X, names = list(frames())[which]
    model = SVC(tol=1e-8).fit(frame, series)
    assert list(model.feature_names_in_) == COLUMNS
    assert list(model.classes_) == ["a", "b", "c"]
    plain = SVC(tol=1e-8).fit(X, names)
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_allclose(model.decision_function(frame), plain.decision_function(X), atol=1e-10)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[COLUMNS[::-1]])
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)


def test_callables_remember_the_columns():
    pd = pytest.importorskip("pandas")
    X, y = blobs(40, 3, 2, seed=0)
    model = SVC(kernel=lambda A, B: A @ B.T).fit(pd.DataFrame(X, columns=COLUMNS), y)
    assert list(model.feature_names_in_) == COLUMNS
