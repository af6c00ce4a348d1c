"""A process that runs examples, one after the other, and is watched from outside.

Whatever an example does to its process (it does not end, it dies, it eats the memory), the fuzzer learns of
it and goes on with a new one.
"""

import contextlib
import multiprocessing
import os
import time

import psutil

from .report import Report

SECONDS = 25.0  # of the processor: how long they last on the clock depends on who else is at work
ASLEEP = 8  # times as many seconds on the clock in which it does nothing but wait
STARTING = 120.0  # on the clock, for a process to begin
MEMORY = 8 << 30


def _end_with_parent():
    """Ask the system to end this process when the fuzzer is killed, also in an endless example."""
    import ctypes
    import signal
    import sys

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _serve(pipe):
    """Run what comes through the pipe, until it is closed."""
    import resource
    import traceback

    _end_with_parent()
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    pipe.send("ready")
    while True:
        try:
            case = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            report = case.run()
        except KeyboardInterrupt:
            return
        except BaseException as error:  # noqa: BLE001 - the fuzzer's own mistake, told and not hidden
            report = Report(ending="broken")
            report.fail("the fuzzer itself", type(error).__name__, traceback.format_exc()[-1500:])
        pipe.send(report)


class Worker:
    """A process for examples, replaced when it had to be ended."""

    def __init__(self, seconds=SECONDS):
        self.seconds = seconds
        self.process = None
        self.hung = set()

    def _start(self):
        # One thread for the BLAS, and for scikit-learn's loops: 40 rows are too few for two.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.seen = psutil.Process(self.process.pid)
        if not self.pipe.poll(STARTING) or self.pipe.recv() != "ready":
            self.close()
            raise TimeoutError(f"a process for examples did not start within {STARTING:g} s")

    def run(self, case):
        """Return the report of one example, whatever happens. The first hang of a place must happen twice."""
        report = self._run(case)
        if report.ending == "late" and _name(case) not in self.hung:
            report = self._run(case)  # what was compiled on the way is compiled now
            if report.ending == "late":
                self.hung.add(_name(case))
        return report

    def _run(self, case):
        if self.process is None or not self.process.is_alive():
            self._start()
        before, start = self._spent(), time.monotonic()
        awake = start
        self.pipe.send(case)
        report = Report()
        while not self.pipe.poll(0.2):
            if not self.process.is_alive():
                break
            used, now = self._spent() - before, time.monotonic()
            awake = now if self._works() else awake
            if used > self.seconds or now - awake > ASLEEP * self.seconds:
                self.close()
                report.ending, report.seconds = "late", now - start
                report.fail("ends in time", _name(case), f"did not end within {used:.0f} s of the processor")
                return report
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            code = self.process.exitcode
            self.close()
            report.ending = "died"
            report.fail("the process never dies", _name(case), f"exit code {code}")
            return report

    def _spent(self):
        """Return the seconds of the processor that the process has used."""
        try:
            times = self.seen.cpu_times()
        except psutil.Error:
            return 0.0
        return times.user + times.system

    def _works(self):
        """Return whether the process runs, or would if it were its turn."""
        try:
            return self.seen.status() == psutil.STATUS_RUNNING
        except psutil.Error:
            return False

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.pipe.close()
            self.process = None


def _name(case):
    return getattr(case, "place", type(case).__name__)
