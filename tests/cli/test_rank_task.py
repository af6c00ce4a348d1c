"""``mercer train --task rank``: queries of a ranking file, or of a column."""

import numpy as np
import pytest

import mercer
from mercer.io import read_data


def made(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X, query = rng.normal(size=(n, 3)).round(3), np.repeat(np.arange(n // 10), 10)
    y = np.digitize(X @ [1.0, 0.7, 0.0] + 0.3 * rng.normal(size=n), [-1.0, 0.0, 1.0])
    return X, y, query


@pytest.fixture
def ranking_file(tmp_path):
    X, y, query = made()
    place = tmp_path / "search.dat"
    lines = [
        f"{g} qid:{q + 1} " + " ".join(f"{k + 1}:{v}" for k, v in enumerate(row))
        for row, g, q in zip(X, y, query, strict=True)
    ]
    place.write_text("\n".join(lines) + "\n")
    return place


@pytest.fixture
def table_file(tmp_path):
    X, y, query = made()
    place = tmp_path / "search.csv"
    lines = [f"{a},{b},{c},q{q},{g}" for (a, b, c), g, q in zip(X, y, query, strict=True)]
    place.write_text("a,b,c,query,grade\n" + "\n".join(lines) + "\n")
    return place


def test_queries_of_a_ranking_file(ranking_file, mercer_command):
    said = mercer_command("train", ranking_file, "--format", "svmlight", "--task", "rank", "--group", "qid",
                          "--kernel", "linear", "--no-scale", "--C", "0.5", "--json")  # fmt: skip
    assert said.code == 0, said.err
    document = said.json
    assert (document["task"], document["machine"], document["queries"]) == ("rank", "RankSVM", 12)
    assert document["certificate"]["status"] == "optimal"
    assert document["held_out"]["pair accuracy"] > 0.8
    assert document["held_out"]["Kendall's tau"] > 0.5
    assert 0.8 < document["held_out"]["NDCG"] <= 1.0
    assert len(document["cross_validation"]["scores"]) == 5
    table = read_data(ranking_file, format="svmlight")
    own = mercer.RankSVM(C=0.5).fit(table.X, table.y, group=table.query)
    found = mercer.load("search.mercer")[-1].coef_
    assert found.toarray() == pytest.approx(own.coef_.toarray(), abs=1e-3)


def test_queries_of_a_column_and_predictions_of_new_rows(table_file, mercer_command):
    said = mercer_command("train", table_file, "--target", "grade", "--task", "rank", "--group", "query")
    assert said.code == 0, said.err
    assert "held-out queries" in said.out
    assert "pair accuracy" in said.out
    said = mercer_command("predict", "search.mercer", table_file)
    assert said.code == 0, said.err
    values = np.array([float(line) for line in said.out.split()[1:]])
    _, y, query = made()
    assert mercer.ranking.pair_accuracy(y, values, query) > 0.85


@pytest.mark.parametrize(
    "options",
    [["--nu", "0.1"], ["--probability"], ["--search"], ["--threshold", "0.5"], ["--machine", "gp"],
     ["--scoring", "r2"], ["--updatable"], ["--kernel", "spectrum"], ["--k", "3"]],
)  # fmt: skip
def test_what_rankings_do_not_have_is_refused(table_file, mercer_command, options):
    said = mercer_command(
        "train", table_file, "--target", "grade", "--task", "rank", "--group", "query", *options
    )
    assert said.code != 0
    assert f"--task rank does not support {options[0]}" in " ".join(said.err.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--task", "rank"], "has no qid"),
        (["--task", "rank", "--group", "queryno"], "Did you mean"),
        (["--group", "query"], "--group names the queries"),
        (["--task", "rank", "--group", "query", "--target", "none"], "needs a target of numbers"),
    ],
)
def test_queries_must_be_known(table_file, mercer_command, options, words):
    target = [] if "--target" in options else ["--target", "grade"]
    said = mercer_command("train", table_file, *target, *options)
    assert said.code != 0
    assert words in " ".join(said.err.split())


def test_commands_that_know_no_queries_say_so(table_file, mercer_command):
    mercer_command("train", table_file, "--target", "grade", "--task", "rank", "--group", "query")
    for command in ("evaluate", "verify"):
        said = mercer_command(command, "search.mercer", table_file, "--target", "grade")
        assert said.code != 0
        assert "ranks the rows of queries" in " ".join(said.err.split())
