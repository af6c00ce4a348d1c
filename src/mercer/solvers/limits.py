"""When a solver gives up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Limits:
    """When to give up: steps (-1: never) and seconds (None: never), counted from its creation."""

    max_iter: int = -1
    time_limit: float | None = None
    started: float = field(default_factory=time.perf_counter)

    def steps_left(self, done: int) -> int:
        """Return how many more steps are allowed."""
        return 1 << 62 if self.max_iter < 0 else max(0, self.max_iter - done)

    def out_of_time(self) -> bool:
        """Return whether the seconds are used up."""
        return self.time_limit is not None and time.perf_counter() - self.started >= self.time_limit

    @property
    def unlimited(self) -> bool:
        """Whether neither steps nor seconds are limited."""
        return self.max_iter < 0 and self.time_limit is None
