"""What the comparison with scikit-learn's tests calls a fault, and one module of theirs from end to end."""

import json

import pytest

from . import page
from .classes import MODULES
from .comparison import Comparison, departures, known_tests
from .running import run

THEIRS = {name: {"outcome": "passed", "used": True, "message": ""} for name in ("a", "b[1]", "b[2]", "new")}


def compare(failing, listed, theirs=THEIRS):
    ours = {name: {"outcome": "failed" if name in failing else "passed", "message": "why"} for name in theirs}
    return Comparison.of("module", theirs, ours, listed, known={"a", "b[1]", "b[2]"})


def entry(kind="departure"):
    return {"kind": kind, "reason": "so"}


def test_a_failure_that_is_not_listed_is_a_fault():
    (fault,) = compare({"a"}, {}).faults()
    assert "module::a fails: why" in fault


def test_a_listed_failure_is_none_with_or_without_parameters():
    assert not compare({"a", "b[1]"}, {"a": entry(), "b": entry()}).faults()
    assert not compare({"b[2]"}, {"b[2]": entry()}).faults()
    assert compare({"b[1]"}, {"b[2]": entry()}).faults()


def test_new_tests_and_new_passes_are_told_and_are_no_faults():
    found = compare({"new"}, {"a": entry()})
    assert not found.faults()
    assert ["new" in line or "a passes now" in line for line in found.remarks()] == [True, True]


def test_what_fails_for_scikit_learn_or_concerns_another_class_is_left_out():
    theirs = THEIRS | {
        "a": {"outcome": "failed", "used": True, "message": ""},
        "b[1]": {"outcome": "passed", "used": False, "message": ""},
    }
    found = compare({"a", "b[1]"}, {}, theirs)
    assert (found.theirs, found.faults()) == (["b[2]", "new"], [])


def test_more_than_two_listed_of_a_few_are_too_many():
    three = {"a", "b[1]", "b[2]"}
    (fault,) = compare(three, {"a": entry(), "b": entry()}).faults()
    assert "3 tests are listed, at most 2" in fault
    assert not compare(three, {"a": entry("negative weights"), "b": entry()}).faults()


def test_a_missing_outcome_is_a_failure():
    found = Comparison.of("module", THEIRS, {}, {}, known=set(THEIRS))
    assert len(found.faults()) == len(THEIRS)


def test_every_entry_of_the_table_names_tests_that_exist():
    for module in MODULES:
        known = known_tests(module)
        plain = {name.partition("[")[0] for name in known}
        assert known, module
        assert not [name for name in departures(module) if name not in known | plain], module


def test_only_negative_weights_are_left_out_of_the_count(tmp_path):
    for module in MODULES:
        uncounted = {name for name, e in departures(module).items() if e["kind"] == "negative weights"}
        expanded = {n for n in known_tests(module) if n in uncounted or n.partition("[")[0] in uncounted}
        assert not [name for name in expanded if "zero" in name or "negative_weight" not in name]
    table = tmp_path / "table.toml"
    table.write_text('[[departure]]\nmodule = "m"\nkind = "not yet"\nreason = "so"\ntests = ["a"]\n')
    with pytest.raises(ValueError, match="one of the kinds"):
        departures("m", table)


def test_the_page_says_what_the_table_says():
    text = page.PAGE.read_text(encoding="utf-8")
    told = [line for line in page.block().splitlines() if line.startswith(("### ", "- Differs: "))]
    assert len(told) > 20
    assert not [line for line in told if line not in text], "run python -m tests.peers --page"


def test_figures_are_shown_where_they_were_measured(monkeypatch, tmp_path):
    path = tmp_path / "figures.json"
    monkeypatch.setattr(page, "FIGURES", path)
    assert page.figures() == []
    row = {
        "name": "KernelPCA", "note": "10 components", "n": 2000, "ratio": 0.25, "apart": 3e-13,
        "seconds": {"ours": 0.1, "theirs": 0.4}, "megabytes": {"ours": 34.4, "theirs": 65.0},
    }  # fmt: skip
    path.write_text(json.dumps([row]))
    assert page.figures()[-1] == "| `KernelPCA` (10 components) | 2000 | 0.1 | 0.4 | 0.25 | 34 | 65 | 3e-13 |"
    assert page.block().count("## Time and memory") == 1


@pytest.mark.slow
def test_kernel_ridge_passes_what_scikit_learns_passes():
    module = "sklearn.tests.test_kernel_ridge"
    found = Comparison.of(
        module, run(module, "theirs"), run(module, "ours"), departures(module), known_tests(module)
    )
    assert len(found.theirs) >= 8
    assert not found.faults()
