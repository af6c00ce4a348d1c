"""Files that are there as a whole, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mercer.cli.ctrl_c import begin_to_write
from mercer.cli.user_error import UserError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a place to write to, whose content becomes the file when the block is done.

    A mistake or a Ctrl-C in the block leaves what had been there before. A link stays a link, and a file
    keeps its mode. Devices and pipes, which cannot be replaced, are written to as they are.

    Parameters
    ----------
    path : Path
        The file.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    place = Path(os.path.realpath(path))
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        yield part
        if part.exists():
            if place.exists():
                shutil.copymode(place, part)
            begin_to_write()
            part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Refuse a place that cannot be written to before any work is done."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist")
