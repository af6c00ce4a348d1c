# ruff: noqa: D102  what overrides a method is documented in the base class
"""``@mercer.kernel``: a function of two items becomes a kernel."""

from __future__ import annotations

import inspect
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, overload

import joblib
import numpy as np

from mercer import _jit
from mercer.kernels.base import Kernel
from mercer.kernels.data import Array, Data, result_dtype, size
from mercer.values import name_of

Function = Callable[[Any, Any], Any]


class _How(NamedTuple):
    """How a function is called."""

    compiled: bool | None
    text: str
    loops: Any = None


UNTRIED = _How(None, "not tried yet: the first data decide whether it is compiled")
ITEMS = _How(False, "called in Python: the items are not rows of a table of numbers")
OBJECT = _How(False, "called in Python: it is not a plain function")

# Compiled loops belong to the function, not to the kernels (and copies of kernels) that name it.
_compiled: dict[tuple[Any, str], _How] = {}
_latest: dict[Any, _How] = {}
_lock = threading.Lock()


class ItemKernel(Kernel):
    """k(x, z) = function(x, z), for items of any kind; made by the decorator `kernel`.

    On a table of numbers (rows are 1-D arrays) the function is compiled with Numba, if Numba can compile
    it, and the loop over pairs releases the GIL; else, and for all other items, it is called in Python.
    `how` says which, and why.

    Parameters
    ----------
    function : callable
        Takes two items, returns a number. It must not call itself by its own name, which means the kernel
        once it is decorated: put the recursion into a helper.
    psd : bool or None, default=None
        Whether all kernel matrices are positive semi-definite, if that is known.
    symmetric : bool, default=True
        Whether function(x, z) equals function(z, x); if so, only half of a symmetric matrix is computed.

    Notes
    -----
    A kernel that was decorated in a module pickles by its qualified name. One of ``__main__`` also takes
    its function along, for processes whose ``__main__`` is another, such as joblib's workers.
    """

    def __init__(self, function: Function, psd: bool | None = None, symmetric: bool = True) -> None:
        self.function = function
        self.psd = psd
        self.symmetric = symmetric

    @property
    def is_psd(self) -> bool | None:
        return self.psd

    @property
    def is_of_user(self) -> bool:
        return True

    @property
    def compiled(self) -> bool | None:
        """Whether the function was compiled for the latest data; None if it has met none."""
        return self._how().compiled

    @property
    def how(self) -> str:
        """How the function was called for the latest data, and why so."""
        return self._how().text

    def _how(self) -> _How:
        return _latest.get(self.function, UNTRIED) if _is_plain(self.function) else OBJECT

    def validate(self) -> None:
        if not callable(self.function):
            self._refuse("function", self.function, "a function of two items")
        if self.psd not in (True, False, None):
            self._refuse("psd", self.psd, "True, False or None")
        if self.symmetric not in (True, False):
            self._refuse("symmetric", self.symmetric, "True or False")

    def evaluate(self, X: Data, Z: Data | None = None) -> Array:
        half = Z is None and bool(self.symmetric)
        Z = X if Z is None else Z
        dtype = result_dtype(X, Z)
        out = np.empty((size(X), size(Z)), dtype=dtype)
        loops = self._loops(X, Z, dtype)
        if loops is not None:
            loops.block(np.asarray(X, dtype=dtype), np.asarray(Z, dtype=dtype), half, out)
            return out
        for i in range(size(X)):
            for j in range(i + 1 if half else size(Z)):
                out[i, j] = self._value(X[i], Z[j])
                if half:
                    out[j, i] = out[i, j]
        return out

    def evaluate_diag(self, X: Data) -> Array:
        dtype = result_dtype(X, None)
        out = np.empty(size(X), dtype=dtype)
        loops = self._loops(X, X, dtype)
        if loops is not None:
            loops.diagonal(X, out)
            return out
        for i in range(size(X)):
            out[i] = self._value(X[i], X[i])
        return out

    def _value(self, x: Any, z: Any) -> float:
        value = self.function(x, z)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"The kernel function {name_of(self.function)} returned {value!r} for the items "
                f"{_short(x)} and {_short(z)}; it must return a number."
            ) from None

    def _loops(self, X: Data, Z: Data, dtype: Any) -> Any:
        """Return the compiled loops, or None if the function is to be called in Python."""
        if not _is_plain(self.function):
            return None
        if not (_is_table(X) and _is_table(Z)):
            how = ITEMS
        else:
            key = (self.function, np.dtype(dtype).name)
            with _lock:  # Numba's compiler is not reentrant, and once is enough
                if key not in _compiled:
                    x, z = np.array(X[0], dtype=dtype), np.array(Z[0], dtype=dtype)
                    _compiled[key] = _compile(self.function, np.dtype(dtype), x, z)
                how = _compiled[key]
        _latest[self.function] = how
        return how.loops

    def __repr__(self) -> str:
        return f"{self.expression()}  # {self.how}"  # still evaluates back

    def expression(self) -> str:
        found = _named(*_home(self.function))
        if found == self:
            return name_of(self.function)
        if isinstance(found, ItemKernel) and found.function is self.function:
            name = name_of(self.function)  # of the kernel, not of the function any more
            return f"ItemKernel(function={name}.function, psd={self.psd!r}, symmetric={self.symmetric!r})"
        return super().expression()

    def __reduce__(self) -> tuple[Any, ...]:
        module, name = _home(self.function)
        options = (self.psd, self.symmetric)
        found = _named(module, name)
        if not (isinstance(found, ItemKernel) and found.function is self.function):
            return ItemKernel, (self.function, *options)  # the function pickles by its own name, if it can
        if module != "__main__":
            return _from_module, (module, name, *options)
        return _from_main, (name, _by_value(self.function), *options)


