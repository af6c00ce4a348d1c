"""Packages that only some formats need."""

from __future__ import annotations

import importlib
from typing import Any

from mercer.io.errors import MissingExtraError


def require(module: str, extra: str, what: str) -> Any:
    """Return an optional module, or say which extra brings it.

    Parameters
    ----------
    module : str
        What to import.
    extra : str
        The extra of this project that installs it.
    what : str
        What it is needed for.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(
            f"{what} needs {package}, which is not installed: pip install 'mercer[{extra}]'", name=package
        ) from None
