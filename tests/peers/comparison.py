"""Compare two runs of a test module: what must pass, what is listed, what is new."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).parent / "departures.toml"
KNOWN = Path(__file__).parent / "known_tests.txt"
UNCOUNTED = "negative weights"  # the one kind of departure that the rule on the number leaves out
KINDS = ("message", "private", "departure", UNCOUNTED)


def departures(module, table=TABLE):
    """Return the listed tests of a module: pairs of a name, with or without its parameters, and an entry."""
    entries = tomllib.loads(table.read_text())["departure"]
    listed = {}
    for entry in entries:
        if entry["kind"] not in KINDS or not entry["reason"].strip():
            raise ValueError(f"{entry}: a departure has one of the kinds {KINDS} and a reason")
        if entry["module"] == module:
            listed.update(dict.fromkeys(entry["tests"], entry))
    return listed


def known_tests(module, path=KNOWN):
    """Return the tests that the table was made for."""
    lines = (line.partition(" ") for line in path.read_text().splitlines())
    return {name for where, _, name in lines if where == module}


def _entry(listed, name):
    return listed.get(name) or listed.get(name.partition("[")[0])


@dataclass
class Comparison:
    """How a module's tests end for us, of those that concern us and pass for scikit-learn."""

    module: str
    theirs: list[str] = field(default_factory=list)  # pass for scikit-learn and concern a swapped class
    ours: list[str] = field(default_factory=list)  # of those, pass for us
    unexplained: dict[str, str] = field(default_factory=dict)  # fail and are not listed, with the message
    listed: dict[str, dict] = field(default_factory=dict)  # fail and are listed, with the entry
    new: dict[str, str] = field(default_factory=dict)  # fail and are newer than the table
    begun: list[str] = field(default_factory=list)  # entries whose tests pass

    @classmethod
    def of(cls, module, theirs, ours, listed, known):
        """Compare the outcomes of two runs."""
        made = cls(module)
        for name, there in theirs.items():
            if there["outcome"] != "passed" or not there["used"]:
                continue
            made.theirs.append(name)
            here = ours.get(name, {"outcome": "failed", "message": "not collected with our classes"})
            entry = _entry(listed, name)
            if here["outcome"] == "passed":
                made.ours.append(name)
            elif entry:
                made.listed[name] = entry
            elif name in known:
                made.unexplained[name] = here["message"]
            else:
                made.new[name] = here["message"]
        failing = {part for name in made.listed for part in (name, name.partition("[")[0])}
        made.begun = [name for name in listed if name not in failing]
        return made

    @property
    def counted(self):
        """The listed tests that the rule on the number counts."""
        return [name for name, entry in self.listed.items() if entry["kind"] != UNCOUNTED]

    @property
    def allowed(self):
        """How many may be listed: one in twenty, and two in any case."""
        return max(2, len(self.theirs) // 20)

    def faults(self):
        """Return what is wrong, in sentences; nothing if all is well."""
        wrong = [f"{self.module}::{name} fails: {why}" for name, why in self.unexplained.items()]
        if len(self.counted) > self.allowed:
            wrong.append(
                f"{self.module}: {len(self.counted)} tests are listed, at most {self.allowed} may be"
            )
        return wrong

    def remarks(self):
        """Return what is worth knowing and no fault."""
        told = [f"{self.module}::{name} passes now and is still listed" for name in self.begun]
        return told + [f"{self.module}::{name} is new and fails: {why}" for name, why in self.new.items()]
