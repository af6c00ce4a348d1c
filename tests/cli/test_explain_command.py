"""``mercer explain``: importance of columns, and why a row gets its prediction."""

import numpy as np
import pytest

import mercer

pytest.importorskip("typer")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def trained(mercer_command, people):
    assert mercer_command("train", "people.csv", "--target", "buys").code == 0
    return mercer.load("people.mercer")


def test_importance_of_the_columns(mercer_command, trained, people):
    document = mercer_command("explain", "people.mercer", "people.csv", "--target", "buys", "--json").json
    expected = mercer.inspect.permutation_importance(
        trained, people.drop(columns="buys"), people["buys"], repeats=10
    )
    assert [one["name"] for one in document["columns"]] == ["age", "city", "income"]
    np.testing.assert_allclose(
        [one["importance"] for one in document["columns"]], np.sort(expected.mean)[::-1]
    )
    assert document["trained_on"]
    done = mercer_command("explain", "people.mercer", "people.csv")
    assert done.code == 0
    assert "trained on these rows" in done.err
    assert done.out.splitlines()[4].split()[0] == "age"
    refused = mercer_command("explain", "people.mercer", "new.csv", "--target", "none")
    assert refused.code == 2
    assert "give --target COLUMN, or --row" in refused.err


def test_many_rows_are_sampled(mercer_command, trained, people):
    pandas.concat([people] * 10).to_csv("many.csv", index=False)
    done = mercer_command("explain", "people.mercer", "many.csv", "--json")
    assert done.json["rows"] == 1000
    assert "1000 of 1200 rows" in mercer_command("explain", "people.mercer", "many.csv").err


def test_why_a_row_gets_its_prediction(mercer_command, trained, people):
    found = mercer_command("explain", "people.mercer", "people.csv", "--row", 17, "--json").json
    x = people.drop(columns="buys").iloc[[17]]
    sign = 1.0 if found["prediction"] == "yes" else -1.0
    assert found["prediction"] == trained.predict(x)[0]
    assert found["value"] == pytest.approx(sign * trained.decision_function(x)[0])
    total = found["mean"] + sum(one["share"] for one in found["columns"])
    assert total == pytest.approx(found["value"], abs=1e-8)
    values = {one["name"]: one["value"] for one in found["columns"]}
    assert values == {name: x[name].iloc[0] for name in x.columns}
    carried = found["constant"] + sum(one["contribution"] for one in found["carriers"])
    assert carried == pytest.approx(found["value"], abs=1e-8)
    assert {one["row"] for one in found["carriers"]} <= set(trained[-1].support_.tolist())
    moved = x.copy()
    for one in found["changes"]:
        moved[one["column"]] = [one["to"]]
    assert trained.predict(moved)[0] == found["after"] != found["prediction"]
    shown = mercer_command("explain", "people.mercer", "people.csv", "--row", 17).out
    assert "rows of the same file" in shown
    assert "A close counterfactual" in shown


def test_the_counterfactual_follows_its_options(mercer_command, trained):
    base = ("explain", "people.mercer", "people.csv", "--row", 17)
    found = mercer_command(*base, "--to", "no", "--change", "age", "--json").json
    assert [one["column"] for one in found["changes"]] == ["age"]
    assert found["after"] == "no"
    for options, words in (
        (("--to", "nope"), "the classes are 'no', 'yes'"),
        (("--change", "ages"), "Did you mean 'age'"),
        (("--to", "yes"), "already"),
    ):
        refused = mercer_command(*base, *options)
        assert refused.code == 2
        assert words in refused.err
    refused = mercer_command("explain", "people.mercer", "people.csv", "--row", 120)
    assert refused.code == 2
    assert "120 rows, counted from 0" in refused.err
    refused = mercer_command("explain", "people.mercer", "people.csv", "--to", "no")
    assert refused.code == 2
    assert "give --row" in refused.err
    nowhere = mercer_command(*base, "--change", "income", "--json").json
    assert nowhere["changes"] or "no row of people.csv" in nowhere["no_changes"]


def test_several_classes(mercer_command):
    assert mercer_command("train", "iris", "-o", "iris.mercer").code == 0
    found = mercer_command("explain", "iris.mercer", "iris", "--row", 77, "--json").json
    assert found["between"][0] == found["prediction"]
    # The predicted class wins against the next one.
    assert found["constant"] + sum(one["contribution"] for one in found["carriers"]) > 0
    total = found["mean"] + sum(one["share"] for one in found["columns"])
    assert total == pytest.approx(found["value"], abs=1e-8)
    assert "in the decision between" in mercer_command("explain", "iris.mercer", "iris", "--row", 77).out


def test_regression_has_slopes_in_the_units_of_the_file(mercer_command):
    draw = np.random.default_rng(0)
    table = pandas.DataFrame({"a": draw.normal(size=80), "b": 100 * draw.normal(size=80)})
    table["y"] = 3 * table["a"] + 0.02 * table["b"]
    table.to_csv("line.csv", index=False)
    assert (
        mercer_command("train", "line.csv", "--kernel", "linear", "--task", "regress", "--C", 100).code == 0
    )
    found = mercer_command("explain", "line.mercer", "line.csv", "--row", 4, "--json").json
    slopes = {one["name"]: one["slope"] for one in found["columns"]}
    assert slopes["a"] == pytest.approx(3.0, rel=0.15)
    assert slopes["b"] == pytest.approx(0.02, rel=0.15)
    assert "give --to NUMBER" in found["no_changes"]
    reached = mercer_command("explain", "line.mercer", "line.csv", "--row", 4, "--to", 2.5, "--json").json
    assert reached["after"] == pytest.approx(2.5, abs=0.01)
    assert mercer_command("explain", "line.mercer", "line.csv", "--row", 4, "--to", "big").code == 2


def test_detectors_and_sparse_files(mercer_command, people, tmp_path):
    assert mercer_command("train", "new.csv", "--task", "novelty", "--target", "none").code == 0
    assert mercer_command("explain", "new.mercer", "new.csv", "--row", 2).code == 0
    refused = mercer_command("explain", "new.mercer", "new.csv")
    assert refused.code == 2
    assert "novelty detector" in refused.err
    rows = [f"{1 if k % 3 else -1} 1:{k % 3} 2:{(7 * k) % 5}" for k in range(40)]
    (tmp_path / "train.svm").write_text("\n".join(rows) + "\n")
    assert mercer_command("train", "train.svm").code == 0
    assert mercer_command("explain", "train.mercer", "train.svm").code == 0
    done = mercer_command("explain", "train.mercer", "train.svm", "--row", 3, "--json")
    assert done.code == 0
    assert len(done.json["columns"]) == 2


def test_items_without_columns_are_refused(mercer_command, tmp_path):
    lines = [f">s{k} class={k % 2}\n{'ACGT' * 3 if k % 2 else 'GGTT' * 3}{'ACGT'[k % 4]}" for k in range(24)]
    (tmp_path / "s.fasta").write_text("\n".join(lines) + "\n")
    assert mercer_command("train", "s.fasta", "--target", "class", "--kernel", "spectrum").code == 0
    refused = mercer_command("explain", "s.mercer", "s.fasta", "--row", 0)
    assert refused.code == 2
    assert "whole items" in refused.err
