"""What a process holds: resident memory, its peak, and pages touched in advance."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from pathlib import Path

import numpy as np
import psutil

GB = 10**9


def resident(pid: int | None = None) -> int:
    """Return the resident bytes of a process (this one by default)."""
    return int(psutil.Process(pid).memory_info().rss)


def settle() -> None:
    """Give freed memory back to the system, so that the next reading means what is held."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def reset_peak() -> bool:
    """Reset the kernel's high-water mark of this process; return whether that is possible here."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak() -> int:
    """Return the high-water mark of this process since ``reset_peak``, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the kernel gives no VmHWM")


def touch(gigabytes: float) -> float:
    """Write to so many gigabytes (at most half of what is available) and free them; return how many.

    The first touch of a page can cost seconds per gigabyte on a virtual machine whose host has not given the
    page yet: without this the first library in line pays for all.
    """
    size = int(min(gigabytes * GB, psutil.virtual_memory().available / 2))
    block = np.empty(size, dtype=np.uint8)
    block[::4096] = 1
    del block
    settle()
    return size / GB


class Sampler:
    """Peak resident memory of another process, sampled: for systems without a resettable high-water mark."""

    def __init__(self, pid: int, interval: float = 0.005) -> None:
        self.peak = 0
        self._process = psutil.Process(pid)
        self._interval = interval
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._stop.wait(self._interval):
            try:
                self.peak = max(self.peak, self._process.memory_info().rss)
            except psutil.NoSuchProcess:
                return

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
