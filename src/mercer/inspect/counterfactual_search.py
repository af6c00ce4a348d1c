"""Local search for a row close to another one, inside a set that a model defines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer.arrays import Float64
from mercer.inspect.changed_rows import ChangedRows

POINTS = 24  # of a line, looked at together
HALVINGS = 4  # of such lines: a place is found to 24^-4 of its length
ROUNDS = 40  # of linear programs
LARGEST, LEAST = 1.0, 1e-4  # trust region, in units of the columns
CORRECTIONS = 4  # of a linear program whose result is on the wrong side
GAIN = 1e-6  # of the distance: less is no progress


class Search:
    """Walks from a row that is wanted towards x.

    Parameters
    ----------
    space : ChangedRows
        The rows.
    holds : callable
        Which of (n, d) rows are wanted.
    margin : callable
        A function of (n, d) rows that is larger where rows are wanted.
    slope : callable
        Its derivatives at one row, by the columns of numbers.
    """

    def __init__(
        self,
        space: ChangedRows,
        holds: Callable[[Float64], np.ndarray],
        margin: Callable[[Float64], Float64],
        slope: Callable[[Float64], Float64],
    ) -> None:
        self.space, self.holds, self.margin, self.slope = space, holds, margin, slope

    def closest(self, start: Float64) -> Float64:
        """Return a wanted row close to x, found from a wanted row."""
        space = self.space
        z = self.shrunk(self.restored(start))
        numbers = space.free & ~space.text
        walked = self.walked(z, numbers & ~space.whole)
        if (numbers & space.whole).any():
            relaxed = self.snapped(self.walked(z, numbers))
            if relaxed is not None and space.distance(relaxed) < space.distance(walked):
                walked = relaxed
        return self.shrunk(self.restored(walked))

    def restored(self, z: Float64) -> Float64:
        """Set columns back to those of x, as many as possible, those that cost the margin least first."""
        space = self.space
        while True:
            changed = np.flatnonzero(space.costs(z[None])[0] > 0)
            if not changed.size:
                return z
            trials = np.repeat(z[None], changed.size, axis=0)
            trials[np.arange(changed.size), changed] = space.x[changed]
            loss = (self.margin(z[None])[0] - self.margin(trials)) / space.costs(z[None])[0][changed]
            possible = self.holds(trials)
            order = changed[np.lexsort((loss, ~possible))]
            count = int(possible.sum())
            if count == 0:
                return z
            # The longest run of columns that can be set back together, by halving; one can.
            while count > 1:
                trial = z.copy()
                trial[order[:count]] = space.x[order[:count]]
                if self.holds(trial[None])[0]:
                    break
                count //= 2
            z = z.copy()
            z[order[:count]] = space.x[order[:count]]

    def shrunk(self, z: Float64) -> Float64:
        """Move each number towards x as far as the row stays wanted, the largest change first."""
        space = self.space
        for j in np.argsort(-space.costs(z[None])[0]):
            if space.text[j] or space.costs(z[None])[0][j] == 0:
                continue
            near, far = space.x[j], z[j]
            for _ in range(HALVINGS):
                places = np.linspace(near, far, POINTS + 1)
                if space.whole[j]:  # away from x
                    places = np.ceil(places) if far > near else np.floor(places)
                line = np.repeat(z[None], places.size, axis=0)
                line[:, j] = places
                good = self.holds(line)
                # The first wanted place from which all places up to z are: no jump over a gap.
                first = places.size - int(np.argmin(np.append(good[::-1], False)))
                if first >= places.size:
                    break
                far, near = places[first], places[max(0, first - 1)]
                if far == near or first == 0:
                    break
            if abs(far - space.x[j]) < abs(z[j] - space.x[j]):
                z = z.copy()
                z[j] = far
        return z

    def walked(self, z: Float64, use: np.ndarray) -> Float64:
        """Follow the boundary by linear programs on the slopes, as long as the distance falls."""
        space, radius = self.space, LARGEST
        if not use.any():
            return z
        slope, height = self.slope(z), float(self.margin(z[None])[0])
        for _ in range(ROUNDS):
            if radius < LEAST:
                break
            needed, better = 0.0, None
            for _ in range(CORRECTIONS):
                trial = self.program(z, slope, use, radius, needed)
                if trial is None or space.distance(trial) >= space.distance(z) * (1.0 - GAIN):
                    break
                if self.holds(trial[None])[0]:
                    better = trial
                    break
                needed += 1.2 * max(height - float(self.margin(trial[None])[0]), 1e-9 * abs(height))
            if better is None:
                radius *= 0.5
                continue
            z, radius = better, min(1.5 * radius, LARGEST)
            slope, height = self.slope(z), float(self.margin(z[None])[0])
        return z

    def program(
        self, z: Float64, slope: Float64, use: np.ndarray, radius: float, needed: float
    ) -> Float64 | None:
        """Return the closest row to x near z whose linear margin is that of z and more, or None.

        One linear constraint and a box: columns leave their best places in the order of what they add to
        the margin for each unit of distance.
        """
        space = self.space
        low = np.maximum(space.low, z - radius * space.unit)
        high = np.minimum(space.high, z + radius * space.unit)
        out = z.copy()
        out[use] = np.clip(space.x, low, high)[use]
        missing = needed - float(slope[use] @ (out - z)[use])
        for j in np.argsort(-np.abs(slope) * space.unit, kind="stable"):
            if missing <= 0.0 or slope[j] == 0.0:
                break
            if not use[j]:
                continue
            room = (high[j] if slope[j] > 0 else low[j]) - out[j]
            step = np.sign(slope[j]) * min(abs(room), missing / abs(slope[j]))
            out[j] += step
            missing -= float(slope[j] * step)
        return out if missing <= 1e-12 * (1.0 + abs(needed)) else None

    def snapped(self, z: Float64) -> Float64 | None:
        """Round whole columns away from x; None if the row is no longer wanted."""
        space = self.space
        rounded = np.where(z > space.x, np.ceil(z - 1e-9), np.floor(z + 1e-9))
        out = np.where(space.whole & space.free, rounded, z)
        return out if self.holds(out[None])[0] else None
