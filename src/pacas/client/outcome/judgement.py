"""What a client that weighs has believed: how its table goes wrong, which cells are in doubt, what to expect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pacas.client.outcome.changes import Changes
from pacas.core.dependency import FunctionalDependency
from pacas.core.words import counted


@dataclass(frozen=True, slots=True)
class WeighedExplanation:
    """One way in which a cell may have come to hold what it holds."""

    says: str
    weight: float


@dataclass(frozen=True, slots=True)
class LearntRates:
    """How often a dependency's cells are wrong, as learnt from the table and from what was bought."""

    fd: FunctionalDependency
    wrong: float
    """Single right sides."""
    overwritten: float
    """Groups of which a block was overwritten."""
    misplaced: float
    """Of the errors: those whose left side is wrong."""
    mixed: float
    """How likely the dependency does not hold: groups are mixed as a rule, and each is what it is."""

    @property
    def holds(self) -> bool:
        return self.mixed <= 0.5


@dataclass(frozen=True, slots=True)
class DoubtfulCell:
    """A cell that somebody should look at: left in doubt, or written without being sure."""

    row: int
    attribute: str
    value: str | None
    """What was given."""
    guess: str
    """The likeliest value, which was written if `written`."""
    sure: float
    """How likely it is right."""
    written: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Judgement:
    """How a cleaning was weighed."""

    careful: float
    rates: tuple[LearntRates, ...]
    free: int
    """Cells written on the client's own evidence."""
    paid: int
    """Cells written by what was bought."""
    vote: Mapping[str, Changes]
    """What a vote of each group would have changed, for nothing."""
    doubtful: tuple[DoubtfulCell, ...]
    """The most doubtful first."""
    expected: tuple[tuple[int, float], ...]
    """(nanocredits spent, expected δ of all cells that were weighed), in order."""
    changes_at: Callable[[int], Mapping[str, Changes]]
    """What would have been written at each of these points, by its number."""
    promised: tuple[tuple[int, float], ...]
    """(nanocredits spent, expected δ left) after each purchase, as it was foreseen before any answer was known."""
    explain: Callable[[int, str], Sequence[WeighedExplanation]]
    """The explanations of a cell, the likeliest first; none for one that nothing is wrong with."""

    def __repr__(self) -> str:
        written = f"{counted(self.free, 'cell')} written by own evidence, {self.paid:,} by what was bought"
        return f"Judgement({written}; {len(self.doubtful):,} doubtful)"

    @property
    def doubtful_written(self) -> int:
        return sum(cell.written for cell in self.doubtful)

    @property
    def voted(self) -> int:
        """How many cells a vote would have changed."""
        return sum(map(len, self.vote.values()))

    @property
    def is_doubtful(self) -> bool:
        """D15: are more than a tenth of the written cells doubtful?"""
        return self.doubtful_written * 10 > self.free + self.paid

    @property
    def knee(self) -> tuple[int, float] | None:
        """Where more money begins to bring less."""
        return knee_of(self.promised)


def knee_of(curve: Sequence[tuple[int, float]]) -> tuple[int, float] | None:
    """Where a falling curve over money begins to fall less: its point furthest below its chord."""
    if len(curve) < 3:
        return None
    (first, most), (last, least) = curve[0], curve[-1]
    if last == first or most == least:
        return None

    def below(point: tuple[int, float]) -> float:
        return (most - point[1]) / (most - least) - (point[0] - first) / (last - first)

    return max(curve, key=below)
