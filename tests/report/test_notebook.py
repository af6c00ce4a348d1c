"""What a notebook shows of a machine."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer.estimators.notebook import certificate_html
from mercer.problems import Certificate

pytestmark = pytest.mark.core


def test_the_diagram_has_the_certificate(two_clouds):
    X, y = two_clouds
    model = mercer.SVC(C=3.0).fit(X, y)
    html = model._repr_mimebundle_()["text/html"]
    assert "SVC" in html
    assert str(model.certificate_) in html
    assert f"{model.certificate_.dual:.6g}" in html


def test_an_unfitted_machine_has_scikit_learns_diagram_only():
    html = mercer.SVC()._repr_html_()
    assert "SVC" in html
    assert "Certificate" not in html


def test_several_classes_name_the_worst_problem(four_clouds):
    X, y = four_clouds
    model = mercer.SVC().fit(X, y)
    worst = max(model.certificate_.parts, key=lambda part: part.relative_gap)
    assert f"6; the worst: {worst}" in model._repr_html_()


@pytest.mark.parametrize("machine", [mercer.SVR, mercer.NuSVR, mercer.OneClassSVM, mercer.SVDD])
def test_regressors_and_detectors_have_it_too(machine, two_clouds):
    X, y = two_clouds
    assert "proved within" in machine().fit(X, y.astype(float))._repr_html_()


def test_a_limit_that_was_hit_looks_different(two_clouds):
    X, y = two_clouds
    with pytest.warns(ConvergenceWarning):
        model = mercer.SVC(max_iter=1, C=100.0).fit(X, y)
    assert "iteration_limit" in model._repr_html_()
    assert certificate_html(model.certificate_).partition("solid")[2][:8] == " #d55e00"


def test_unknown_numbers_are_called_unknown():
    html = certificate_html(Certificate(np.inf, 1.0, np.inf, np.inf, 0.5, 3, "time_limit", "kkt"))
    assert "unknown" in html
    assert "inf" not in html.replace("font", "")


def test_plain_text_where_diagrams_are_off(two_clouds):
    X, y = two_clouds
    model = mercer.SVC().fit(X, y)
    with sklearn.config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
