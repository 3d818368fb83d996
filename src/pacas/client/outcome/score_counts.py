"""What became of the cells of a dirty relation, counted against the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import zip_longest
from typing import Any


@dataclass(frozen=True, slots=True)
class Counts:
    """Cells whose true value is ground; those with a null or general truth are left out.

    A value is right if it is the true one. One above it says less, and is counted by itself (`general_correct`).
    """

    cells: int = 0
    wrong: int = 0
    """Not right in the dirty relation."""
    wrong_after: int = 0
    """Not right in the repaired one."""
    changed: int = 0
    """With another value than before."""
    correct: int = 0
    """Changed to the true value."""
    general_correct: int = 0
    """Changed to a value above the true one."""
    levels: tuple[int, ...] = ()
    """The changed ones by the level of the value written, from ground up."""
    quarters: tuple[int, ...] = (0, 0, 0, 0)
    """The changed ones by δ(written, true) / δ(root, true): up to ¼, ½, ¾, and beyond.

    Values above the true one fill the whole range; a wrong value can be further away than the root, and is in the last.
    """

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(_sum(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))

    @property
    def precision(self) -> float | None:
        """The share of the changed cells that became right; None if nothing was changed."""
        return _ratio(self.correct, self.changed)

    @property
    def recall(self) -> float | None:
        """The share of the wrong cells that became right; None if nothing was wrong."""
        return _ratio(self.correct, self.wrong)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two."""
        return _ratio(2 * self.correct, self.changed + self.wrong)

    @property
    def level_shares(self) -> list[float]:
        return shares(self.levels)

    @property
    def quarter_shares(self) -> list[float]:
        return shares(self.quarters)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        ratios = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return asdict(self) | ratios | {"level_shares": self.level_shares, "quarter_shares": self.quarter_shares}


def shares(counts: Sequence[int]) -> list[float]:
    """Each as a share of all; zeros if there is nothing to share."""
    total = sum(counts)
    return [n / total if total else 0.0 for n in counts]


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _sum(a: Any, b: Any) -> Any:
    return tuple(x + y for x, y in zip_longest(a, b, fillvalue=0)) if isinstance(a, tuple) else a + b
