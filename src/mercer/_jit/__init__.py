"""Compiled loops: free functions on arrays, loaded on first use.

This package is the only importer of numba. Its modules are imported lazily (``_jit.smo.solve``), so that
``import mercer`` pays for no compiler.
"""

from __future__ import annotations

import gc
import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer._jit import ascent as ascent
    from mercer._jit import online as online
    from mercer._jit import pairwise as pairwise
    from mercer._jit import panels as panels
    from mercer._jit import perceptron as perceptron
    from mercer._jit import pivots as pivots
    from mercer._jit import platt as platt
    from mercer._jit import rowcache as rowcache
    from mercer._jit import smo as smo
    from mercer._jit import tridiagonal as tridiagonal
    from mercer._jit import tube as tube
    from mercer._jit import userkernel as userkernel
    from mercer._jit import walk as walk


def __getattr__(name: str) -> ModuleType:
    if name.startswith("__"):
        raise AttributeError(name)
    # Importing numba makes a million objects that stay: looking through them for garbage is a third of it.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(f"mercer._jit.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"mercer._jit.{name}":
            raise
        raise AttributeError(f"mercer._jit has no module {name!r}") from error
    finally:
        if collecting:
            gc.enable()
