"""The log: a line for each round, so that runs go on where the last one stopped and totals add up."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import mercer

PLACE = Path("tests") / "fuzz" / "out" / "log.jsonl"


def library():
    """Return a fingerprint of the library's sources."""
    digest = hashlib.sha256()
    home = Path(mercer.__file__).parent
    for path in sorted(home.rglob("*.py")):
        digest.update(path.relative_to(home).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


class Log:
    """A file of rounds, read at the start and written to after each round."""

    def __init__(self, path):
        self.path = Path(path)
        self.library = library()
        self.lines = []
        if self.path.exists():
            self.lines = [json.loads(line) for line in self.path.read_text().splitlines() if line.strip()]

    def next_seed(self, kind):
        return 1 + max((line["seed"] for line in self.lines if line["kind"] == kind), default=-1)

    def known(self):
        """Return the failures that this very library was seen to have, made small before."""
        return {
            found["key"] for line in self.lines if line["library"] == self.library for found in line["found"]
        }

    def add(self, done):
        line = {
            "kind": done.kind, "seed": done.seed, "library": self.library, "examples": done.examples,
            "fits": done.fits, "seconds": round(done.seconds, 2), "endings": dict(done.endings),
            "slow": done.slow,            "found": [vars(found) for found in done.found.values()],
        }  # fmt: skip
        self.lines.append(line)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def totals(self):
        """Return one line of words for each kind: all that was run, and what of it with this library."""
        words = []
        for kind in sorted({line["kind"] for line in self.lines}):
            of = [line for line in self.lines if line["kind"] == kind]
            now = [line for line in of if line["library"] == self.library]
            ends = sum((Counter(line["endings"]) for line in now), Counter())
            kinds = {f["key"] for line in now for f in line["found"]}
            words.append(
                f"{kind}: {_sum(of, 'examples')} examples, {_sum(of, 'fits')} fits in {len(of)} rounds; "
                f"with these sources {_sum(now, 'examples')} examples, {_sum(now, 'fits')} fits, "
                f"{sum(f['count'] for line in now for f in line['found'])} failures of {len(kinds)} kinds; "
                + ", ".join(f"{name} {count}" for name, count in ends.most_common())
            )
        return words


def _sum(lines, key):
    return sum(line[key] for line in lines)
