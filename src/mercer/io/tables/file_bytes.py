"""Bytes of a file, expanded if it is compressed, never more of them than agreed."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.gram import Workers
from mercer.io.errors import DataFileError
from mercer.io.opening import PIECE, open_binary

GZIP = b"\x1f\x8b"
FREE_EXPANSION = 1 << 26  # bytes that any compressed file may expand to
HEAD = 1 << 16

Bytes = NDArray[np.uint8]
Content = bytes | bytearray


@dataclass(frozen=True)
class SizeLimits:
    """What a file may cost.

    Attributes
    ----------
    bytes : int
        Most bytes of content, after expansion.
    expansion : float
        Most bytes of content for each byte of a compressed file (above a few megabytes): real tables stay
        below 100, files made to exhaust memory come close to 1000.
    """

    bytes: int
    expansion: float = 200.0

    def check(self, expanded: int, packed: int, source: str) -> None:
        """Refuse content that is too large."""
        if expanded > self.bytes:
            raise DataFileError(
                f"{source} holds more than {self.bytes / 1e6:.0f} MB, the most that may be read "
                f"at once: read "
                "it in batches, or raise max_bytes"
            )
        if expanded > max(FREE_EXPANSION, self.expansion * packed):
            raise DataFileError(
                f"{source} expands to more than {self.expansion:g} times its size, as files do that are made "
                "to exhaust memory: raise max_expansion if you trust it"
            )


class Source:
    """A file that is read once, from its beginning.

    Parameters
    ----------
    path : str or path
        The file; "-" for standard input.
    limits : SizeLimits
        What it may cost.
    """

    def __init__(self, path: str | os.PathLike[str], limits: SizeLimits) -> None:
        self.name = "standard input" if os.fspath(path) == "-" else Path(path).name
        self.path = None if os.fspath(path) == "-" else Path(path)
        self.limits = limits
        self._file = open_binary(path)
        self._packed = 0  # bytes taken from the file so far
        try:
            head = self._take(HEAD)
            self.compressed = head[:2] == GZIP
            self._pending = head
            self._expander = zlib.decompressobj(wbits=31) if self.compressed else None
            self.head = head if not self.compressed else self._peek()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *error: object) -> None:
        if self.path is not None:
            self._file.close()

    def _take(self, size: int) -> bytes:
        data = self._file.read(size)
        self._packed += len(data)
        return data

    def _peek(self) -> bytes:
        first = next(self._pieces(), b"")
        self._ready = first
        return first[:HEAD]

    _ready = b""
    _kept: Content | None = None  # what can be read once only, for those who read it twice
    encoding = "utf-8"

    def _pieces(self) -> Iterator[bytes]:
        """Yield the content, expanded, in pieces of limited size."""
        if self._ready:
            ready, self._ready = self._ready, b""
            yield ready
        while True:
            packed, self._pending = self._pending or self._take(PIECE), b""
            if self._expander is None:
                if not packed:
                    return
                yield packed
                continue
            if not packed:
                if not self._expander.eof:
                    raise DataFileError(f"{self.name} is truncated: its compressed data end too early")
                return
            piece = self._expanded(packed)
            if piece:
                yield piece

    def _expanded(self, packed: bytes) -> bytes:
        """Return a piece of limited size; what it did not need of the bytes comes first the next time."""
        assert self._expander is not None
        if self._expander.eof:  # gzip files may follow one another; zeros may fill up the last block
            packed = packed.lstrip(b"\0")
            if not packed:
                return b""
            if packed[:1] != GZIP[:1]:
                raise DataFileError(f"{self.name} has extra bytes after its compressed data")
            self._expander = zlib.decompressobj(wbits=31)
        try:
            piece = self._expander.decompress(packed, PIECE)
        except zlib.error as error:
            raise DataFileError(f"{self.name} is not a valid gzip file: {error}") from error
        self._pending = self._expander.unconsumed_tail or self._expander.unused_data
        return piece

    def plain_size(self) -> int | None:
        """Return the size of a file that can be read from any place; None if it is compressed or a pipe."""
        if self.compressed or self.path is None or not self.path.is_file():
            return None
        size = os.fstat(self._file.fileno()).st_size
        self.limits.check(size, size, self.name)
        return size

    def again(self, size: int) -> Iterator[bytes]:
        """Yield the content in blocks of ``size`` bytes, from the beginning each time that this is called."""
        whole = self.plain_size()
        if whole is None:
            if self._kept is None:
                self._kept = self.everything()
            for start in range(0, len(self._kept), size):
                yield bytes(self._kept[start : start + size])
            return
        for start in range(0, whole, size):
            self._file.seek(start)
            block = self._file.read(min(size, whole - start))
            if len(block) != min(size, whole - start):
                raise DataFileError(f"{self.name} became shorter while it was read")
            yield block

    def everything(self) -> Content:
        """Return all bytes."""
        size = self.plain_size()
        if size is not None:
            self._file.seek(0)
            return self._file.read(size)
        whole = bytearray()
        for piece in self._pieces():
            whole += piece
            self.limits.check(len(whole), self._packed, self.name)
        return whole

    def array(self, workers: Workers) -> Bytes:
        """Return all bytes as an array, read by several threads where the system allows."""
        size = self.plain_size()
        if size is None or not hasattr(os, "preadv"):
            return read_only(np.frombuffer(self.everything(), dtype=np.uint8))
        descriptor = self._file.fileno()
        content = np.empty(size, dtype=np.uint8)
        view: Any = memoryview(content)  # type: ignore[arg-type]  # NumPy 2.0 does not say that it is one

        def read(start: int, stop: int) -> None:
            while start < stop:
                taken = os.preadv(descriptor, [view[start:stop]], start)
                if taken == 0:
                    raise DataFileError(f"{self.name} became shorter while it was read")
                start += taken

        workers.ranges(size, read, align=PIECE)
        return read_only(content)

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield the content in blocks of about ``size`` bytes."""
        kept: list[bytes] = []
        held = total = 0
        for piece in self._pieces():
            kept.append(piece)
            held += len(piece)
            total += len(piece)
            if self.compressed:
                SizeLimits(sys.maxsize, self.limits.expansion).check(total, self._packed, self.name)
            if held >= size:
                yield b"".join(kept)
                kept, held = [], 0
        if held:
            yield b"".join(kept)


class ChangedSource(Source):
    """A file whose content is read as if it were written differently; a subclass says how.

    Parameters
    ----------
    source : Source
        The file, which stays open as long as its own ``with`` lasts.
    encoding : str
        What the file is written in.
    """

    def __init__(self, source: Source, encoding: str) -> None:  # it opens nothing: no super().__init__
        self._source, self.encoding = source, encoding
        self.name, self.path, self.limits = source.name, source.path, source.limits
        self.compressed = source.compressed

    def plain_size(self) -> int | None:
        """Return None: what it holds is not what is on disk."""
        return None


def read_only(content: Bytes) -> Bytes:
    """Return a view that nobody can write to: one kind of array, for which loops are compiled once."""
    view = content.view()
    view.flags.writeable = False
    return view


def joined(whole: np.ndarray, parts: list[slice]) -> np.ndarray:
    """Return the parts of an array one after the other; a view if nothing is between them."""
    if all(a.stop == b.start for a, b in pairwise(parts)):
        return whole[parts[0].start : parts[-1].stop]
    return np.concatenate([whole[part] for part in parts])
