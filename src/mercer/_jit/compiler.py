"""``@compiled``: numba's ``njit`` with the options every loop of this package uses.

Loops release the GIL (they run in a plain thread pool), follow NumPy's rules for division, and are cached on
disk where a folder is writable; where none is, they are compiled anew in each process instead of failing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.caching import NullCache

from mercer import _jit

F = TypeVar("F", bound=Callable[..., Any])

# "contract" lets a*b + c become one instruction. Reassociation is off: it would undo the two-step argument
# reduction of the exponential. NaN and infinity keep their meaning.
CONTRACT = {"contract", "nsz", "arcp"}
# For sums, which cannot be vectorised without changing their order.
REASSOCIATE = {"contract", "nsz", "arcp", "reassoc"}


class _Compilations(event.Listener):
    """Hears of what is compiled; of what is loaded from the disk there is nothing to hear."""

    def on_start(self, event: Any) -> None:
        """Pass it on."""
        loop = event.data["dispatcher"]
        _jit.compiling(not isinstance(loop._cache, NullCache), loop.py_func.__module__)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Compilations())  # type: ignore[no-untyped-call]


def compiled(
    function: F | None = None, *, fastmath: set[str] | bool = False, inline: bool = False, inner: bool = False
) -> Any:
    """Compile ``function`` on its first call, without the GIL, cached on disk when possible.

    ``inline`` puts it into its callers; ``inner`` says that only compiled code calls it, which saves
    compiling the entrance from Python (and a file on disk: it is stored with its callers).
    """
    if function is None:
        return lambda f: compiled(f, fastmath=fastmath, inline=inline, inner=inner)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    if inline:
        return numba.njit(function, inline="always", **options)
    if inner:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return numba.njit(function, **options)
    try:
        return numba.njit(function, cache=True, **options)
    except (
        RuntimeError
    ):  # numba: "no locator available": neither the package nor the user's cache is writable
        return numba.njit(function, **options)
