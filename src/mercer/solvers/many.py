"""Many problems over parts of one kernel matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mercer.arrays import Float64, Index
from mercer.gram import Gram
from mercer.problems import Problem
from mercer.solvers.progress import Listener

if TYPE_CHECKING:
    from mercer.solvers.base import Solution


class Many(ABC):
    """Problems that are stated when their turn comes, and whoever waits for their solutions.

    Attributes
    ----------
    rows : sequence of (m_k,) intp
        The points of each problem.
    side_by_side : bool
        Whether several may be solved at the same time.
    """

    rows: Sequence[Index]
    side_by_side: bool = True

    @abstractmethod
    def state(self, k: int, part: Gram) -> tuple[Problem, Float64 | None]:
        """Return problem k on its part of the kernel matrix, and where to begin."""

    def prepared(self, k: int, part: Gram) -> Gram:
        """Return the part of the matrix as problem k wants it."""
        return part

    @abstractmethod
    def solved(self, k: int, part: Gram, problem: Problem, solution: Solution) -> None:
        """Take the solution of problem k."""

    def listener(self, k: int, problem: Problem) -> Listener | None:
        """Return who looks on while problem k is solved; None if nobody does."""
        return None

    def stacked(self, gram: Gram) -> Any:
        """Return all problems as one whose variables stand one after the other; None if that makes no sense.

        It is a box-constrained dual with one bias, whose box and linear term do not depend on the kernel.
        """
        return None

    def stop(self) -> None:  # noqa: B027  who solves one after the other need not ask
        """Ask all solves that still run to end early."""


class Some(Many):
    """Some of many problems.

    Parameters
    ----------
    many : Many
        All of them.
    chosen : list of int
        Which are meant.
    """

    def __init__(self, many: Many, chosen: list[int]) -> None:
        self.many, self.chosen = many, chosen
        self.rows = [many.rows[k] for k in chosen]
        self.side_by_side = many.side_by_side

    def state(self, k: int, part: Gram) -> tuple[Problem, Float64 | None]:
        """Return the problem and where to begin."""
        return self.many.state(self.chosen[k], part)

    def prepared(self, k: int, part: Gram) -> Gram:
        """Return the part of the matrix as the problem wants it."""
        return self.many.prepared(self.chosen[k], part)

    def solved(self, k: int, part: Gram, problem: Problem, solution: Solution) -> None:
        """Take the solution."""
        self.many.solved(self.chosen[k], part, problem, solution)

    def listener(self, k: int, problem: Problem) -> Listener | None:
        """Return who looks on."""
        return self.many.listener(self.chosen[k], problem)

    def stop(self) -> None:
        """Ask all solves to end early."""
        self.many.stop()
