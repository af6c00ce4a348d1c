"""A plain thread pool for compiled code that releases the GIL.

It needs no OpenMP, survives ``fork`` and nested use, and leaves nothing behind: the BLAS limit holds only while
the threads run, and the threads end with their owner.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import joblib
import threadpoolctl


def resolve_threads(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` asks for.

    ``None`` means every core the process may use (at most ``OMP_NUM_THREADS``), and one inside a joblib worker.
    Negative numbers count back from all cores, as in joblib.
    """
    if n_jobs is None:
        threads = joblib.effective_n_jobs(-1)
        limit = os.environ.get("OMP_NUM_THREADS", "")
        if limit.isdigit() and int(limit) > 0:
            threads = min(threads, int(limit))
        return max(1, int(threads))
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: use None or -1 for all cores, or a positive number of threads")
    return max(1, int(joblib.effective_n_jobs(n_jobs)))


@cache
def _controller() -> threadpoolctl.ThreadpoolController:
    # Looking up the loaded BLAS libraries costs milliseconds: once per process is enough.
    return threadpoolctl.ThreadpoolController()


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

    def ranges(
        self, n: int, work: Callable[[int, int], None], *, parts: int | None = None, align: int = 1
    ) -> None:
        """Call ``work(start, stop)`` on pieces that cover ``range(n)``, in parallel."""
        pieces = self.threads if parts is None else max(parts, self.threads)
        step = -(-n // pieces)
        step = -(-step // align) * align
        bounds = [(s, min(s + step, n)) for s in range(0, n, max(step, 1))]
        if self.threads == 1 or len(bounds) <= 1:
            for start, stop in bounds:
                work(start, stop)
            return
        with self.one_blas_thread():
            for future in [self._executor().submit(work, start, stop) for start, stop in bounds]:
                future.result()

    def each(self, n: int, work: Callable[[int], None]) -> None:
        """Call ``work(k)`` for each k in ``range(n)``, in parallel; ``work`` must not use this object's threads."""
        if self.threads == 1 or n <= 1:
            for k in range(n):
                work(k)
            return
        with self.one_blas_thread():
            futures = [self._executor().submit(work, k) for k in range(n)]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                for future in futures:
                    future.cancel()
                raise

    @contextmanager
    def one_blas_thread(self) -> Iterator[None]:
        """Keep BLAS to one thread per caller while several of ours run."""
        with _controller().limit(limits=1, user_api="blas"):
            yield

    def _executor(self) -> ThreadPoolExecutor:
        if self._pool is None or self._pid != os.getpid():  # threads do not survive a fork
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="mercer")
            self._pid = os.getpid()
        return self._pool

    def __getstate__(self) -> dict[str, int]:
        return {"threads": self.threads}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__init__(state["threads"])  # type: ignore[misc]
