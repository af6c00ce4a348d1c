"""Compiled loops: free functions on arrays, loaded on first use.

This package is the only importer of numba. Its modules are imported lazily (``_jit.smo.solve``), so that
``import mercer`` pays for no compiler.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from mercer._jit.notice import tell_a_programmer

if TYPE_CHECKING:
    from mercer._jit import ascent as ascent
    from mercer._jit import coordinate_descent as coordinate_descent
    from mercer._jit import csr_products as csr_products
    from mercer._jit import hinge_search as hinge_search
    from mercer._jit import label_trees as label_trees
    from mercer._jit import online as online
    from mercer._jit import output_blocks as output_blocks
    from mercer._jit import pairwise as pairwise
    from mercer._jit import panels as panels
    from mercer._jit import path_pivots as path_pivots
    from mercer._jit import path_walk as path_walk
    from mercer._jit import perceptron as perceptron
    from mercer._jit import platt_sweeps as platt_sweeps
    from mercer._jit import ranked_pairs as ranked_pairs
    from mercer._jit import row_products as row_products
    from mercer._jit import simplex_blocks as simplex_blocks
    from mercer._jit import small_problems as small_problems
    from mercer._jit import smo as smo
    from mercer._jit import smo_tube as smo_tube
    from mercer._jit import smoothing_spline as smoothing_spline
    from mercer._jit import tridiagonal as tridiagonal
    from mercer._jit import userkernel as userkernel
    from mercer._jit import viterbi as viterbi


_tell: Callable[[bool], None] | None = tell_a_programmer  # that something is being compiled; None: nobody


@contextmanager
def telling(tell: Callable[[bool], None] | None) -> Iterator[None]:
    """Tell, once, that a loop is compiled inside of the block instead of being taken from the disk.

    Outside of such blocks, a log and a terminal are told, once in a process.

    Parameters
    ----------
    tell : callable or None
        Called, from whichever thread compiles, with whether the result will be kept on disk.
    """
    global _tell
    before, _tell = _tell, tell
    try:
        yield
    finally:
        _tell = before


def compiling(kept: bool, module: str = __name__) -> None:
    """Pass on that a loop of a module is being compiled, and whether the result will be kept."""
    global _tell
    if _tell is tell_a_programmer and not module.startswith(f"{__name__}."):
        return  # the programmer's own loops are no business of ours
    tell, _tell = _tell, None
    if tell is not None:
        tell(kept)


def __getattr__(name: str) -> ModuleType:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        with _first_sight_of_the_compiler():
            return importlib.import_module(f"mercer._jit.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"mercer._jit.{name}":
            raise
        raise AttributeError(f"mercer._jit has no module {name!r}") from error


@contextmanager
def _first_sight_of_the_compiler() -> Iterator[None]:
    """Import numba, if that happens inside, and let it register what it can compile, at half the usual price.

    Both make a million objects that stay. Looking through them for garbage, again and again, is as much work
    as making them; so the collector waits, and then takes all that lives for old.
    """
    if "numba" in sys.modules:
        yield
        return
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
        if "numba" in sys.modules:
            from numba.core.compiler_lock import global_compiler_lock
            from numba.core.registry import cpu_target

            with global_compiler_lock:  # another thread may be about to use what this one has imported
                cpu_target.target_context.refresh()  # numba does so before it loads or compiles a function
            if gc.get_freeze_count() == 0:  # who has frozen objects wants to keep them so
                gc.freeze()
                gc.unfreeze()
    finally:
        if collecting:
            gc.enable()
