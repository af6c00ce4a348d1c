"""Tables with text columns, and the formats of pandas and pyarrow."""

import gzip

import numpy as np
import pandas as pd
import pytest
from file_samples import assert_same_answers
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mercer
from mercer.io import (
    DataFileError,
    MissingExtraError,
    dumps,
    extras,
    fingerprint,
    loads,
    read_batches,
    read_data,
)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": rng.normal(size=200),
            "colour": rng.choice(["red", "green, or so", 'blue "ish"'], 200),
            "count": rng.integers(0, 9, 200),
            "label": rng.choice(["yes", "no"], 200),
        }
    )


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "csv.gz", "parquet.gz"])
def test_text_columns_in_every_format(frame, tmp_path, kind):
    frame = frame.copy()
    frame.loc[3, "size"] = np.nan
    frame.loc[4, "colour"] = None
    path = tmp_path / f"t.{kind}"
    if kind.startswith("csv"):
        frame.to_csv(path, index=False)
    elif kind == "feather":
        frame.to_feather(path)
    else:
        frame.to_parquet(tmp_path / "t.parquet", row_group_size=70)
    if kind == "parquet.gz":
        path.write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    table = read_data(path)
    assert list(table.X.columns) == ["size", "colour", "count"]
    np.testing.assert_array_equal(table.X["size"].to_numpy(), frame["size"].to_numpy())
    assert table.categorical == ("colour",)
    assert table.categories["colour"] == tuple(sorted(set(frame["colour"].dropna())))
    assert table.n_missing() == {"size": 1, "colour": 1}
    assert table.y.tolist() == frame["label"].tolist()
    batches = list(read_batches(path, target="label", batch_rows=30, categorical=["colour", "label"]))
    assert max(b.n_rows for b in batches) <= 30
    joined = pd.concat([b.X for b in batches], ignore_index=True)
    pd.testing.assert_frame_equal(joined, table.X, check_dtype=False)
    chosen = read_data(path, features=["count", "size"])
    assert isinstance(chosen.X, np.ndarray)
    np.testing.assert_array_equal(chosen.X[:, 0], frame["count"].to_numpy())


def test_numbers_that_are_names(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        table = read_data(tmp_path / name, categorical=["colour", "count", "label"])
        assert table.categorical == ("colour", "count")
        assert set(table.categories["count"]) <= set("012345678")
        with pytest.raises(DataFileError, match="'colour' is"):
            read_data(tmp_path / name, categorical=["label"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_truths_that_are_names_are_the_same_in_every_format(tmp_path, kind):
    frame = pd.DataFrame({"kept": [True, False, None, True], "y": [1, 2, 1, 2]}, dtype=object)
    frame["kept"] = frame["kept"].astype("boolean")
    path = tmp_path / f"t.{kind}"
    frame["y"] = frame["y"].astype(int)
    frame.to_csv(path, index=False) if kind == "csv" else getattr(frame, f"to_{kind}")(path)
    table = read_data(path, categorical=["kept"])
    assert table.categories == {"kept": ("False", "True")}


def test_a_pipeline_over_a_frame_is_saved(frame):
    X, y = frame[["size", "colour", "count"]], frame["label"].to_numpy(dtype=object)
    prepare = make_column_transformer(
        (StandardScaler(), ["size", "count"]),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(pattern="colour")),
    )
    model = make_pipeline(prepare, mercer.SVC(probability=True)).fit(X, y)
    file = loads(dumps(model, X=X, y=y))
    assert_same_answers(model, file.model, X)
    assert file.training.features == fingerprint(X)
    assert fingerprint(X) != fingerprint(X.assign(colour="red"))
    assert file.summary["feature_names"] == ["size", "colour", "count"]
    names = mercer.SVC().fit(X[["size", "count"]], y)
    again = loads(dumps(names)).model
    np.testing.assert_array_equal(again.feature_names_in_, ["size", "count"])


def test_frames_of_numbers(tmp_path):
    pd.DataFrame({"a": [1, 2], "b": [True, False], "y": [0.5, 1.5]}).to_parquet(tmp_path / "t.parquet")
    table = read_data(tmp_path / "t.parquet")
    np.testing.assert_array_equal(table.X, [[1, 1], [2, 0]])
    assert list(table.frame().columns) == ["a", "b"]
    assert list(read_data("iris").frame().columns) == list(read_data("iris").feature_names)


def test_dates_are_texts_and_durations_are_refused_by_name(tmp_path):
    when = pd.to_datetime(["2020-01-01", "2020-02-03"])
    pd.DataFrame({"when": when, "y": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    found = read_data(tmp_path / "t.parquet").categories["when"]
    assert found == ("2020-01-01 00:00:00", "2020-02-03 00:00:00")
    pd.DataFrame({"when": when - when[0], "y": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataFileError, match="column 'when' holds duration"):
        read_data(tmp_path / "t.parquet")


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("seed", range(8))
def test_damaged_binary_tables_are_refused_or_read(frame, tmp_path, kind, seed):
    path = tmp_path / f"t.{kind}"
    getattr(frame, f"to_{kind}")(path)
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    if seed % 2:
        del content[int(rng.integers(0, len(content))) :]
    else:
        for at in rng.integers(0, len(content), 5):
            content[at] ^= 1 << int(rng.integers(0, 8))
    path.write_bytes(content)
    try:
        table = read_data(path)
    except DataFileError:
        return
    assert table.n_rows == 200


def test_a_missing_package_is_named_with_its_extra(frame, tmp_path, monkeypatch):
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")

    model = mercer.SVC().fit(np.eye(4), [0, 0, 1, 1])
    present = extras.importlib.import_module

    def absent(name):
        if name.partition(".")[0] not in ("pandas", "pyarrow", "onnx"):
            return present(name)
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras.importlib, "import_module", absent)
    with pytest.raises(MissingExtraError, match=r"text columns \('colour'\) needs pandas.*mercer\[files\]"):
        read_data(tmp_path / "t.csv")
    with pytest.raises(MissingExtraError, match=r"reading Parquet needs pyarrow.*mercer\[files\]"):
        read_data(tmp_path / "t.parquet")
    with pytest.raises(MissingExtraError, match=r"ONNX export needs onnx.*mercer\[onnx\]"):
        mercer.io.to_onnx(model)
