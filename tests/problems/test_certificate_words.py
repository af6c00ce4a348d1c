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
    assert str(certificate) == "optimal: proved within 0.0001 % of the best possible"


@pytest.mark.parametrize(
    ("relative_gap", "words"),
    [
        (0.0, "within 0.0001 %"),
        (2e-17, "within 0.0001 %"),
        (3e-11, "within 0.0001 %"),
        (1.001e-4, "within 0.1 %"),
        (0.0099, "within 1 %"),
        (0.0112, "within 1.2 %"),
        (0.999, "within 100 %"),
        (25.3, "within 2600 %"),
    ],
)
def test_what_is_proved(certificate, relative_gap, words):
    assert words in str(dataclasses.replace(certificate, relative_gap=relative_gap))


@pytest.mark.parametrize("relative_gap", [2e-5, 8.6e-5, 1e-4])
def test_where_a_solver_ends_below_its_tolerance_is_not_told(certificate, relative_gap):
    """Processors differ in it: the words do not."""
    assert "within 0.01 %" in str(dataclasses.replace(certificate, relative_gap=relative_gap))


def test_no_proof_is_called_none(certificate):
    assert "nothing proved" in str(dataclasses.replace(certificate, gap=math.inf))
    assert "proved" not in str(dataclasses.replace(certificate, gap=math.nan))


def test_a_gap_beyond_all_bounds_beside_a_tiny_objective(certificate):
    beyond = {"primal": 1e-300, "dual": 0.0, "gap": 1e100, "relative_gap": math.inf, "rounding": 0.0}
    assert "nothing proved" in str(dataclasses.replace(certificate, **beyond))
