"""The next variable at a bound whose reduced cost vanishes, in one pass over all of them."""

from __future__ import annotations

import numpy as np

from mercer._jit.compiler import CONTRACT, compiled


@compiled(fastmath=CONTRACT)
def next_at_bound(
    f: np.ndarray,
    linear: np.ndarray,
    rate: np.ndarray,
    drift: np.ndarray,
    place: np.ndarray,
    shut: np.ndarray,
    scalars: np.ndarray,
    step: float,
) -> tuple[float, int]:
    """Return the time to the next event before ``step``, and whose it is (-1: nobody's).

    Parameters
    ----------
    f, rate : (n,) float64
        K beta, and its rate.
    linear, drift : (copies n,) float64
        The rest of each variable's gradient, and its rate.
    place : (copies n,) float64
        -1 at the lower bound, 1 at the upper one, 0 between them.
    shut : (copies n,) bool
        Variables that may not leave their bound.
    scalars : (4,) float64
        The multiplier, its rate, the noise of a rate, and that of a cost.
    step : float
        The time until the next event of another kind.
    """
    n = f.size
    multiplier, mu, quiet, wrong = scalars[0], scalars[1], scalars[2], scalars[3]
    who = -1
    for copy in range(place.size // max(n, 1)):
        for i in range(n):
            t = copy * n + i
            at = place[t]
            if at == 0.0 or shut[t]:
                continue
            cost = -at * (f[i] + linear[t] + multiplier)
            slope = -at * (rate[i] + drift[t] + mu)
            if slope < -quiet or cost < -wrong:
                room = 0.0
                if slope < -quiet and cost > 0.0:
                    room = cost / -slope
                if room < step:
                    step, who = room, t
    return step, who
