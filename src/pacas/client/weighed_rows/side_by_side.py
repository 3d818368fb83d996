"""Independent parts of one weighing, on as many threads as there are cores: what arrays cost runs beside each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

ROWS = 50_000
"""Below so many rows it is not worth a thread."""


def side_by_side(work: Callable[[T], R], parts: Iterable[T], rows: int) -> list[R]:
    """What comes of each part, in their order."""
    parts = list(parts)
    if rows < ROWS or len(parts) < 2:
        return list(map(work, parts))
    with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
        return list(pool.map(work, parts))
