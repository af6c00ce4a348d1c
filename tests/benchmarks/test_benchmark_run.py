"""The benchmark end to end on toy data, and its readers."""

import gzip
import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

pytest.importorskip("psutil")

from benchmarks.files import DataError, read_file
from benchmarks.stats import growth_exponent, paired_ratios

from benchmarks import growth, run, sets, targets


@pytest.mark.slow
def test_a_whole_run_on_synthetic_data(tmp_path, capsys):
    code = run.main(
        ["--limit", "200", "--peers", "sklearn", "--rounds", "1", "--touch-gb", "0", "--predict-rows", "50",
         "--sets", "synthetic-C1", "synthetic-12class", "--out", str(tmp_path)]
    )  # fmt: skip
    report = capsys.readouterr().out
    results = json.loads((tmp_path / "results.json").read_text())
    assert code == 0
    assert [r["set"] for r in results["fit"]] == ["synthetic-C1", "synthetic-12class"]
    for record in results["fit"]:
        for name in ("mercer", "sklearn"):
            library = record["libraries"][name]
            assert library["verdict"] == "ok", library
            assert library["fit"]["0"] > 0
            assert library["predict"]["0"] > 0
            assert library["agreement"] >= 0.98
            assert library["checks"]["0"]["violation"] <= 1.05e-3
        ours = record["libraries"]["mercer"]
        assert set(ours["peak_at_cache"]) == {"1000", "200"}
        assert ours["checks"]["0"]["claimed"] == pytest.approx(ours["checks"]["0"]["violation"], rel=1e-6)
    assert "sklearn / mercer" in report
    assert "| target | limit | measured | met |" in report
    assert (tmp_path / "report.md").read_text() == report.rstrip("\n") + "\n"


def test_missing_sets_are_named(tmp_path):
    options = run.parser().parse_args(["--data", str(tmp_path), "--sets", "a9a"])
    skipped = {}
    assert run.chosen_problems(options, {"fit"}, skipped) == []
    assert set(skipped) == {"a9a-dense", "a9a-sparse"}


def test_libsvm_text_is_found_by_name(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)) * (rng.random((30, 5)) < 0.4)
    X[0, 4] = 1.0
    y = np.where(X[:, 0] > 0, 1, -1)
    (tmp_path / "deep").mkdir()
    with gzip.open(tmp_path / "deep" / "a9a.gz", "wb") as stream:
        dump_svmlight_file(X, y, stream, zero_based=False)
    with gzip.open(tmp_path / "a9a.t.gz", "wb") as stream:  # another file of that family: not to be taken
        dump_svmlight_file(X[:3], y[:3], stream, zero_based=False)
    dense, sparse = (sets.load(name, tmp_path) for name in ("a9a-dense", "a9a-sparse"))
    np.testing.assert_allclose(dense.X, X, rtol=1e-12)
    np.testing.assert_allclose(sparse.X.toarray(), X, rtol=1e-12)
    assert sparse.X.indices.dtype == np.int32
    assert (dense.C, dense.gamma, dense.n) == (1.0, 0.05, 30)
    np.testing.assert_array_equal(dense.y, (y > 0).astype(int))


def test_other_formats(tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    np.savez(tmp_path / "one.npz", X=X, y=np.array([0, 1, 0, 1, 0, 1]))
    problem = sets.load("one", tmp_path)
    assert not problem.regression
    assert problem.gamma == pytest.approx(1 / (2 * X.var()))
    (tmp_path / "two.csv").write_text("y,a,b\n" + "".join(f"{0.5 + i * i},{i},{-i}\n" for i in range(60)))
    problem = sets.load("two", tmp_path)
    assert problem.regression
    np.testing.assert_array_equal(problem.X[:, 1], -np.arange(60.0))
    (tmp_path / "three.csv").write_text("6,1,2\n5,3,4\n")
    np.testing.assert_array_equal(read_file(tmp_path / "three.csv", target="0")[1], [6, 5])
    with pytest.raises(DataError, match="no column"):
        read_file(tmp_path / "three.csv", target="nothing")
    arff = "@relation r\n@attribute s {M,F}\n@attribute x real\n@attribute t real\n@data\nM,1.5,3\nF,2.5,4\n"
    (tmp_path / "four.arff").write_text(arff)
    X, y = read_file(tmp_path / "four.arff")
    np.testing.assert_array_equal(X, [[1, 0, 1.5], [0, 1, 2.5]])
    np.testing.assert_array_equal(y, [3, 4])


def test_samples_are_nested_and_hold_every_class():
    problem = run.synthetic.classification(300, classes=5)
    small, large = problem.sample(20), problem.sample(100)
    np.testing.assert_array_equal(small, large[:20])
    assert set(problem.y[small]) == set(range(5))
    assert np.unique(problem.sample(300)).size == 300


def test_growth_exponent_of_a_power():
    assert growth_exponent([10, 100, 1000], [2.0, 2.0 * 10**1.5, 2.0 * 10**3]) == pytest.approx(1.5)


def test_growth_needs_every_size_and_a_solution(tmp_path):
    def library(seconds, verdict="ok"):
        return {"median_fit": seconds, "verdict": verdict}

    records = [
        {"n": n, "libraries": {"mercer": library(n**1.5), "sklearn": library(n**2.0, verdict)}}
        for n, verdict in ((100, "ok"), (200, "early"), (400, "ok"))
    ]
    assert growth.exponents(records) == pytest.approx({"mercer": 1.5, "sklearn": 2.0})
    records[1]["libraries"]["sklearn"]["verdict"] = "wrong"
    exponents = growth.exponents(records)
    assert exponents == pytest.approx({"mercer": 1.5})
    pytest.importorskip("matplotlib")
    assert growth.picture({"set": "x", "records": records, "exponents": exponents}, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def _record(name, n, ours, theirs, verdict="ok", peer_verdict="ok"):
    def library(times, kind):
        return {"fit": dict(enumerate(times)), "predict": {}, "verdict": kind, "peak_at_cache": {"200": 1e8}}

    return {
        "set": name, "n": n, "classes": 2, "predict_rows": 0, "data_bytes": 1e6,
        "libraries": {"mercer": library(ours, verdict), "intelex": library(theirs, peer_verdict)},
    }  # fmt: skip


def test_ratios_are_taken_within_rounds():
    assert paired_ratios({0: 4.0, 1: 9.0, 2: 1.0}, {0: 2.0, 1: 3.0}) == [2.0, 3.0]


def test_targets_need_believed_times():
    good = [_record("one", 20000, [1.0, 1.0], [4.0, 4.0]), _record("two", 20000, [1.0, 2.0], [9.0, 18.0])]
    mean, worst = (targets.lines({"fit": good})[i] for i in (0, 2))
    assert mean.met
    assert not mean.complete
    whole = [_record(name, 20000, [1.0], [4.0]) for name in targets.ALL_LARGE]
    assert targets.lines({"fit": whole})[0].complete
    assert mean.value.startswith("6.00")
    assert worst.met
    assert worst.value.startswith("4.00 (one)")
    for verdict, peer, met in (("early", "ok", False), ("ok", "wrong", False), ("ok", "early", True)):
        line = targets.lines({"fit": [good[0], _record("two", 20000, [1.0], [9.0], verdict, peer)]})[0]
        assert line.met is met
    slow = targets.lines({"fit": [_record("one", 20000, [2.0], [3.0])]})[0]
    assert slow.met is False
    assert targets.lines({"fit": []})[0].met is None
