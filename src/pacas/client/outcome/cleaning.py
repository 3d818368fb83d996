"""What a cleaning did: what was bought, what was written and why, and what stays as it is.

Prices are in nanocredits, as everywhere behind the command line; a cleaning's own `budget` and `spent` are in credits,
as the budget was when it was given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.table import Table as RichTable

from pacas.client.outcome import tables
from pacas.client.outcome.changed_cells import ChangedCell, changed_cells
from pacas.client.outcome.changes import Changes, net_changes, with_changes
from pacas.client.outcome.hindsight import Hindsight
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.panel_summary import PanelSummary
from pacas.client.outcome.repairs import ListedRepairs
from pacas.client.outcome.score import Score, score
from pacas.client.outcome.steps import BoughtValue, Edit, Repair, Unrepaired
from pacas.client.outcome.summary import rich_table
from pacas.client.outcome.to_look_at import LEFT, CellToLookAt, cells_to_look_at
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.core.money import credits_words, in_credits, rounded_text
from pacas.core.notebook import Lines, html_lines
from pacas.core.relation import Relation
from pacas.core.words import counted
from pacas.engine.contract import Engine, Source, Table
from pacas.engine.new_cells import NewCells
from pacas.engine.questions import Data


@dataclass(frozen=True, eq=False, repr=False)
class Cleaning:
    """The repaired relation, and how it came about."""

    source: Source
    """The relation as it was given: in memory, a file, a folder, a frame."""
    table: Table
    """The relation as the engine has opened it, with the columns that mattered."""
    fds: tuple[FunctionalDependency, ...]
    hierarchies: Mapping[str, Hierarchy]
    """The client's own, and those that the provider publishes."""
    purchases: tuple[BoughtValue, ...]
    repairs: ListedRepairs
    """In their order; each knows what was bought for it."""
    unrepaired: tuple[Unrepaired, ...]
    """The classes that the last round left as they were."""
    budget_nanocredits: int
    spent_nanocredits: int
    violations_before: int
    counted_after: int | None
    """The violating pairs that are left; None where nobody has counted them yet."""
    rounds: int
    """How many rounds were run."""
    engine: Engine[Any]
    weighing: Judgement | None = None
    """What was believed, where the client weighed; None where it did as the paper does."""
    panel: PanelSummary | None = None
    """Who sold, where there were several providers."""
    edits: tuple[Edit, ...] = ()
    """What was done by hand; it is in the repairs already."""
    known_changes: Mapping[str, Changes] | None = None
    """What the repairs come to, where that is known without them."""
    known_to_look_at: tuple[CellToLookAt, ...] | None = None
    """As that."""

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.source.columns)

    @property
    def rows(self) -> int:
        return len(self.table)

    @cached_property
    def dirty(self) -> Relation:
        """The relation as it was given, all of it in memory."""
        if isinstance(self.source, Relation):
            return self.source
        table = self.table if self.table.columns == self.columns else self.engine.open(self.source)
        return Relation(self.engine.rows(table, None, self.columns))

    @cached_property
    def relation(self) -> Relation:
        """The repaired relation, all of it in memory; what was not repaired is as it was, with its type."""
        return with_changes(self.dirty, self.changes, self.engine)

    def given(self, attribute: str, rows: Ints) -> list[str | None]:
        """Some cells as they were given, as the engine reads them."""
        table = self.table if attribute in self.table.columns else self.engine.open(self.source, [attribute])
        values: list[str | None] = self.engine.rows(table, rows, [attribute]).column(0).to_pylist()
        return values

    @property
    def is_counted(self) -> bool:
        """Whether it is known how many violations are left, so that to ask costs nothing."""
        return self.counted_after is not None or "violations_after" in self.__dict__

    @cached_property
    def violations_after(self) -> int:
        """The violating pairs of the repaired relation; counted when somebody asks, where they have not been."""
        return self.count_violations() if self.counted_after is None else self.counted_after

    def with_count(self) -> Cleaning:
        """The same with its violations counted, as nobody can count them once the engine is closed."""
        return replace(self, counted_after=self.violations_after)

    def count_violations(self) -> int:
        """The violating pairs of the repaired relation, counted anew."""
        table = self.engine.changed(self.table, self._new_cells()) if self.changes else self.table
        groups = (self.engine.mixed_groups(table, [fd.lhs], fd.rhs, self.hierarchies) for fd in self.fds)
        return sum(int(found.violating.violations.sum()) for found in groups)

    @cached_property
    def changes(self) -> Mapping[str, Changes]:
        """The cells that are others than they were, by attribute in column order."""
        return net_changes(self.repairs, self.columns) if self.known_changes is None else self.known_changes

    @property
    def frame(self) -> Any:
        """The repaired frame, where the relation was given as one of a cluster's: not computed yet, and not fetched.

        Any other relation is in `relation`.
        """
        return self.engine.repaired(self.table, self._new_cells()).frame

    def write(self, path: str | PathLike[str], *, replace: bool = False) -> None:
        """Write the repaired relation, given as a folder or a frame, as a folder of Parquet files.

        The engine does it, where the data is: only the new cells travel. `replace` says that what is there may go.
        """
        self.engine.write(self.table, self._new_cells(), Path(path), replace=replace)

    def _new_cells(self) -> dict[str, NewCells]:
        return {a: NewCells(c.rows, c.new) for a, c in self.changes.items()}

    @property
    def budget(self) -> float:
        """What could be spent, in credits."""
        return in_credits(self.budget_nanocredits)

    @property
    def spent(self) -> float:
        """What was spent, in credits."""
        return in_credits(self.spent_nanocredits)

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many classes were left, by reason."""
        return Counter(left.reason for left in self.unrepaired)

    @cached_property
    def written(self) -> int:
        """How often a cell got another value; in several rounds, one cell may more than once."""
        return int(self.repairs.by_kind.sum())

    @cached_property
    def flagged(self) -> int:
        """How many of these cells somebody should look at: their class is doubtful, or the value that they got."""
        return sum(cell.look != LEFT for cell in self.to_look_at)

    @cached_property
    def to_look_at(self) -> tuple[CellToLookAt, ...]:
        """The cells that somebody should look at: written without being sure, or left in doubt."""
        known = self.known_to_look_at
        return cells_to_look_at(self.repairs, self.weighing) if known is None else known

    @cached_property
    def repair_of(self) -> Mapping[str, Repair]:
        """Per purchase, by its key: the repair that came of it, if anything was written."""
        return {purchase.key: repair for repair in self.repairs for purchase in repair.purchases}

    def score(self, truth: Data, *, engine: Engine[Any] | None = None) -> Score:
        """How near the repaired relation is to the truth, and how near the dirty one was."""
        return score(self.relation, truth, self.dirty, self.hierarchies, engine=engine or self.engine)

    def hindsight(self, truth: Data, *, engine: Engine[Any] | None = None) -> Hindsight | None:
        """What a free vote would have come to, and the true error over money, where the client weighed."""
        if self.weighing is None:
            return None
        return Hindsight.of(self.weighing, self.dirty, truth, self.hierarchies, engine or self.engine)

    # ---- as tables --------------------------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """The repaired relation as an Arrow table."""
        return self.relation.to_arrow()

    def to_pandas(self) -> Any:
        """The repaired relation as a pandas frame, if pandas is installed."""
        return self.relation.to_pandas()

    def to_polars(self) -> Any:
        """The repaired relation as a Polars frame, if Polars is installed."""
        return self.relation.to_polars()

    @cached_property
    def changed_cells(self) -> list[ChangedCell]:
        """Every cell that was changed, and those in doubt that were left: by row, then by column."""
        return changed_cells(self.changes, self.repairs, self.to_look_at, self.columns)

    def changes_table(self) -> Relation:
        """A line a cell that was changed, or that somebody should look at."""
        return tables.changes_table(self.changed_cells)

    def classes_table(self) -> Relation:
        """A line a class, and what became of it."""
        return tables.classes_table(self.repairs, self.unrepaired)

    def purchases_table(self) -> Relation:
        """A line a purchase."""
        return tables.purchases_table(self.purchases)

    def unrepaired_table(self) -> Relation:
        """A line a class that stays as it is, and why."""
        return tables.unrepaired_table(self.unrepaired)

    # ---- how it is shown --------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"Cleaning({counted(len(self.purchases), 'purchase')}, "
            f"{counted(len(self.unrepaired), 'class', 'classes')} unrepaired, "
            f"{counted(self.violations_before, 'violation')} before and {self.violations_after:,} after, "
            f"{rounded_text(self.spent_nanocredits)} of {credits_words(self.budget_nanocredits)} spent)"
        )

    def __rich__(self) -> RichTable:
        return rich_table(_TITLE, self._lines())

    def _repr_html_(self) -> str:
        return html_lines(_TITLE, self._lines())

    def _lines(self) -> Lines:
        """A few lines, however large the table: no values, only names and counts."""
        lines = [
            ("rows", f"{self.rows:,}"),
            ("violations", f"{self.violations_before:,} → {self.violations_after:,}"),
            ("spent", f"{rounded_text(self.spent_nanocredits)} of {credits_words(self.budget_nanocredits)}"),
            ("purchases", _listed(len(self.purchases), Counter(f"level {p.level}" for p in self.purchases))),
            ("cells written", _listed(self.written, self._written_by_attribute())),
            ("unrepaired classes", _listed(len(self.unrepaired), self.reasons)),
        ]
        if self.weighing is not None:
            told = f"{self.weighing.free:,} by own evidence, {self.weighing.paid:,} by what was bought"
            lines.append(("written", f"{told}; a free vote would have changed {self.weighing.voted:,}"))
        if self.flagged:
            lines.append(("written, to be looked at", f"{self.flagged:,}; their class or their value is doubtful"))
        if self.rounds > 1:
            lines.append(("rounds", str(self.rounds)))
        return lines

    def _written_by_attribute(self) -> Counter[str]:
        counts = Counter[str]()
        for repair in self.repairs:
            counts[repair.attribute] += len(repair.written)
        return counts


def _listed(total: int, counts: Mapping[str, int]) -> str:
    """A number and what it is made of, most of it first."""
    if not total:
        return "0"
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{name}: {n:,}" for name, n in most[:MOST_PARTS]]
    more = [f"{len(most) - MOST_PARTS} more"] if len(most) > MOST_PARTS else []
    return f"{total:,} ({', '.join(parts + more)})"


MOST_PARTS = 6

_TITLE = "Cleaning"
