"""Trying again: how long to wait between two tries of a request, and when to give up."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from time import monotonic, sleep

SHORTEST = 0.1
"""Seconds to wait after the first try; twice as long after each further one."""
LONGEST = 5.0


@dataclass(slots=True)
class Tries:
    """The tries of one request, made as long as `patience` (seconds) lasts.

    Each wait is drawn at random between half of its length and all of it, so that clients that lost a server at the
    same moment do not come back at the same moment.
    """

    patience: float
    count: int = 0
    _began: float = field(default_factory=monotonic)

    @property
    def seconds(self) -> float:
        """Since the first try began."""
        return monotonic() - self._began

    def again(self, at_least: float = 0.0) -> bool:
        """Wait, `at_least` so long, before the next try; False, without waiting, where the patience is at its end."""
        doubled = min(LONGEST, SHORTEST * 2 ** min(self.count - 1, 16))
        wait = max(at_least, doubled * random.uniform(0.5, 1.0))
        if self.seconds + wait > self.patience:
            return False
        sleep(wait)
        return True

    def __str__(self) -> str:
        tries = "1 try" if self.count == 1 else f"{self.count} tries"
        return f"{tries} in {self.seconds:.0f} s"
