"""A plain thread pool for compiled code that releases the GIL.

It needs no OpenMP, survives ``fork`` and nested use, and leaves nothing behind: the BLAS limit holds only
while the threads run, and the threads end with their owner.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from typing import Any

import joblib
import threadpoolctl


def resolve_threads(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` asks for.

    ``None`` means every core the process may use (at most ``OMP_NUM_THREADS``), and one inside a joblib
    worker. Negative numbers count back from all cores, as in joblib.
    """
    if n_jobs is None:
        nested = joblib.parallel.get_active_backend()[0].nesting_level
        threads = joblib.effective_n_jobs(-1) if nested else _cores()
        limit = os.environ.get("OMP_NUM_THREADS", "")
        if limit.isdigit() and int(limit) > 0:
            threads = min(threads, int(limit))
        return max(1, int(threads))
    if n_jobs == 0:
        raise ValueError("n_jobs=0 is invalid: use None or -1 for all cores, or a positive number of threads")
    return max(1, int(joblib.effective_n_jobs(n_jobs)))


@cache
def _granted() -> int:
    # joblib reads the container's limits from files, which costs as much as a small fit: once is enough.
    return int(joblib.cpu_count())


def _cores() -> int:
    """Return the cores that this process may use now."""
    if hasattr(os, "sched_getaffinity"):  # it may change while the process runs, and is quick to ask
        return min(_granted(), len(os.sched_getaffinity(0)))
    return _granted()


@cache
def _controller() -> threadpoolctl.ThreadpoolController:
    # Looking up the loaded BLAS libraries costs milliseconds: once per process is enough.
    return threadpoolctl.ThreadpoolController()


_here = threading.local()


def _mark_busy() -> None:
    """Remember that this thread belongs to a pool."""
    _here.busy = True


@contextmanager
def _busy() -> Iterator[None]:
    """Count this thread as one of a pool, for the time being."""
    _here.busy = True
    try:
        yield
    finally:
        _here.busy = False


class _BlasLimits:
    """How many threads BLAS may take, while anybody cares.

    The limit is the process's, and scopes of several threads overlap: the least of all wishes holds, and the
    last to leave puts back what was there before the first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wishes: list[int] = []
        self._limiter: Any = None  # remembers what was there before

    def enter(self, threads: int) -> None:
        """Add a wish."""
        with self._lock:
            if not self._wishes:
                self._limiter = _controller().limit(limits=threads, user_api="blas")
            elif threads < min(self._wishes):
                _controller().limit(limits=threads, user_api="blas")
            self._wishes.append(threads)

    def leave(self, threads: int) -> None:
        """Take a wish back."""
        with self._lock:
            before = min(self._wishes)
            self._wishes.remove(threads)
            if not self._wishes:
                self._limiter.restore_original_limits()
                self._limiter = None
            elif min(self._wishes) > before:
                _controller().limit(limits=min(self._wishes), user_api="blas")

    def forked(self) -> None:
        """Forget all wishes: the threads that had them are not in this process."""
        self._lock = threading.Lock()
        self._wishes = []
        if self._limiter is not None:
            self._limiter.restore_original_limits()
            self._limiter = None


_limits = _BlasLimits()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limits.forked)


class _BlasScope:
    """A scope in which BLAS takes no more than some threads; it may be entered again and again."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __enter__(self) -> None:
        _limits.enter(self.threads)

    def __exit__(self, *error: object) -> None:
        _limits.leave(self.threads)


_one_blas_thread = _BlasScope(1)


class Workers:
    """Runs a function over ranges on a fixed number of threads.

    Parameters
    ----------
    threads : int
        How many threads; 1 runs everything in the caller.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._pid = -1
        self._lock = threading.Lock()

    def ranges(
        self, n: int, work: Callable[[int, int], None], *, parts: int | None = None, align: int = 1
    ) -> None:
        """Call ``work(start, stop)`` on pieces that cover ``range(n)``, in parallel."""
        pieces = self.threads if parts is None else max(parts, self.threads)
        step = -(-n // pieces)
        step = -(-step // align) * align
        bounds = [(s, min(s + step, n)) for s in range(0, n, max(step, 1))]
        if self._alone() or len(bounds) <= 1:
            for start, stop in bounds:
                work(start, stop)
            return
        calls: list[Callable[[], None]] = [partial(work, start, stop) for start, stop in bounds]
        if len(calls) <= self.threads:  # the caller is a thread, too, and need not be woken
            self._run(calls[1:], own=calls[0])
        else:
            self._run(calls)

    def each(self, n: int, work: Callable[[int], None], *, stop: Callable[[], None] | None = None) -> None:
        """Call ``work(k)`` for k in ``range(n)``, in parallel; ``work`` must not use this object's threads.

        Parameters
        ----------
        n : int
            Number of calls.
        work : callable
            What to call.
        stop : callable, optional
            Called when one of the calls, or Ctrl-C, raises: it asks those that still run to end early.
        """
        if self._alone() or n <= 1:
            for k in range(n):
                work(k)
            return
        self._run([partial(work, k) for k in range(n)], stop)

    def _run(
        self,
        calls: list[Callable[[], None]],
        stop: Callable[[], None] | None = None,
        own: Callable[[], None] | None = None,
    ) -> None:
        """Make the calls on the pool's threads, and meanwhile ``own`` on this one; wait for all of them."""
        with self.one_blas_thread():
            pool = self._executor()
            futures: list[Future[None]] = []
            try:
                for call in calls:
                    futures.append(pool.submit(call))  # noqa: PERF401  Ctrl-C may come between two of them
                if own is not None:
                    with _busy():
                        own()
                # Short waits: a signal handler of another library may otherwise keep Ctrl-C from waking us.
                while wait(futures, timeout=0.2, return_when=FIRST_EXCEPTION).not_done:
                    if any(f.done() and f.exception() is not None for f in futures):
                        break
                for future in futures:
                    if future.done():
                        future.result()
            except BaseException:
                # Nothing may go on writing to the caller's arrays behind its back.
                for future in futures:
                    future.cancel()
                if stop is not None:
                    stop()
                wait(futures)
                raise

    def one_blas_thread(self) -> AbstractContextManager[None]:
        """Keep BLAS to one thread per caller while several of ours run."""
        return _one_blas_thread

    def scope(self) -> AbstractContextManager[None]:
        """Return a scope in which BLAS keeps to as many threads as were asked for."""
        return nullcontext() if self.threads >= _cores() else _BlasScope(self.threads)

    def _alone(self) -> bool:
        # A thread of a pool that waited for others of it would wait for ever: work inside work runs in place.
        return self.threads == 1 or getattr(_here, "busy", False)

    def _executor(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None or self._pid != os.getpid():  # threads do not survive a fork
                self._pool = ThreadPoolExecutor(
                    self.threads, thread_name_prefix="mercer", initializer=_mark_busy
                )
                self._pid = os.getpid()
            return self._pool

    def __getstate__(self) -> dict[str, int]:
        return {"threads": self.threads}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__init__(state["threads"])  # type: ignore[misc]
