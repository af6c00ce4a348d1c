"""Prediction intervals and sets of conformal models in the command."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import ConformalClassifier, ConformalRegressor


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": 5.0 * rng.normal(size=80)})
    frame.head(10).to_csv(tmp_path / "new.csv", index=False)
    return frame, frame["a"] + 0.3 * rng.normal(size=80)


def test_intervals(mercer_command, table, tmp_path):
    X, y = table
    inside = ConformalRegressor(mercer.SVR(), method="jackknife+")
    model = make_pipeline(StandardScaler().set_output(transform="default"), inside).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    done = mercer_command("predict", "model.mercer", "new.csv", "--interval", "0.8", "-o", "out.csv")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "out.csv")
    wanted = model[-1].predict_interval(model[:-1].transform(X.head(10)), coverage=0.8)
    np.testing.assert_allclose(found["low"], wanted.low)
    np.testing.assert_allclose(found["high"], wanted.high)
    assert "at least 0.6 guaranteed, 0.8 asked for" in " ".join(done.err.split())
    assert mercer_command("predict", "model.mercer", "new.csv", "--sets", "0.8").code != 0


def test_sets(mercer_command, table, tmp_path):
    X, y = table
    classes = np.where(y > 0, "up", "down")
    model = make_pipeline(StandardScaler(), ConformalClassifier(mercer.SVC())).fit(X, classes)
    mercer.save(model, tmp_path / "model.mercer")
    done = mercer_command("predict", "model.mercer", "new.csv", "--sets", "0.95", "-o", "out.csv")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    wanted = model[-1].predict_set(model[:-1].transform(X.head(10)), coverage=0.95)
    assert found["set"].tolist() == ["|".join(one) for one in wanted]
    assert "0.95 asked for" in " ".join(done.err.split())
    done = mercer_command("predict", "model.mercer", "new.csv", "--sets", "1.5")
    assert "between 0 and 1" in done.err