def _short(item: Any) -> str:
    return repr(item)[:80]


def _is_table(X: Data) -> bool:
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f" and X.flags.c_contiguous


def _is_plain(function: Any) -> bool:
    return inspect.isfunction(function) or hasattr(function, "py_func")


def _compile(function: Any, dtype: Any, x: Array, z: Array) -> _How:
    """Compile, and see that the compiled function agrees with the function on a pair of items."""
    try:
        loops = _jit.userkernel.compile_loops(function, dtype)
    except _jit.userkernel.CannotCompileError as error:
        return _How(False, f"called in Python: numba cannot compile it ({error})")
    expected, got = function(x, z), np.empty((1, 1), dtype=dtype)
    loops.block(x[None, :], z[None, :], False, got)
    tolerance = 1e3 * np.finfo(dtype).eps
    if not np.allclose(got[0, 0], expected, rtol=tolerance, atol=tolerance, equal_nan=True):
        return _How(
            False,
            f"called in Python: compiled, it gives {got[0, 0]:g} where Python gives {float(expected):g}",
        )
    return _How(True, f"compiled by numba for rows of {dtype.name}", loops)


# Pickling. The decorated name means the kernel, so the function cannot be found by it.

_loaded: dict[bytes, Function] = {}


def _home(function: Any) -> tuple[str, str]:
    return getattr(function, "__module__", None) or "", getattr(function, "__qualname__", None) or ""


def _named(module: str, name: str) -> Any:
    """Return what ``module.name`` is now, or None."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _from_module(module: str, name: str, psd: bool | None, symmetric: bool) -> ItemKernel:
    __import__(module)
    found = _named(module, name)
    if not isinstance(found, ItemKernel):
        raise pickle.UnpicklingError(
            f"{module}.{name} is no kernel any more; it was one when this was pickled."
        )
    kernel = ItemKernel(found.function, psd, symmetric)
    return found if found == kernel else kernel


def _from_main(name: str, payload: bytes, psd: bool | None, symmetric: bool) -> ItemKernel:
    found = _named("__main__", name)
    if isinstance(found, ItemKernel):
        return _from_module("__main__", name, psd, symmetric)
    if payload not in _loaded:  # one function object for all tasks of a worker, so that it is compiled once
        _loaded[payload] = pickle.loads(payload)
    return ItemKernel(_loaded[payload], psd, symmetric)


def _by_value(function: Function) -> bytes:
    return pickle.dumps(joblib.wrap_non_picklable_objects(function, keep_wrapper=False))


# The decorator.


@overload
def kernel(function: Function, /) -> ItemKernel: ...


@overload
def kernel(*, psd: bool | None = None, symmetric: bool = True) -> Callable[[Function], ItemKernel]: ...


def kernel(
    function: Function | None = None, /, *, psd: bool | None = None, symmetric: bool = True
) -> ItemKernel | Callable[[Function], ItemKernel]:
    """Turn a function of two items into a kernel.

    Parameters
    ----------
    function : callable
        Takes two items, returns a number.
    psd : bool or None, default=None
        Whether all kernel matrices are positive semi-definite, if that is known.
    symmetric : bool, default=True
        Whether function(x, z) equals function(z, x).

    Returns
    -------
    ItemKernel
        The function is its attribute ``function``; ``how`` says whether it was compiled.

    Examples
    --------
    >>> from mercer.kernels import kernel
    >>> @kernel(psd=True)
    ... def shared_letters(a, b):
    ...     return len(set(a) & set(b))
    >>> shared_letters(["cat", "tack", "dog"])
    array([[3., 3., 0.],
           [3., 4., 0.],
           [0., 0., 3.]])
    >>> shared_letters.how
    'called in Python: the items are not rows of a table of numbers'
    """

    def decorate(function: Function) -> ItemKernel:
        made = ItemKernel(function, psd, symmetric)
        made.__doc__ = getattr(function, "__doc__", None)
        return made

    return decorate if function is None else decorate(function)
