"""The next event of a walk, against looking at all variables one by one."""

import numpy as np
import pytest

from mercer import _jit

pytestmark = pytest.mark.core


def naive(f, linear, rate, drift, place, shut, scalars, step):
    """Return the same with arrays."""
    copies = place.size // f.size
    multiplier, mu, quiet, wrong = scalars
    cost = -place * (np.tile(f, copies) + linear + multiplier)
    slope = -place * (np.tile(rate, copies) + drift + mu)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where((slope < -quiet) & (cost > 0), cost / -slope, 0.0)
    allowed = (place != 0) & ~shut & ((slope < -quiet) | (cost < -wrong)) & (room < step)
    if not allowed.any():
        return step, -1
    who = int(np.argmin(np.where(allowed, room, np.inf)))
    return room[who], who


@pytest.mark.parametrize("seed", range(20))
def test_the_next_event_is_found(seed):
    rng = np.random.default_rng(seed)
    n, copies = int(rng.integers(1, 40)), int(rng.integers(1, 3))
    size = n * copies
    place = rng.integers(-1, 2, size=size).astype(float)
    shut = rng.random(size) < 0.2
    scalars = np.array([rng.normal(), rng.normal(), 1e-3, 0.5])
    given = (rng.normal(size=n), rng.normal(size=size), rng.normal(size=n), rng.normal(size=size))
    step, who = _jit.next_event.next_at_bound(*given, place, shut, scalars, 1.0)
    wanted = naive(*given, place, shut, scalars, 1.0)
    assert who == wanted[1]
    assert step == pytest.approx(wanted[0])
