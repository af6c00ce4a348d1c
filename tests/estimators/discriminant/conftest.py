"""The data that discriminants are tried on, as fixtures."""

import pytest

from gaussian_classes import CASES, case, gaussian_classes


@pytest.fixture(params=list(CASES))
def data(request):
    return case(request.param)


@pytest.fixture
def two_classes():
    return case("two")


@pytest.fixture
def three_classes():
    return case("three")


@pytest.fixture
def wide():
    """More features than rows."""
    return gaussian_classes((12, 9, 7), 40, seed=5)
