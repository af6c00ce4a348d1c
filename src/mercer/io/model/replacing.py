"""Files that are replaced at once or not at all.

The new content is written beside the file, under a name that ends in ``ENDING``, and takes the file's place
when it is complete. Whoever writes holds a lock on it: what nobody holds a lock on was left by a process that
was killed, and the next writer to the same place removes it.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":  # there, a file that somebody has open cannot be removed: no lock is needed
    import fcntl

ENDING = ".saving"
LONGEST_NAME = 40  # letters of the file's name that the one beside it repeats


def write_at_once(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file in full, or leave what is there as it is.

    A symbolic link stays one: the file that it names is written. Mode and, where the system allows, owner and
    group of what is replaced are kept. Pipes and terminals cannot be replaced; they are written to.

    Parameters
    ----------
    path : str or path
        Where to write.
    content : bytes
        What to write.

    Returns
    -------
    Path
        The path, as it was given.
    """
    if not os.fspath(path):
        raise ValueError("path is empty: name the file to write to")
    given = Path(path)
    before = _status(given)
    if before is not None and (stat.S_ISFIFO(before.st_mode) or stat.S_ISCHR(before.st_mode)):
        with given.open("wb") as stream:
            stream.write(content)
        return given
    if before is not None and not stat.S_ISREG(before.st_mode):
        kind = "a folder" if stat.S_ISDIR(before.st_mode) else "a disk or a socket"
        raise ValueError(f"{os.fspath(path)!r} is {kind}: name a file to write to")
    place = Path(os.path.realpath(given))
    if not place.parent.is_dir():
        raise FileNotFoundError(f"the folder {os.fspath(place.parent)!r} does not exist")
    _remove_leftovers(place)
    with _beside(place) as (file, name):
        file.write(content)
        file.flush()
        if sys.platform == "win32":  # which moves no open file
            file.close()
        name.chmod(_mode(name, before))
        name.replace(place)
    return given


def _status(path: Path) -> os.stat_result | None:
    """Return what is known of the file that a path leads to; None if there is none yet."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _beside(place: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a locked file beside a place; it is removed if it is still there at the end."""
    while True:
        descriptor, text = tempfile.mkstemp(ENDING, _prefix(place), place.parent)
        name = Path(text)
        if _lock(descriptor, wait=True) and _is_open(name, descriptor):
            break
        os.close(descriptor)  # another writer took it for a leftover before it was locked
    with os.fdopen(descriptor, "wb") as file:
        try:
            yield file, name
        finally:
            if sys.platform == "win32":
                file.close()
            with suppress(FileNotFoundError):
                name.unlink()


def _mode(name: Path, before: os.stat_result | None) -> int:
    """Give a new file the owner of the old one where possible, and return the mode that it should have."""
    if before is None:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    mode = stat.S_IMODE(before.st_mode) & 0o777
    if sys.platform == "win32":
        return mode
    with suppress(PermissionError):
        os.chown(name, before.st_uid, -1)
    try:
        os.chown(name, -1, before.st_gid)
    except PermissionError:  # what was allowed to one group is not allowed to another
        mode = (mode & 0o707) | ((mode & 0o007) << 3)
    return mode


def _prefix(place: Path) -> str:
    return f".{place.name[:LONGEST_NAME]}."


def _remove_leftovers(place: Path) -> None:
    """Remove what killed processes left when they wrote to a place."""
    ours = re.compile(re.escape(_prefix(place)) + r"[a-z0-9_]{8}" + re.escape(ENDING))
    for name in [entry for entry in place.parent.iterdir() if ours.fullmatch(entry.name)]:
        with suppress(OSError):  # it is somebody else's, or gone: not ours to remove
            descriptor = os.open(name, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _lock(descriptor, wait=False) and _is_open(name, descriptor):
                    name.unlink()
            finally:
                os.close(descriptor)


def _lock(descriptor: int, wait: bool) -> bool:
    """Return whether nobody else has the file locked now; it stays locked until it is closed."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # it is locked, or this file system has no locks: then only its writer may touch it
        return wait
    return True


def _is_open(name: Path, descriptor: int) -> bool:
    """Return whether a descriptor still is the file of that name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), name.stat())
    return False
