"""A certificate in words claims no more than its arithmetic can know."""

import dataclasses
import math

import numpy as np
import pytest

import mercer

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def certificate():
    X = np.array([[-1.0], [1.0]])
    return mercer.SVC(kernel="linear", C=np.inf).fit(X, [0, 1]).certificate_


def test_two_points_are_solved_to_rounding(certificate):
    assert certificate.relative_gap < 1e-12
    assert str(certificate) == "optimal: proved within 1e-10 % of the best possible"


@pytest.mark.parametrize(
    ("relative_gap", "words"),
    [(0.0, "within 1e-10 %"), (2e-17, "within 1e-10 %"), (3e-11, "within 3e-09 %"), (0.012, "within 1.2 %")],
)
def test_what_is_proved(certificate, relative_gap, words):
    assert words in str(dataclasses.replace(certificate, relative_gap=relative_gap))


def test_no_proof_is_called_none(certificate):
    assert "nothing proved" in str(dataclasses.replace(certificate, gap=math.inf))
    assert "proved" not in str(dataclasses.replace(certificate, gap=math.nan))
