"""A recommendation in words, as text and as HTML."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape
from typing import Any

from sklearn.base import clone

WIDTH = 96


@dataclass(frozen=True)
class Tried:
    """One kind of machine that was tried, at its best setting."""

    name: str
    score: float
    standard_error: float
    params: dict[str, Any]
    settings: int


@dataclass(frozen=True)
class Recommendation:
    """The result of :func:`mercer.recommend`; prints as text.

    Attributes
    ----------
    pipeline : Pipeline
        Ready to fit: what the columns need first, then the machine with its parameters.
    score, standard_error : float
        Its cross-validated score and the standard error of that.
    scoring : str
        What the score is.
    baseline : float
        The score of guessing (the most frequent class, the mean).
    reasons : tuple of str
        Why, in words.
    tried : tuple of Tried
        The alternatives at their best, best first.
    seconds : float
        The time it took.
    """

    pipeline: Any
    score: float
    standard_error: float
    scoring: str
    baseline: float
    reasons: tuple[str, ...]
    tried: tuple[Tried, ...] = field(default=())
    seconds: float = 0.0

    @property
    def figure(self) -> str:
        """The cross-validated figure in words."""
        return (
            f"cross-validated {self.scoring.replace('_', ' ')} {self.score:.4f} +- {self.standard_error:.4f} "
            f"(guessing: {self.baseline:.4f})"
        )

    def fit(self, X: Any, y: Any) -> Any:
        """Fit the recommended pipeline.

        Parameters
        ----------
        X, y : data
            All rows.

        Returns
        -------
        Pipeline
            A fitted copy.
        """
        return clone(self.pipeline).fit(X, y)

    def __str__(self) -> str:
        lines = ["Recommendation", ""]
        lines += [f"  {line}" for line in _code(self.pipeline).splitlines()]
        lines += ["", self.figure, "", "Why:"]
        for reason in self.reasons:
            lines += textwrap.wrap(reason, WIDTH, initial_indent="- ", subsequent_indent="  ")
        lines += ["", f"Tried in {self.seconds:.1f} s:"]
        wide = max((len(t.name) for t in self.tried), default=0)
        for t in self.tried:
            found = ", ".join(f"{k.rpartition('__')[2]}={_number(v)}" for k, v in t.params.items())
            score = f"{t.score:.4f} +- {t.standard_error:.4f}"
            lines.append(f"  {t.name:<{wide}}  {score}  chosen of {t.settings}: {found}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons)
        cell = '<td style="text-align:left;padding:2px 10px">'
        rows = "".join(
            "<tr>"
            + "".join(
                f"{cell}{escape(text)}</td>"
                for text in (
                    t.name,
                    f"{t.score:.4f} ± {t.standard_error:.4f}",
                    str(t.settings),
                    ", ".join(f"{k.rpartition('__')[2]}={_number(v)}" for k, v in t.params.items()),
                )
            )
            + "</tr>"
            for t in self.tried
        )
        head = "".join(f"<th>{name}</th>" for name in ("machine", self.scoring, "settings tried", "best"))
        return (
            f"<div><h4>Recommendation</h4><pre>{escape(_code(self.pipeline))}</pre>"
            f"<p><b>{escape(self.figure)}</b></p><ul>{reasons}</ul>"
            f"<details><summary>Tried in {self.seconds:.1f} s</summary><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></details></div>"
        )


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _code(pipeline: Any) -> str:
    """Return the steps as Python."""
    steps = ",\n".join(textwrap.indent(" ".join(repr(step).split()), "    ") for _, step in pipeline.steps)
    return f"make_pipeline(\n{steps},\n)"
