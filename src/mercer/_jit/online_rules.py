"""Numbers that name the rules of on-line learning (no numba here: the problems import this)."""

from __future__ import annotations

PERCEPTRON = 0  # coefficient and bias move by one step on a mistake
ADATRON = 1  # the margin of the point is put to one, inside the box
TUBE = 2  # the error of the point is put to the edge of the tube, inside the box
WIDROW_HOFF = 3  # the error of the point is put to zero
ORDERED = 4  # the perceptron's, with one function for all outputs, each of which has its own bias

WEAKEST = 0  # a full budget gives up the example that the function would miss least
OLDEST = 1  # a full budget gives up the example that came first
