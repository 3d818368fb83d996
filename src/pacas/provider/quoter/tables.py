"""What no row bears on: prices of level vectors, values left by answers, safe levels. Worked out once.

Where the index stays on the engine, a quoter is made for every few rows that are looked up, and all read these.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Tables:
    """Answers by what was asked."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, the first time that it is asked for."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made
