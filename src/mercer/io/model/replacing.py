"""Files that are replaced at once or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_at_once(place: Path, content: bytes) -> Path:
    """Write a file in full beside its place, then put it there."""
    handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(place)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
    return place


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
