"""mercer: certified, fast, modular kernel machines."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mercer._version import __version__

if TYPE_CHECKING:
    from mercer.estimators import SVC as SVC
    from mercer.kernels import kernel as kernel

_HOMES = {
    "SVC": "mercer.estimators",
    "kernel": "mercer.kernels",
}

__all__ = ["SVC", "__version__", "kernel"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in ("kernels", "estimators", "problems", "solvers", "gram"):
        return importlib.import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
