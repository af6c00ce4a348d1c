"""Decimal numbers in text, read to the last bit.

A decimal w 10^q with at most 19 digits is rounded to the nearest float64 by the method of D. Lemire, "Number
parsing at a gigabyte per second", Software: Practice and Experience 51, 2021: one or two products of w with
the leading 128 bits of 5^q decide the result for all but a few inputs. Those (subnormal and overflowing
numbers, more than 19 digits, products too close to call) are left to the caller, which has Python.
"""

from __future__ import annotations

import numpy as np

from mercer._jit.bits import (
    byte_at,
    eight_bytes,
    float64_from_bits,
    leading_zeros,
    product_halves,
    start_of,
    trailing_zeros,
)
from mercer._jit.compiler import compiled

LEAST, MOST = -342, 308  # outside, 19 digits are 0 or infinite
DIGITS = 19
POINT = 46

_U = np.uint64
_ONE, _TWO, _THREE, _TEN = _U(1), _U(2), _U(3), _U(10)
_ALL = _U(0xFFFFFFFFFFFFFFFF)
_UNSURE = _U(0x1FF)  # the bits of the product's upper half below the mantissa and its two guard bits
_EXACT = _U(1 << 53)
_HIDDEN = _U(1 << 52)
_TENS = 10.0 ** np.arange(23)  # the powers of ten that float64 holds exactly
_WHOLE_TENS = np.array([10**k for k in range(9)], dtype=np.uint64)


def _powers_of_five() -> tuple[np.ndarray, np.ndarray]:
    """Return the upper and lower 64 bits of the leading 128 bits of 5^q, for q from LEAST to MOST."""
    upper, lower = [], []
    for q in range(LEAST, MOST + 1):
        power = 5 ** abs(q)
        if q >= 0:
            excess = power.bit_length() - 128
            c = power >> excess if excess > 0 else power << -excess
        else:  # rounded up: truncating the reciprocal would lose the inputs that are exactly representable
            bits = power.bit_length() + (127 if q >= -27 else power.bit_length() + 128)
            c = (1 << bits) // power + 1
            c >>= max(0, c.bit_length() - 128)
        upper.append(c >> 64)
        lower.append(c & 0xFFFFFFFFFFFFFFFF)
    return np.array(upper, dtype=np.uint64), np.array(lower, dtype=np.uint64)


_UPPER, _LOWER = _powers_of_five()


@compiled(inner=True)
def _nearest(w: np.uint64, q: int) -> tuple[bool, float]:
    """Return (True, the float64 nearest to w 10^q), or False where this method cannot tell; w > 0."""
    zeros = leading_zeros(w)
    w = w << _U(zeros)
    upper, lower = product_halves(w, _UPPER[q - LEAST])
    if upper & _UNSURE == _UNSURE:
        more, _ = product_halves(w, _LOWER[q - LEAST])
        if lower > _ALL - more:
            upper = upper + _ONE
            lower = lower - (_ALL - more) - _ONE
        else:
            lower = lower + more
        if lower == _ALL and not -27 <= q <= 55:
            return False, 0.0
    top = upper >> _U(63)
    shift = top + _U(9)
    mantissa = upper >> shift
    exponent = ((217706 * q) >> 16) + 63 + int(top) - zeros + 1023
    if exponent <= 0:
        return False, 0.0  # subnormal
    if lower <= _ONE and -4 <= q <= 23 and mantissa & _THREE == _ONE and mantissa << shift == upper:
        mantissa = mantissa & ~_ONE  # exactly half way: to even
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    if mantissa >= _TWO * _HIDDEN:
        mantissa = _HIDDEN
        exponent += 1
    if exponent >= 2047:
        return False, 0.0  # infinite
    return True, float64_from_bits(np.int64((mantissa & ~_HIDDEN) | (_U(exponent) << _U(52))))


@compiled(inner=True)
def _leading_digits(eight: np.uint64) -> int:
    """Return how many of eight bytes, the first lowest, are digits before the first that is none."""
    low = eight ^ _U(0x3030303030303030)  # a digit is below ten now
    others = ((low + _U(0x7676767676767676)) | low) & _U(0x8080808080808080)
    return int(trailing_zeros(others) >> 3)


@compiled(inner=True)
def _eight_digits(eight: np.uint64) -> np.uint64:
    """Return the number that eight digits mean, the first lowest: neighbours are joined three times."""
    eight = eight & _U(0x0F0F0F0F0F0F0F0F)
    eight = (eight & _U(0x000F000F000F000F)) * _TEN + ((eight >> _U(8)) & _U(0x000F000F000F000F))
    eight = (eight & _U(0x000000FF000000FF)) * _U(100) + ((eight >> _U(16)) & _U(0x000000FF000000FF))
    return (eight & _U(0xFFFF)) * _U(10000) + (eight >> _U(32))


@compiled(inner=True)
def _first_digits(eight: np.uint64, k: int) -> np.uint64:
    """Return the number that the first k of eight bytes mean, all of them digits."""
    eight = (eight * _U(k != 0)) << _U((64 - 8 * k) & 63)  # zeros come before them
    value: np.uint64 = _eight_digits(eight)
    return value


