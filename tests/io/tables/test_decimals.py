"""Numbers in text: every one to the last bit."""

import math
from decimal import Decimal

import numpy as np
import pytest
from table_samples import random_floats

from mercer import _jit

pytestmark = pytest.mark.core


def decimals(texts, alone):
    """Read numbers with the compiled loop: values, and 0 where it was sure."""
    pieces = [t.encode() for t in texts]
    ends = (np.cumsum([len(p) + 1 for p in pieces]) - 1).astype(np.int64)
    starts = ends - [len(p) for p in pieces]
    out, status = np.empty(len(pieces)), np.empty(len(pieces), dtype=np.uint8)
    text = np.frombuffer(b",".join(pieces) + b"," + b"9" * 40, np.uint8)
    _jit.decimals.read_numbers(text, starts, ends, alone, out, status)
    return out, status


def assert_exact(texts, most_left=0.0):
    want = np.array([float(t) for t in texts])  # Python rounds correctly: the naive twin
    for alone in (False, True):
        out, status = decimals(texts, alone)
        sure = status == 0
        np.testing.assert_array_equal(out[sure].view(np.int64), want[sure].view(np.int64))
        assert (~sure).mean() <= most_left


def test_shortest_and_longest_forms_of_any_float_are_exact():
    values = random_floats(5000)
    assert_exact([repr(v) for v in values], 0.01)
    assert_exact([repr(-v) for v in values], 0.01)
    assert_exact([f"{v:.18e}" for v in values], 0.01)
    assert_exact([f"{v:.6g}" for v in values], 0.01)


def test_any_mantissa_with_any_exponent_is_exact():
    rng = np.random.default_rng(1)
    pairs = zip(
        rng.integers(1, 2**63 - 1, 5000).tolist(), rng.integers(-330, 300, 5000).tolist(), strict=True
    )
    assert_exact([f"{w}e{q}" for w, q in pairs], 0.08)


def test_halfway_cases_go_to_even():
    rng = np.random.default_rng(2)
    whole = rng.integers(2**52, 2**53, 3000).tolist()
    assert_exact([str(2 * w + 1) for w in whole])
    assert_exact([f"{w}.5" for w in rng.integers(2**50, 2**52, 3000).tolist()])
    near = []
    for x in rng.uniform(1, 2**20, 2000).tolist():
        middle = (Decimal(x) + Decimal(math.nextafter(x, math.inf))) / 2
        near.append(f"{middle:.18e}")
    assert_exact(near)


def test_zeros_signs_and_plain_forms():
    assert_exact(
        ["0", "-0", "0.0", "-0.0", "1", "00012", "+5", ".5", "5.", "1e5", "1E-5", "0e400", "0.00000000000012"]
    )
    strange = ["1e400", "1e-320", "12345678901234567890123", "", "-", ".", "e5", "1e", "abc", "1_0", "1.2.3"]
    for alone in (False, True):
        assert decimals(strange, alone)[1].tolist() == [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]


def test_any_number_of_digits_before_and_after_the_point():
    rng = np.random.default_rng(3)
    texts = []
    for before in range(12):
        for after in range(22):
            digits = "".join(map(str, rng.integers(0, 10, before + after)))
            texts.append(f"{digits[:before] or '0'}.{digits[before:]}")
            texts.append(f"-{digits[:before] or '0'}.{'0' * after}{digits[before:]}")
    assert_exact(texts, 0.5)  # more than 19 digits are left to Python
    short = [t for t in texts if len(t.replace(".", "").lstrip("-0")) <= 19]
    assert_exact(short)
