"""The columns that an index on the engine gets beside its own: what quotes need to know of rows that nobody looks up.

Per row that is the number and the size of each unit that it is in, and whether a policy keeps it back; or its X-group's
number and size, where a policy keeps back what is left last. It is worked out once, when the provider starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pacas.core.hierarchy import Hierarchy
from pacas.engine.codes import coded_texts
from pacas.engine.contract import Engine
from pacas.engine.grouping import NONE, Ints
from pacas.engine.kept_rows import Agreement, KeptRows, size_of
from pacas.errors import NeedsMemoryError
from pacas.provider.matching.lookup_keys import agreement_of
from pacas.provider.quoter.guard import Guard
from pacas.provider.quoter.index_part import IndexPart
from pacas.provider.quoter.public_index import Counted
from pacas.provider.quoter.public_view import PublicView
from pacas.provider.quoter.quoter import Quoter
from pacas.provider.quoter.reserving import chosen_units

Columns = tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """What the columns are called: those of units by the columns that tie them, those of policies by their numbers."""

    public: Columns
    ties: Mapping[Columns, str]
    groups: Mapping[int, str]
    kept: Mapping[int, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """All columns, the index's own first."""
        numbered = [*self.ties.values(), *self.groups.values()]
        return [*self.public, *numbered, *map(size_of, numbered), *self.kept.values()]

    @classmethod
    def of(cls, quoter: Quoter) -> Layout:
        """What the policies and dependencies of a view need; an error if they need what only a held index can tell."""
        for guard in quoter.guards:
            if guard not in quoter.watched:
                _check_units(guard, quoter.view)
        return cls(
            tuple(sorted(quoter.view.index.columns)),
            {left: f"\0unit {place}" for place, left in enumerate(sorted(set(quoter.view.left.values())))},
            {guard.number: f"\0group {guard.number}" for guard in quoter.watched},
        )

    def numbered(self, engine: Engine[Any], table: Any, view: PublicView) -> Any:
        """The index with the numbers and sizes of units and of X-groups."""
        together = {name: Agreement(left, with_nulls=True) for left, name in self.ties.items()}
        for number, name in self.groups.items():
            x = view.policies[number - 1].x
            together[name] = Agreement(x, _trees(view, x))
        return engine.numbered(table, together) if together else table

    def kept_back(
        self, engine: Engine[Any], table: Any, quoter: Quoter, closed: Mapping[int, Ints]
    ) -> tuple[Layout, Any]:
        """The index with what policies keep back beforehand; some rows have been `closed` to a policy before."""
        kept = {}
        for guard in quoter.guards:
            sold = quoter.guarded(guard)
            if sold and guard.policy.scope == "group" and guard not in quoter.watched:
                kept[guard.number] = self._kept(guard, sold, quoter, closed.get(guard.number, NONE))
        names = {number: f"\0kept {number}" for number in kept}
        made = Layout(self.public, self.ties, self.groups, names)
        found = engine.kept_back(table, {names[n]: one for n, one in kept.items()}, chosen_units) if kept else table
        return made, found

    def _kept(self, guard: Guard, sold: list[str], quoter: Quoter, closed: Ints) -> KeptRows:
        view, policy = quoter.view, guard.policy
        units = quoter.sold[sold[0]].priced.units
        left = view.left.get(sold[0], ())
        return KeptRows(
            Agreement(policy.x, _trees(view, policy.x)),
            policy.keep,
            tuple(agreement_of(md, view.hierarchies) for md in dict.fromkeys(view.match[a] for a in sold)),
            view.max_matches,
            units.told_apart_by,
            view.salt.hex(),
            self.ties[left] if left else None,
            closed,
        )

    def part(self, view: PublicView, rows: Ints, texts: pa.Table, first: int) -> IndexPart:
        """Some rows by their numbers, with all columns; `first` is the place of the one that has the rest."""

        def numbers(name: str) -> Counted:
            number, size = (texts.column(c).cast(pa.int64()).fill_null(-1).to_numpy() for c in (name, size_of(name)))
            return Counted(size, number)

        return IndexPart(
            {name: coded_texts(texts.column(name)) for name in self.public},
            rows,
            view.index.in_all,
            first,
            {left: numbers(name) for left, name in self.ties.items()},
            {view.policies[number - 1].x: numbers(name) for number, name in self.groups.items()},
            {number: texts.column(name).is_valid().to_numpy() for number, name in self.kept.items()},
        )


def _trees(view: PublicView, columns: Columns) -> dict[str, Hierarchy]:
    return {a: view.hierarchies[a] for a in columns if a in view.hierarchies}


def _check_units(guard: Guard, view: PublicView) -> None:
    """All attributes that a policy is about have the same units: what is kept back of one is, too, of the others."""
    if len({tuple(view.left.get(a, ())) for a in guard.safe_levels}) > 1:
        raise NeedsMemoryError(
            f"policy {guard.number} is about attributes that different columns tie, or only some of them, which cannot "
            "be kept where the relation is larger than memory; write a policy for each, or sell with more memory"
        )
