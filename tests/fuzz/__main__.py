"""Fuzz for a given time:  python -m fuzz --minutes 30 [--kind fits|files|commands|processes] ..."""

import argparse
import sys
import threading
import time

from . import log as logs
from .kinds import KINDS
from .rounds import explore
from .worker import SECONDS, Worker


def arguments(words=None):
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long")
    parser.add_argument("--kind", choices=sorted(KINDS), action="append", help="what; all if not given")
    parser.add_argument("--seed", type=int, help="run this seed only, whatever the log says")
    parser.add_argument("--first-seed", type=int, default=0, help="the first one of an empty log")
    parser.add_argument(
        "--log", default=str(logs.PLACE), help="where totals are kept; the next seed comes from it"
    )
    parser.add_argument("--examples", type=int, default=60, help="of each seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--only", action="append", help="estimators to fit, by name")
    parser.add_argument("--no-shrink", action="store_true", help="leave examples as they are found")
    return parser.parse_args(words)


def say(text=""):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Run:
    """The state that the threads share: each of them has a worker, and all take seeds from one counter."""

    def __init__(self, options):
        self.options = options
        self.kinds = options.kind or sorted(KINDS)
        self.end = time.monotonic() + 60 * options.minutes
        self.log = logs.Log(options.log)
        self.known = self.log.known()
        self.told = set(self.known)
        self.seeds = {kind: max(self.log.next_seed(kind), options.first_seed) for kind in self.kinds}
        if options.seed is not None:
            self.seeds = dict.fromkeys(self.kinds, options.seed)
        self.lock = threading.Lock()
        self.turn = 0
        self.failures = 0
        self.broken = None

    def over(self):
        return time.monotonic() > self.end

    def take(self):
        """Return the next kind and seed, or None when there is none."""
        with self.lock:
            if self.over() or (self.options.seed is not None and self.turn >= len(self.kinds)):
                return None
            kind = self.kinds[self.turn % len(self.kinds)]
            self.turn += 1
            number = self.seeds[kind]
            self.seeds[kind] += 1
            return kind, number

    def work(self):
        worker = Worker(SECONDS)
        try:
            while (task := self.take()) is not None:
                kind, number = task
                strategy = KINDS[kind](self.options.only) if kind == "fits" else KINDS[kind]()
                done = explore(
                    kind, strategy, number, worker, self.known, examples=self.options.examples,
                    stop=self.over, shrink=not self.options.no_shrink,
                )  # fmt: skip
                with self.lock:
                    self.log.add(done)
                    self.tell(done)
        except BaseException as error:  # noqa: BLE001 - a thread's error would be printed and forgotten
            self.broken, self.end = error, 0.0
        finally:
            worker.close()

    def tell(self, done):
        for found in done.found.values():
            self.failures += found.count
            if found.key not in self.told:
                self.told.add(found.key)
                say(f"\n==== {done.kind}, seed {done.seed}: {found.key}")
                say("\n".join("# " + line for line in found.message.splitlines()))
                say(found.snippet)
        for slow in done.slow:
            say(f"slow, {done.kind}, seed {done.seed}: {slow}")


def main(words=None):
    options = arguments(words)
    run = Run(options)
    say(f"seeds from {run.seeds}, log {options.log}")
    threads = [threading.Thread(target=run.work, daemon=True) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        run.end = 0.0
        for thread in threads:
            thread.join(60)
    if run.broken is not None:
        raise run.broken
    say()
    for line in run.log.totals():
        say(line)
    say(f"{run.failures} failures in this run" if run.failures else "no failure in this run")
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
