"""Run scikit-learn's tests with our classes:  python -m tests.peers [MODULE ...] [--known]."""

import argparse
import sys

from . import page
from .classes import MODULES
from .comparison import KNOWN, Comparison, departures, known_tests
from .running import run


def arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=__doc__)
    parser.add_argument("modules", nargs="*", help="the last part of their names is enough; all if not given")
    parser.add_argument("--known", action="store_true", help="write the list of tests that the table is for")
    parser.add_argument("--page", action="store_true", help="only write the page for users")
    return parser.parse_args()


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main():
    options = arguments()
    if options.page:
        page.PAGE.write_text(page.written(), encoding="utf-8")
        return 0
    chosen = [m for m in MODULES if not options.modules or m.rpartition(".")[2] in options.modules]
    names, faults = [], []
    say(f"{'tests of scikit-learn':<46}{'theirs':>8}{'ours':>8}{'listed':>8}{'counted':>9}{'of':>4}")
    for module in chosen:
        theirs = run(module, "theirs")
        names += [f"{module} {name}" for name, there in theirs.items() if there["used"]]
        if options.known:
            continue
        found = Comparison.of(module, theirs, run(module, "ours"), departures(module), known_tests(module))
        counts = len(found.theirs), len(found.ours), len(found.listed), len(found.counted), found.allowed
        say(f"{module:<46}{counts[0]:>8}{counts[1]:>8}{counts[2]:>8}{counts[3]:>9}{counts[4]:>4}")
        for line in found.remarks():
            say(f"  {line}")
        for line in found.faults():
            say(f"  FAULT {line}")
        faults += found.faults()
    if options.known and not options.modules:
        KNOWN.write_text("".join(f"{name}\n" for name in names))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
