"""Compiling a user's function of two rows into loops over all pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
from numba.core import types

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}  # not cached: the user's file is not ours


class CannotCompileError(Exception):
    """Numba cannot compile the function; the message says why, in one line."""


class Loops(NamedTuple):
    """The compiled loops of one function for one type of numbers."""

    block: Callable[..., None]  # (X, Z, symmetric, out)
    diagonal: Callable[..., None]  # (X, out)


def compile_loops(function: Any, dtype: Any) -> Loops:
    """Compile ``function(x, z)`` for rows of ``dtype``, and the loops over pairs of rows.

    Parameters
    ----------
    function : function or numba dispatcher
        Takes two 1-D arrays, returns a number.
    dtype : dtype
        Of the rows.

    Returns
    -------
    Loops
        Functions that release the GIL.

    Raises
    ------
    CannotCompileError
        If numba cannot compile the function, or it does not return a number.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise CannotCompileError("numba is switched off by NUMBA_DISABLE_JIT")
    number = numba.from_dtype(dtype)
    # Read-only, so that nothing can be written to the user's data and frozen arrays need no second version.
    table = types.Array(number, 2, "C", readonly=True)
    row = types.Array(number, 1, "C", readonly=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice about the user's code is not asked for here
        try:
            item = function if hasattr(function, "py_func") else numba.njit(function, **OPTIONS)
            item.compile((row, row))
            returned = item.overloads[(row, row)].signature.return_type
            if not isinstance(returned, types.Float | types.Integer | types.Boolean):
                raise CannotCompileError(f"it returns {returned}, not a number")
            block, diagonal = _loops(item)
            block.compile((table, table, types.boolean, types.Array(number, 2, "C")))
            diagonal.compile((table, types.Array(number, 1, "C")))
        except CannotCompileError:
            raise
        except Exception as error:  # numba fails in many ways, and calling in Python is right in all of them
            raise CannotCompileError(_one_line(error)) from error
    block.disable_compile()
    diagonal.disable_compile()
    return Loops(block, diagonal)


def _loops(item: Any) -> tuple[Any, Any]:
    def block(X: Any, Z: Any, symmetric: Any, out: Any) -> None:
        for i in range(X.shape[0]):
            x = X[i]
            for j in range(i + 1 if symmetric else Z.shape[0]):
                out[i, j] = item(x, Z[j])
                if symmetric:
                    out[j, i] = out[i, j]

    def diagonal(X: Any, out: Any) -> None:
        for i in range(X.shape[0]):
            out[i] = item(X[i], X[i])

    return numba.njit(block, **OPTIONS), numba.njit(diagonal, **OPTIONS)


def _one_line(error: Exception) -> str:
    lines = (line.strip() for line in str(error).splitlines())
    telling = [line for line in lines if line and not line.startswith("Failed in")]
    return (telling[0] if telling else type(error).__name__)[:200]
