"""The free variables of an optimum: their kernel rows, and the Cholesky factor of their matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer import _jit
from mercer.arrays import Float64, Ints

RANK = 1e-11  # share of a diagonal entry below which what is left of it counts as zero
CAPACITY = 16  # members that room is made for at first
SPARE = 64  # points that room is made for beyond those present


class FreeBlock:
    r"""Members with R'R = K + diag(r) + kappa over them, and the rows of K that belong to them.

    With a fixed sum, kappa > 0 makes the matrix definite wherever the system bordered by the sum is regular.
    Rows are kept without gaps, in an order of their own, so that a product with all of them is one call.

    Parameters
    ----------
    n : int
        Points.
    kappa : float
        What is added to all entries; 0 without a fixed sum.
    """

    def __init__(self, n: int, kappa: float) -> None:
        self.n, self.kappa = n, kappa
        self.R = np.zeros((CAPACITY, CAPACITY))
        self.rows = np.zeros((CAPACITY, n + SPARE))
        self.members: list[int] = []  # variables, in the order of R
        self.slots: list[int] = []  # where the row of each is

    @property
    def size(self) -> int:
        """How many members there are."""
        return len(self.members)

    # -- members ---------------------------------------------------------------------------------------------

    def column(self, row: Float64, point: int, shift: float) -> tuple[Float64, float, float]:
        """Return a candidate's column solved with R', its diagonal entry, and what is left of that.

        Parameters
        ----------
        row : (n,) float64
            The candidate's row of K.
        point : int
            Its point.
        shift : float
            Its r.
        """
        m = self.size
        x = np.empty(m + 1)
        x[:m] = row[self.points()] + self.kappa
        corner = float(row[point]) + self.kappa + shift
        left = float(_jit.free_factor.schur(self.R, m, x, corner))
        return x, corner, left

    def regular(self, corner: float, left: float, largest: float) -> bool:
        """Return whether a candidate keeps the factor regular."""
        return left > RANK * max(corner, 1e-3 * largest)

    def append(self, variable: int, row: Float64, x: Float64, left: float) -> None:
        """Make a variable a member, as `column` has found it."""
        m = self.size
        if m == self.R.shape[0]:
            R, rows = np.zeros((2 * m, 2 * m)), np.zeros((2 * m, self.rows.shape[1]))
            R[:m, :m], rows[:m] = self.R, self.rows
            self.R, self.rows = R, rows
        _jit.free_factor.append(self.R, m, x, left)
        self.rows[m, : self.n] = row
        self.members.append(variable)
        self.slots.append(m)

    def remove(self, place: int) -> None:
        """Take a member out."""
        m, hole = self.size, self.slots[place]
        _jit.free_factor.delete(self.R, m, place)
        del self.members[place], self.slots[place]
        if hole != m - 1:
            self.rows[hole, : self.n] = self.rows[m - 1, : self.n]
            self.slots[self.slots.index(m - 1)] = hole

    def points(self) -> Ints:
        """Return the members' points."""
        return np.asarray(self.members, dtype=np.int64) % max(self.n, 1)

    def twin(self) -> FreeBlock:
        """Return a copy."""
        other = FreeBlock(0, self.kappa)
        m = max(self.size + 4, CAPACITY)
        other.n, other.R = self.n, np.zeros((m, m))
        other.rows = np.zeros((m, self.n + SPARE))
        k = self.size
        other.R[:k, :k], other.rows[:k, : self.n] = self.R[:k, :k], self.rows[:k, : self.n]
        other.members, other.slots = list(self.members), list(self.slots)
        return other

    # -- points ----------------------------------------------------------------------------------------------

    def add_point(self, row: Float64, copies: int) -> None:
        """Make room for a point whose kernel values with all points, itself the last, are given."""
        n = self.n
        if n == self.rows.shape[1]:
            rows = np.zeros((self.rows.shape[0], n + max(SPARE, n // 4)))
            rows[:, :n] = self.rows
            self.rows = rows
        if self.members:
            self.rows[self.slots, n] = row[self.points()]
        self.members = [v % n + (v // n) * (n + 1) for v in self.members] if copies > 1 else self.members
        self.n = n + 1

    def drop_point(self, point: int, copies: int) -> None:
        """Take out a point none of whose variables is a member; the last point takes its place."""
        last = self.n - 1
        self.rows[: self.size, point] = self.rows[: self.size, last]
        self.rows[:, last] = 0.0
        moved = []
        for v in self.members:
            where, copy = v % self.n, v // self.n
            moved.append((point if where == last else where) + copy * last)
        self.members = moved
        self.n = last

    # -- systems ---------------------------------------------------------------------------------------------

    def solve(self, right: Float64, total: float, with_sum: bool) -> tuple[Float64, float]:
        """Return z and mu with (K + r) z + mu = right and sum z = total; without a sum mu is 0."""
        m = self.size
        x = np.empty(max(m, 1))
        x[:m] = right
        room = np.empty(max(m, 1))
        mu = float(_jit.free_factor.solve_with_sum(self.R, m, with_sum, self.kappa, total, x, room))
        return x[:m], mu

    def null_direction(self, x: Float64) -> Float64:
        """Return z with (K + kappa) z = a candidate's column, given that column as `column` returns it."""
        z = x[: self.size].copy()
        _jit.free_factor.backward(self.R, self.size, z)
        return z

    def product(self, z: Float64, out: Float64) -> None:
        """Add K z to ``out``, z over the members."""
        if self.members:
            coef = np.zeros(self.size)
            coef[self.slots] = z
            out += coef @ self.rows[: self.size, : self.n]

    def rebuild(self, variables: list[int], shift: Float64, row_of: Callable[[int], Float64]) -> list[int]:
        """Factorise anew over some variables; return those that would make the factor singular."""
        known = {v: self.rows[s, : self.n].copy() for v, s in zip(self.members, self.slots, strict=True)}
        self.members, self.slots = [], []
        outside = []
        for v in variables:
            point = v % self.n
            row = known.get(v)
            row = row_of(point) if row is None else row
            x, corner, left = self.column(row, point, float(shift[v]))
            if self.regular(corner, left, corner):
                self.append(v, row, x, left)
            else:
                outside.append(v)
        return outside
