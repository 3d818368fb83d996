"""The private columns of a relation that stays on the engine: one cell is fetched when it is paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Engine, Index, Source
from pacas.engine.kept_rows import Agreement
from pacas.protocol.messages import ABSENT
from pacas.provider.matching.lookup_keys import agreement_of
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.public_view import PublicView
from pacas.provider.sealed.private_cells import check_determined, check_listed, check_tuples
from pacas.provider.shop.protected_columns import protected_columns
from pacas.provider.terms import Terms

UNIT = "\0unit"


class FetchedCells:
    """Cells by their rows' numbers; with a registry, by the public values of a person, who may not be there."""

    def __init__(
        self, engine: Engine[Any], table: Any, hierarchies: Mapping[str, Hierarchy], members: Mapping[str, Index] | None
    ) -> None:
        self._engine, self._table, self._hierarchies, self._members = engine, table, hierarchies, members
        self.may_be_absent = members is not None

    def answer(self, attribute: str, level: int, index: PublicIndex, row: int) -> str:
        text = self._text(attribute, index, row)
        hierarchy = self._hierarchies[attribute]
        return ABSENT if text is None else str(hierarchy.label(hierarchy.ancestors[level, hierarchy.code(text)]))

    def _text(self, attribute: str, index: PublicIndex, row: int) -> str | None:
        """What a row holds; nothing if it is not there."""
        if self._members is None:
            found = self._engine.rows(self._table, np.array([index.number(row)]), [attribute]).column(0)
            return str(found[0])
        values = {name: column.values[column.codes[row]] for name, column in index.columns.items()}
        asked = pa.table({name: pa.array([value], pa.string()) for name, value in values.items()})
        found = self._members[attribute].find(asked).select([*values, attribute]).to_pylist()
        return next((line[attribute] for line in found if all(line[name] == values[name] for name in values)), None)


def fetched_cells(
    engine: Engine[Any], source: Source, terms: Terms, view: PublicView, registry: Any | None
) -> FetchedCells:
    """Where private cells are fetched, checked: they hold what is declared of them, and a registry lists all rows."""
    public = sorted(view.index.columns)
    table = engine.open(source, [*public, *terms.protected])
    protected_columns(engine, table, terms)
    for linked in view.components:
        _check_dependencies(engine, table, terms.hierarchies, linked, view.left.get(linked.attributes[0], ()))
    if registry is None:
        return FetchedCells(engine, engine.open(source, list(terms.protected)), terms.hierarchies, None)
    check_listed(engine.lacking(table, registry, public), public)
    found_by = {a: agreement_of(md, view.hierarchies) for a, md in view.match.items()}
    members = {a: engine.index(table, one.columns, [*public, a], one.hierarchies) for a, one in found_by.items()}
    return FetchedCells(engine, table, terms.hierarchies, members)


def _check_dependencies(
    engine: Engine[Any], table: Any, hierarchies: Mapping[str, Hierarchy], linked: LinkedAttributes, left: Sequence[str]
) -> None:
    """What is declared is true of the relation."""
    if len(linked.attributes) > 1:
        found = engine.histogram(table, [*linked.given, *linked.attributes], {})
        trees, at = [hierarchies[a] for a in linked.attributes], len(linked.given)
        case: dict[tuple[str | None, ...], int] = {values: number for number, values in enumerate(linked.values)}
        lines = [
            (case.get(line[:at], -1), *(tree.code(value) for tree, value in zip(trees, line[at:], strict=True)))
            for line in found.values
        ]
        check_tuples(linked, zip(lines, found.counts.tolist(), strict=True))
    if left:
        numbered = engine.numbered(table, {UNIT: Agreement(tuple(left), with_nulls=True)})
        for attribute in linked.attributes:
            mixed = engine.mixed_groups(numbered, [[UNIT]], attribute, hierarchies)
            check_determined(len(mixed.offsets) - 1, left, attribute)
