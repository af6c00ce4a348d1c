"""The report: its numbers, and how it reads."""

import pickle
import re

import numpy as np
import pytest
from report_lines import fact
from scipy.sparse import csr_matrix

from mercer import SVC, SVDD, OneClassSVM
from mercer.bounds import Fact, Report, report
from mercer.kernels import RBF


def test_a_report_can_be_stored(cancer):
    X, y = cancer
    found = report(SVC(gamma=1.0).fit(X, y), X, y)
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert again.facts[-1] == Fact(*(getattr(found.facts[-1], name) for name in ("name", "value", "note")))


def test_the_facts(cancer):
    X, y = cancer
    model = SVC(gamma=1.0, tol=1e-6).fit(X, y)
    found = report(model, X, y)
    assert isinstance(found, Report)
    assert fact(found, "margin") == pytest.approx(model.margin_, rel=1e-6)
    assert fact(found, "support vectors") == model.support_.size
    assert fact(found, "training errors") == (model.predict(X) != y).sum()
    assert fact(found, "mean slack") == pytest.approx(model.slacks(X, y).mean())
    assert fact(found, "trace of K") == pytest.approx(len(y))
    exact = SVDD(nu=0, gamma=1.0).fit(X).radius_
    assert exact <= fact(found, "radius of the smallest ball") * (1 + 1e-6) <= 1.05 * exact
    assert all(
        line.seen == pytest.approx((model.predict(X) != y).mean()) for line in found if line.kind != "rate"
    )


@pytest.mark.parametrize("kind", ["dense", "sparse", "precomputed"])
def test_kinds_of_data_give_the_same_report(cancer, kind):
    X, y = cancer
    X, y = X[:200], y[:200]
    expected = report(SVC(kernel=RBF(1.0), tol=1e-7).fit(X, y), X, y, radius=1.0)
    if kind == "precomputed":
        K = RBF(1.0)(X)
        found = report(SVC(kernel="precomputed", tol=1e-7).fit(K, y), K, y, radius=1.0)
    else:
        data = csr_matrix(X) if kind == "sparse" else X
        found = report(SVC(kernel=RBF(1.0), tol=1e-7).fit(data, y), data, y, radius=1.0)
    for line, same in zip(found, expected, strict=True):
        assert line.value == pytest.approx(same.value, rel=1e-4)


def test_estimates_from_elsewhere_promise_nothing(cancer):
    X, y = cancer
    found = report(SVC(gamma=1.0).fit(X, y), X, y, estimates={"leave-one-out": 0.03, "span": 0.05})
    assert found["span"].value == 0.05
    assert found["span"].verdict == "an estimate"
    assert found.best is None or found.best.kind != "estimate"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, X, y: report(m, X[:50], y[:50]), "trained on 569"),
        (lambda m, X, y: report(m, X, y[:50]), "y has 50 entries"),
        (lambda m, X, y: report(m, X), "needs y"),
        (lambda m, X, y: report(m, X, y, delta=0), "delta=0"),
        (lambda m, X, y: report(m, X, y, radius=-1), "radius=-1"),
        (lambda m, X, y: report(m, X, y, candidates=0), "candidates=0"),
        (lambda m, X, y: report(m, X, y, X_test=X), "y_test"),
        (lambda m, X, y: report(m, X, y, rate=2), "rate=2"),
    ],
)
def test_bad_arguments_are_named(cancer, call, message):
    X, y = cancer
    model = SVC(gamma=1.0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        call(model, X, y)


def test_it_reads_without_the_books(cancer):
    X, y = cancer
    model = SVC(gamma="scale").fit(X[:400], y[:400])
    found = report(model, X[:400], y[:400], X_test=X[400:], y_test=y[400:])
    text = str(found)
    assert repr(found) == text
    assert max(map(len, text.splitlines())) <= 100
    lines = text.splitlines()
    assert lines[0].startswith("Generalisation bounds for SVC()")
    assert lines[3].startswith("Best bound: A new point is misclassified with probability at most 0.0")
    for line in found:
        assert any(row.startswith(line.name) and line.verdict in row for row in lines)
        assert re.search(rf"^  {re.escape(line.name)}: ", text, re.MULTILINE)
    assert "VIOLATED: The kernel's gamma" in text
    assert "your assumption: The training points were drawn independently" in text
    assert not re.search(r"\bnan\b|\binf\b|None|\{value\}", text)


def test_html(cancer):
    X, y = cancer
    model = SVC(gamma=1.0).fit(X, y)
    found = report(model, X, y)
    page = found._repr_html_()
    for tag in ("div", "table", "tr", "td", "ul", "li", "details", "h4"):
        assert len(re.findall(rf"<{tag}[ >]", page)) == page.count(f"</{tag}>")
    assert all(line.name in page and line.verdict in page for line in found)
    named = report(SVC(gamma=1.0).fit(X, np.where(y, "<b>", "a&b")), X, np.where(y, "<b>", "a&b"))
    assert "&lt;b&gt;" in named._repr_html_()
    assert "'<b>'" not in named._repr_html_()


@pytest.mark.parametrize("detector", [False, True])
@pytest.mark.filterwarnings("ignore::mercer.estimators.machine.IndefiniteKernelWarning")
def test_a_kernel_without_a_feature_space_is_promised_nothing(cancer, detector):
    X, y = cancer
    model = (OneClassSVM if detector else SVC)(kernel="sigmoid", gamma=1.0, coef0=-2.0).fit(X, y)
    found = report(model, X, y, X_test=X[:100], y_test=y[:100])
    assert [line.value is None for line in found] == [True, False]
    assert "not positive semi-definite" in str(found)


def test_a_machine_without_a_weight_vector_says_so():
    X = np.zeros((10, 1))
    y = np.array([0, 1] * 5)
    found = report(SVC(kernel="linear").fit(X, y), X, y)
    assert "constant" in str(found)
