"""Files opened for reading: which ones are, and how much of the memory one may take."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from mercer.io.errors import DataFileError

PIECE = 1 << 20  # bytes read at a time


def memory_share() -> int:
    """Return half of the machine's memory: the most that a file may take unless the user says otherwise."""
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES")) // 2
    except (AttributeError, ValueError, OSError):  # not on every system
        return 1 << 32


def open_binary(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading; "-" is standard input. Refuse folders and devices."""
    if os.fspath(path) == "-":
        return sys.stdin.buffer
    if not os.fspath(path):
        raise DataFileError("path is empty: name the file to read")
    place = Path(path)
    try:
        mode = place.stat().st_mode
        if stat.S_ISREG(mode) or stat.S_ISFIFO(mode):
            return place.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"the file {os.fspath(path)!r} does not exist") from None
    except (OSError, ValueError) as error:  # names that no file system allows
        raise DataFileError(f"{os.fspath(path)!r} cannot be opened: {error}") from error
    kind = "a folder" if stat.S_ISDIR(mode) else "a device"
    raise DataFileError(f"{os.fspath(path)!r} is {kind}, not a file")
