"""Interior-point solutions of ill-conditioned problems: of a block, and once of the whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer.arrays import Float64
from mercer.gram import Gram
from mercer.problems import Dual
from mercer.solvers.base import Limits, Solver
from mercer.solvers.dual.dense_block import DenseBlock
from mercer.solvers.dual.low_rank import Model, rank_within

LOW_RANK = 0.15  # rank, as a share of all points, up to which the problem is solved on a factor
LEAST_POINTS = 1000  # fewer are soon solved block by block, and end at a vertex rather than inside a face
FACTOR_STEPS = 4  # models on such a factor, one after the other


class WholeRescue:
    """Whether the whole needs an interior point, whether it has had one, and how it is solved.

    Where few columns of a Cholesky factor are the kernel matrix up to rounding, as for smooth kernels of few
    features, one solution on the factor costs less than the steps of a single ill-conditioned block.

    Parameters
    ----------
    options : Solver
        Memory.
    problem : Dual
        The whole problem.
    limits : Limits
        When to stop.
    """

    def __init__(self, options: Solver, problem: Dual, limits: Limits) -> None:
        self.options, self.problem, self.limits = options, problem, limits
        self.due = False  # working sets alone would get nowhere
        self.done = False  # there is only one
        self.looked = False  # whether the rank is known
        self.model: Model | None = None  # on a factor, if the rank is low

    def has_low_rank(self, gram: Gram) -> bool:
        """Return whether a factor of few columns is the whole matrix up to rounding."""
        p = self.problem
        if not self.looked and p.copies == 1 and p.n >= LEAST_POINTS:
            rank = min(int(LOW_RANK * p.n), rank_within(p.n, 1, self.options.block_bytes))
            self.model = Model.complete(gram.exact(), p, rank)
        self.looked = True
        return self.model is not None

    def fits(self, part: Dual) -> bool:
        """Return whether a working set is so much of the whole that all of it should be solved instead."""
        n = self.problem.n  # a problem with two variables per point would need four times the memory
        return part.copies == 1 and 2 * part.n >= n and 8 * n**2 <= 2 * self.options.block_bytes

    def restarted(self, block: DenseBlock, part: Dual) -> bool:
        """Start an ill-conditioned block anew from its interior-point solution, if memory allows."""
        if 16 * part.size**2 > 2 * self.options.block_bytes:
            return False
        return block.restart_from_interior(self.limits.out_of_time)

    def run(self, gram: Gram, b: Float64, f: Float64, g: Float64, target: Callable[[], float]) -> None:
        """Go to the solution, changing b and f in place.

        Parameters
        ----------
        gram : Gram
            K.
        b, f, g : float64
            A feasible point, K beta and the gradient there.
        target : callable
            The violation to reach.
        """
        self.due, self.done = False, True
        if self.model is not None:
            self._on_factor(self.model, b, f, target)
            return
        every = np.arange(self.problem.n)
        block = DenseBlock(gram.exact().block(every, every), gram.diag(), self.problem, b, g)
        if block.restart_from_interior(self.limits.out_of_time):
            block.write(b)
            f[:] = gram.exact().matvec(self.problem.beta(b))

    def _on_factor(self, model: Model, b: Float64, f: Float64, target: Callable[[], float]) -> None:
        """Go from minimum to minimum of models of the objective whose curvature is the factor's."""
        p = self.problem
        value = p.objective(b, f)
        for _ in range(FACTOR_STEPS):
            new, _ = model.step(b, f, self.limits.out_of_time)
            products = model.gram.matvec(p.beta(new))
            before, value = value, p.objective(new, products)
            if not value < before:
                return
            b[:], f[:] = new, products
            if p.violation(b, p.gradient(b, f)) <= target() or p.hopeless(b, f):
                return
