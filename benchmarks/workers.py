"""The parent's side: starts one process per library, hands out jobs, keeps all but one idle."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import time
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from benchmarks.memory import Sampler
from benchmarks.problem import Problem, Settings

ROOT = Path(__file__).resolve().parent.parent


class JobError(RuntimeError):
    """A library failed, died or took too long; the message says which."""


def compiled_code_folder(parent: Path) -> Path:
    """Return a folder for compiled code that changes with the sources.

    The compiler's own cache does not notice an edited helper in another file, and a benchmark must never run
    yesterday's code.
    """
    h = hashlib.sha256()
    spec = importlib.util.find_spec("mercer")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for source in sorted(Path(place).glob("_jit/*.py")):
            h.update(source.read_bytes())
    folder = parent / f"compiled-{h.hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def environment(threads: int, **more: str) -> dict[str, str]:
    """Return the environment of a child: this one, the number of threads, and the repository on the path."""
    limit = {
        name: str(threads)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    }
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, **limit, "PYTHONPATH": path, **more}


class Remote:
    """A library in its own process.

    Parameters
    ----------
    name : str
        Key of ``LIBRARIES``.
    threads : int
        Limit for its thread pools, and its number of cores.
    folder : Path
        Where its log and compiled code go.
    touch_gb : float
        Memory to touch before the first clock starts.
    limit : float
        Seconds after which a job is given up and the process ended.
    """

    def __init__(self, name: str, threads: int, folder: Path, touch_gb: float, limit: float) -> None:
        self.name = name
        self._threads, self._folder, self._touch, self._limit = threads, folder, touch_gb, limit
        self._process: subprocess.Popen[bytes] | None = None
        self.facts: dict[str, Any] = {}

    def __enter__(self) -> Remote:
        ours, theirs = Pipe()
        with (self._folder / f"{self.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "benchmarks.worker",
                    self.name,
                    str(theirs.fileno()),
                    str(self._threads),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(self._threads, NUMBA_CACHE_DIR=str(compiled_code_folder(self._folder))),
            )
        theirs.close()
        self._pipe = ours
        self.facts = self.ask("start", touch_gb=self._touch)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        self._pipe.close()  # the worker reads the end of the pipe and leaves
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def ask(self, job: str, **arguments: Any) -> Any:
        """Do a job and return its result; a process that was lost is started again first."""
        if self._process is None:
            self.__enter__()
        assert self._process is not None
        try:
            self._pipe.send((job, arguments))
            if not self._pipe.poll(self._limit):
                self._process.kill()
                self.__exit__()
                raise JobError(f"gave up after {self._limit:g} s")
            state, result = self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            self.__exit__()
            raise JobError(f"the process of {self.name} died in {job!r}; see its log") from error
        if state == "failed":
            raise JobError(result)
        return result

    def load(self, path: Path, settings: Settings) -> Any:
        """Load a problem and warm up."""
        return self.ask("load", path=path, settings=settings)

    def fit(self, settings: Settings, repeat_seconds: float) -> dict[str, Any]:
        """Fit the loaded problem; where the system keeps no resettable peak of memory, sample it here."""
        if self.facts.get("exact_peak") or self._process is None:
            return self.ask("fit", settings=settings, repeat_seconds=repeat_seconds)
        with Sampler(self._process.pid) as sampler:
            answer = self.ask("fit", settings=settings, repeat_seconds=repeat_seconds)
        answer["peak_bytes"] = max(0, sampler.peak - answer["base_bytes"])
        return answer


class Crew:
    """All libraries of a run; a context manager.

    Parameters
    ----------
    names : list of str
        Libraries, ours first.
    threads, folder, touch_gb, limit
        As for ``Remote``.
    pause : float
        Seconds of silence before each job, so that idle threads of the last one have gone to sleep.
    """

    def __init__(
        self,
        names: list[str],
        *,
        threads: int,
        folder: Path,
        touch_gb: float,
        limit: float,
        pause: float = 0.2,
    ) -> None:
        self.folder, self.pause = folder, pause
        self.remotes = [Remote(name, threads, folder, touch_gb, limit) for name in names]
        self.lost: dict[str, str] = {}

    def __enter__(self) -> Crew:
        for remote in list(self.remotes):
            try:
                remote.__enter__()
            except JobError as error:
                self.lost[remote.name] = str(error)
                self.remotes.remove(remote)
        return self

    def __exit__(self, *_: object) -> None:
        for remote in self.remotes:
            remote.__exit__()

    def facts(self) -> dict[str, dict[str, Any]]:
        """Return version, import time and memory touched, by library."""
        return {remote.name: remote.facts for remote in self.remotes}

    def turn(self, number: int) -> list[Remote]:
        """Return the libraries in the order of a round; who begins changes from round to round."""
        shift = number % max(len(self.remotes), 1)
        return self.remotes[shift:] + self.remotes[:shift]

    def rest(self) -> None:
        """Wait until threads that spin after their work have stopped."""
        time.sleep(self.pause)

    def save(self, problem: Problem) -> Path:
        """Write a problem where the workers find it."""
        return problem.save(self.folder)