@compiled(inner=True)
def _common(text: int, i: int) -> tuple[int, np.uint64, int]:
    """Read an unsigned number as most are written, looking at no more than 33 bytes from byte i on.

    No branch depends on how many digits there are: guessing wrong costs the processor more than the sums.

    Returns
    -------
    end : int
        Where it ends; -1 if it must be read with more care.
    w, q : uint64, int
        It is w 10^q.
    """
    eight = eight_bytes(text, i)
    whole = _leading_digits(eight)
    w = _first_digits(eight, whole)
    i += whole
    point = byte_at(text, i) == POINT
    i += point
    one, two, three = eight_bytes(text, i), eight_bytes(text, i + 8), eight_bytes(text, i + 16)
    k = _leading_digits(one) * point
    m = _leading_digits(two) * (k == 8)
    n = _leading_digits(three) * (m == 8)
    w = (w * _WHOLE_TENS[k] + _first_digits(one, k)) * _WHOLE_TENS[m] + _first_digits(two, m)
    w = w * _WHOLE_TENS[n] + _first_digits(three, n)
    fraction = k + m + n
    i += fraction
    after = byte_at(text, i) | 32
    odd = (whole == 0) | (whole == 8) | (whole + fraction > DIGITS) | (after == 101) | (after == POINT)
    return -1 if odd else i, w, -fraction


@compiled(inner=True)
def number(text: int, i: int, stop: int) -> tuple[int, int, float]:
    """Read the decimal number that starts at byte i of a text, given as `start_of` does.

    Returns
    -------
    end : int
        Where it ends.
    status : int
        0: here it is; 1: a number, but not one for this method; 2: no number starts here.
    value : float
        The float64 nearest to it.
    """
    if i + 40 <= stop:
        sign = byte_at(text, i)
        end, w, q = _common(text, i + ((sign == 45) | (sign == 43)))
        if end >= 0:
            sure, value = (True, 0.0) if w == _U(0) else _nearest(w, q)
            if sure:
                return (
                    end,
                    0,
                    value * (1.0 - 2.0 * (sign == 45)),
                )  # no branch: half of all signs are surprises
    start = i
    negative = False
    if i < stop and (byte_at(text, i) == 45 or byte_at(text, i) == 43):
        negative = byte_at(text, i) == 45
        i += 1
    first = i
    while i < stop and byte_at(text, i) == 48:
        i += 1
    w = _U(0)
    begin = i
    while i < stop and byte_at(text, i) >= 48 and byte_at(text, i) <= 57:
        if i - begin < DIGITS:  # more would overflow, and are left to the caller
            w = w * _TEN + _U(byte_at(text, i) - 48)
        i += 1
    digits, seen, q = i - begin, i - first, 0
    if i < stop and byte_at(text, i) == POINT:
        i += 1
        first = i
        if digits == 0:
            while i < stop and byte_at(text, i) == 48:
                i += 1
        begin = i
        while i + 8 <= stop:
            eight = eight_bytes(text, i)
            k = _leading_digits(eight)
            if k == 0 or digits + i - begin + k > DIGITS:
                break
            w = w * _WHOLE_TENS[k] + _eight_digits(eight << _U(64 - 8 * k))  # what comes before is zeros
            i += k
            if k < 8:
                break
        while i < stop and byte_at(text, i) >= 48 and byte_at(text, i) <= 57:
            if digits + i - begin < DIGITS:
                w = w * _TEN + _U(byte_at(text, i) - 48)
            i += 1
        digits += i - begin
        seen += i - first
        q = first - i
    if seen == 0:
        return start, 2, 0.0
    if i < stop and (byte_at(text, i) == 101 or byte_at(text, i) == 69):
        j = i + 1
        down = False
        if j < stop and (byte_at(text, j) == 45 or byte_at(text, j) == 43):
            down = byte_at(text, j) == 45
            j += 1
        power, first = 0, j
        while j < stop and byte_at(text, j) >= 48 and byte_at(text, j) <= 57:
            if power < 100000:
                power = 10 * power + byte_at(text, j) - 48
            j += 1
        if j > first:
            i = j
            q += -power if down else power
    if digits > DIGITS:
        return i, 1, 0.0
    value = 0.0
    if w != _U(0):
        if w <= _EXACT and -22 <= q <= 22:
            value = float(w) / _TENS[-q] if q < 0 else float(w) * _TENS[q]
        elif q < LEAST or q > MOST:
            return i, 1, 0.0
        else:
            sure, value = _nearest(w, q)
            if not sure:
                return i, 1, 0.0
    return i, 0, -value if negative else value


@compiled
def read_numbers(
    text: np.ndarray, starts: np.ndarray, ends: np.ndarray, alone: bool, out: np.ndarray, status: np.ndarray
) -> None:
    """Read the numbers that fill text[starts[k] : ends[k]]; for tests.

    ``alone`` forbids to look further than that, as at the end of a file, where numbers are read with care.
    """
    start = start_of(text)
    for k in range(out.size):
        end, state, value = number(start, starts[k], ends[k] if alone else text.size)
        out[k] = value
        status[k] = 2 if end != ends[k] else state
