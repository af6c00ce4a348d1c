"""What a report is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from mercer.bounds import report_html, report_text

Status = Literal["met", "broken", "yours"]
Kind = Literal["theorem", "modern", "average", "rate", "estimate"]


@dataclass(frozen=True)
class Assumption:
    """An assumption of a bound; ``status`` "yours" means that no computer can check it."""

    text: str
    status: Status


@dataclass(frozen=True)
class Fact:
    """A property of the model."""

    name: str
    value: float
    note: str = ""


class LateFact(Fact):
    """A number that takes work to find and that no promise needs: the work is done when somebody looks.

    Parameters
    ----------
    name : str
        What it is called.
    work : callable
        Returns the number and the note.
    """

    _work: Callable[[], tuple[float, str]] | None
    _found: tuple[float, str] | None

    def __init__(self, name: str, work: Callable[[], tuple[float, str]]) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_work", work)
        object.__setattr__(self, "_found", None)

    def _find(self) -> tuple[float, str]:
        if self._found is None:
            assert self._work is not None
            object.__setattr__(self, "_found", self._work())
            object.__setattr__(self, "_work", None)  # it holds the data
        assert self._found is not None
        return self._found

    @property
    def value(self) -> float:
        """The number."""
        return self._find()[0]

    @property
    def note(self) -> str:
        """What it is, in words."""
        return self._find()[1]

    def settled(self) -> Fact:
        """Return the number as a plain fact, found if nobody has looked yet."""
        return Fact(self.name, self.value, self.note)

    def __reduce__(self) -> tuple[type[Fact], tuple[str, float, str]]:
        return Fact, (self.name, self.value, self.note)


@dataclass(frozen=True)
class Line:
    """One bound.

    Attributes
    ----------
    name : str
        What it is called.
    promise : str
        What it says, in words, with a place ``{value}`` for the number.
    value : float or None
        The bound; None when it could not be computed, ``why`` says what is missing.
    source : str
        Where it is stated.
    kind : {"theorem", "modern", "average", "rate", "estimate"}
        A statement of the textbooks; a later one that is often sharper; one that holds on average over
        training sets only; one with an unspecified constant (``value`` is for constant 1); an estimate that
        promises nothing.
    seen : float or None
        The same quantity on the training points (or the held-out ones).
    trivial : float
        A value from which on the promise says nothing.
    assumptions : tuple of Assumption
        What it rests on.
    why : str
        How the value came about, or why there is none.
    """

    name: str
    promise: str
    value: float | None
    source: str
    kind: Kind = "theorem"
    seen: float | None = None
    trivial: float = 1.0
    assumptions: tuple[Assumption, ...] = ()
    why: str = ""

    @property
    def vacuous(self) -> bool | None:
        """Whether the value says nothing; None where there is none, or only up to a constant."""
        return None if self.value is None or self.kind == "rate" else self.value >= self.trivial

    @property
    def broken(self) -> tuple[Assumption, ...]:
        """The assumptions that are known not to hold."""
        return tuple(a for a in self.assumptions if a.status == "broken")

    @property
    def verdict(self) -> str:
        """What the line amounts to, in words."""
        if self.value is None:
            return "not computed"
        if self.kind == "rate":
            return "constant unknown"
        if self.kind == "estimate":
            return "an estimate"
        if self.vacuous:
            return "vacuous"
        if self.broken:
            return "assumption violated"
        return "on average" if self.kind == "average" else "guarantee"


@dataclass(frozen=True)
class Report:
    """Generalisation bounds of one fitted model; prints as a table.

    Attributes
    ----------
    title, about : str
        The machine; what new points it makes promises about.
    delta : float
        Probability with which each promise may fail.
    n : int
        Number of training points.
    facts : tuple of Fact
        Numbers of the machine.
    lines : tuple of Line
        The promises.
    """

    title: str
    about: str
    delta: float
    n: int
    facts: tuple[Fact, ...] = ()
    lines: tuple[Line, ...] = field(default=())

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """All assumptions of all lines, each once, the broken ones first."""
        order = {"broken": 0, "yours": 1, "met": 2}
        once = dict.fromkeys(a for line in self.lines for a in line.assumptions)
        return tuple(sorted(once, key=lambda a: order[a.status]))

    @property
    def best(self) -> Line | None:
        """The smallest error rate that is promised, or None if nothing is."""
        sound = [
            x for x in self.lines if x.verdict == "guarantee" and x.value is not None and x.trivial == 1.0
        ]
        return min(sound, key=lambda x: x.value or 0.0, default=None)

    def __getitem__(self, name: str) -> Line:
        for line in self.lines:
            if line.name == name:
                return line
        raise KeyError(f"no line is called {name!r}; there are {[line.name for line in self.lines]}")

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __str__(self) -> str:
        return report_text.render(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return report_html.render(self)


@dataclass(frozen=True)
class Reports:
    """One report per two-class machine of a classifier for more classes.

    Attributes
    ----------
    title : str
        The classifier.
    parts : tuple of Report
        The reports.
    lines : tuple of Line
        What is known of the classifier as a whole.
    """

    title: str
    parts: tuple[Report, ...]
    lines: tuple[Line, ...] = ()

    def __getitem__(self, number: int) -> Report:
        return self.parts[number]

    def __iter__(self) -> Iterator[Report]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        return report_text.join(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return report_html.join(self)
