"""`mercer convert`: what one format says the others say too."""

import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

pd = pytest.importorskip("pandas")
onnxruntime = pytest.importorskip("onnxruntime")


def run_onnx(path, data):
    """Return the outputs of a graph on a table, as a program that knows nothing of mercer gets them."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = {given.name: given.type for given in session.get_inputs()}
    if list(inputs) == ["X"]:
        feeds = {"X": np.asarray(data, dtype=np.float64)}
    else:
        feeds = {
            name: (
                data[name].fillna("").to_numpy(dtype=object)
                if kind == "tensor(string)"
                else data[name].to_numpy(dtype=np.float64)
            )[:, None]
            for name, kind in inputs.items()
        }
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds), strict=True))


def assert_onnx_predicts(mercer_command, model, file, data, *options):
    """Compare a converted model with ``mercer predict`` on the same file."""
    target = model.replace(".mercer", ".onnx")
    done = mercer_command("convert", model, target)
    assert done.code == 0, done.err
    arguments = ["predict", model, file, "-o", "said.csv", *options]
    classifier = "prediction" not in (out := run_onnx(target, data))
    arguments += ["--decision"] if classifier else []
    arguments += ["--proba"] if "probabilities" in out else []
    told = mercer_command(*arguments)
    assert told.code == 0, told.err
    said = pd.read_csv("said.csv")
    if not classifier:
        np.testing.assert_allclose(out["prediction"], said["prediction"], rtol=0, atol=1e-6)
        return out
    assert [str(label) for label in out["label"]] == [str(label) for label in said["prediction"]]
    decisions = said[[name for name in said if name.startswith("decision")]].to_numpy()
    np.testing.assert_allclose(out["decision"].reshape(decisions.shape), decisions, rtol=0, atol=1e-6)
    if "probabilities" in out:
        wanted = said[[name for name in said if name.startswith("p(")]].to_numpy()
        np.testing.assert_allclose(out["probabilities"], wanted, rtol=0, atol=1e-6)
    return out


def test_text_gaps_and_probabilities(mercer_command, people):
    options = ["--target", "buys", "--impute", "median", "--probability", "--folds", "0", "-q"]
    assert mercer_command("train", "gaps.csv", *options).code == 0
    gaps = pd.read_csv("gaps.csv")
    out = assert_onnx_predicts(mercer_command, "gaps.mercer", "gaps.csv", gaps)
    assert out["probabilities"].shape == (120, 2)
    new = pd.read_csv("new.csv")
    new.loc[3, "city"] = "Atlantis"
    new.to_csv("strange.csv", index=False)
    assert_onnx_predicts(mercer_command, "gaps.mercer", "strange.csv", new)


@pytest.mark.parametrize("options", [["--probability"], ["--nu", "0.2", "--kernel", "poly"], ["--no-scale"]])
def test_many_classes(mercer_command, options):
    assert mercer_command("train", "iris", "--folds", "0", "-q", *options).code == 0
    frame = load_iris(as_frame=True).data
    frame.to_csv("flowers.csv", index=False)
    out = assert_onnx_predicts(mercer_command, "iris.mercer", "flowers.csv", frame)
    assert ("probabilities" in out) == ("--probability" in options)


def test_numbers_as_target_and_none(mercer_command, people):
    people.drop(columns="buys").to_csv("earn.csv", index=False)
    assert mercer_command("train", "earn.csv", "--target", "income", "--folds", "0", "-q").code == 0
    assert_onnx_predicts(mercer_command, "earn.mercer", "earn.csv", people)
    assert mercer_command("train", "earn.csv", "--target", "none", "--folds", "0", "-q", "--force").code == 0
    out = assert_onnx_predicts(mercer_command, "earn.mercer", "earn.csv", people)
    assert set(out["label"]) == {-1, 1}


def test_sparse_rows(mercer_command, tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.4), 3)
    X[0, 5] = 1.0
    lines = [
        f"{int(row[0] + row[1] > 0)} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v) for row in X
    ]
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    assert mercer_command("train", "rows.svm", "--folds", "0", "-q").code == 0
    assert_onnx_predicts(mercer_command, "rows.mercer", "rows.svm", X)


def test_libsvm_to_everything_and_back(mercer_command, tmp_path):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(60, 3)), 4)
    y = 1 + np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [-0.5, 0.5])
    rows = [
        f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row))
        for label, row in zip(y, X, strict=True)
    ]
    (tmp_path / "rows.svm").write_text("\n".join(rows) + "\n")
    assert mercer_command("svm-train", "-q", "-b", "1", "rows.svm", "old.model").code == 0
    assert mercer_command("convert", "old.model", "new.mercer").code == 0
    assert mercer_command("convert", "old.model", "old.onnx").code == 0
    out = assert_onnx_predicts(mercer_command, "new.mercer", "rows.svm", X)
    straight = run_onnx("old.onnx", X)
    assert straight.keys() == out.keys()
    for name, values in out.items():
        np.testing.assert_array_equal(straight[name], values)
    assert mercer_command("convert", "new.mercer", "again.model").code == 0
    first, second = (
        mercer_command("predict", name, "rows.svm", "--decision").out for name in ("old.model", "again.model")
    )
    assert first == second
    assert mercer_command("convert", "again.model", "copy", "--to", "libsvm").code == 0
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "again.model").read_bytes()


def test_a_copy_can_still_be_verified(mercer_command, people):
    mercer_command("train", "people.csv", "--target", "buys", "--folds", "0", "-q")
    assert mercer_command("convert", "people.mercer", "copy.mercer").code == 0
    found = mercer_command("verify", "copy.mercer", "people.csv", "--target", "buys", "--json")
    assert found.code == 0
    assert found.json["same_data"] is True


def test_what_cannot_be_converted_is_told_by_name(mercer_command, tmp_path, people):
    (tmp_path / "K.svm").write_text(
        "".join(f"{1 - 2 * (i % 2)} 0:{i + 1} 1:{i} 2:{2 * i}\n" for i in range(2))
    )
    assert mercer_command("svm-train", "-q", "-t", "4", "K.svm", "K.model").code == 0
    refused = mercer_command("convert", "K.model", "K.onnx")
    assert refused.code == 2
    assert refused.err.startswith("mercer: kernel Precomputed() cannot be exported to ONNX")
    assert refused.err.count("\n") == 1
    assert not (tmp_path / "K.onnx").exists()
    mercer_command("train", "people.csv", "--target", "buys", "--folds", "0", "-q")
    assert mercer_command("convert", "people.mercer", "people.onnx").code == 0
    for command in (["convert", "people.onnx", "b.mercer"], ["predict", "people.onnx", "people.csv"]):
        back = mercer_command(*command)
        assert back.code == 2
        assert "people.onnx is an ONNX file: mercer writes ONNX files" in back.err
    assert "nowhere.mercer does not exist" in mercer_command("convert", "nowhere.mercer", "a.onnx").err
    unknown = mercer_command("convert", "people.mercer", "people.onnx", "--to", "pmml")
    assert unknown.code == 2
    assert "--to pmml is invalid: give --to mercer, --to libsvm or --to onnx" in unknown.err
    assert (
        "the extension of people.pmml is not a known format"
        in mercer_command("convert", "people.mercer", "people.pmml").err
    )


def test_what_was_done_is_told_to_people_and_to_machines(mercer_command, people):
    mercer_command("train", "people.csv", "--target", "buys", "--folds", "0", "-q")
    assert "wrote people.onnx: SVC" in mercer_command("convert", "people.mercer", "people.onnx").err
    assert mercer_command("convert", "people.mercer", "people.onnx", "--quiet").err == ""
    assert mercer_command("convert", "people.mercer", "people.onnx", "--json").json == {
        "command": "convert",
        "source": "people.mercer",
        "destination": "people.onnx",
        "format": "onnx",
        "machine": "SVC",
    }


def test_without_onnx_the_extra_is_named(mercer_command, people, monkeypatch):
    mercer_command("train", "people.csv", "--target", "buys", "--folds", "0", "-q")
    monkeypatch.setitem(sys.modules, "onnx", None)
    missing = mercer_command("convert", "people.mercer", "people.onnx")
    assert missing.code == 3
    assert "pip install 'mercer[onnx]'" in missing.err
