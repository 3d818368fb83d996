"""The private columns in memory, and who of a registry has a row in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pacas.engine.codes import CodedColumn
from pacas.engine.contract import Engine, Source
from pacas.engine.grouping import Ints
from pacas.protocol.messages import ABSENT
from pacas.provider.column import Column
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.quoter import Quoter
from pacas.provider.sealed.private_cells import check_determined, check_listed, check_tuples
from pacas.provider.terms import Terms


def members_of(registry: PublicIndex, own: Mapping[str, CodedColumn]) -> Ints:
    """Per person of a registry their row in the relation, which has the same values in all public columns; −1 if none.

    >>> registry = PublicIndex({"ID": CodedColumn(np.array([0, 1, 2]), ["a", "b", "c"])})
    >>> members_of(registry, {"ID": CodedColumn(np.array([1, 0]), ["a", "c"])}).tolist()
    [1, -1, 0]
    """
    names = sorted(registry.columns)
    both = PublicIndex({name: _one_after_the_other(registry.columns[name], own[name]) for name in names})
    key = both.keys(names)
    listed, mine = key[: registry.rows], key[registry.rows :]
    by_key, own_by_key = np.argsort(listed, kind="stable"), np.argsort(mine, kind="stable")
    copy = np.arange(len(mine)) - np.searchsorted(mine[own_by_key], mine[own_by_key])
    place = np.searchsorted(listed[by_key], mine[own_by_key]) + copy
    is_there = place < len(listed)
    is_there[is_there] = listed[by_key[place[is_there]]] == mine[own_by_key[is_there]]
    check_listed(int((~is_there).sum()), names)
    rows = np.full(registry.rows, -1, dtype=np.int64)
    rows[by_key[place]] = own_by_key
    return rows


def _one_after_the_other(one: CodedColumn, other: CodedColumn) -> CodedColumn:
    values = sorted({*one.values, *other.values}, key=lambda text: (text is None, text or ""))
    code = {value: number for number, value in enumerate(values)}
    codes = [np.array([code[v] for v in c.values], dtype=np.int64)[c.codes] for c in (one, other)]
    return CodedColumn(np.concatenate(codes), values)


class HeldCells:
    """Whole columns. `members` says of each person in a registry which row is theirs, or −1: that there is none."""

    def __init__(self, columns: Mapping[str, Column], members: Ints | None) -> None:
        self.columns, self.members = columns, members
        self.may_be_absent = members is not None

    def answer(self, attribute: str, level: int, index: PublicIndex, row: int) -> str:
        column = self.columns[attribute]
        own = row if self.members is None else int(self.members[row])
        return ABSENT if own < 0 else str(column.hierarchy.label(column.hierarchy.ancestors[level, column.cells[own]]))


def held_cells(engine: Engine[Any], source: Source, terms: Terms, quoter: Quoter, *, has_registry: bool) -> HeldCells:
    """The private columns, checked: they hold what is declared of them."""
    table = engine.open(source, list(terms.protected))
    coded = engine.columns(table, list(terms.protected))
    columns = {a: Column(a, column, terms.hierarchies[a]) for a, column in coded.items()}
    terms.check_values(columns)
    members = None
    if has_registry:
        names = list(quoter.view.index.columns)
        members = members_of(quoter.view.index, engine.columns(engine.open(source, names), names))
    _check_dependencies(quoter, columns, members)
    return HeldCells(columns, members)


def _check_dependencies(quoter: Quoter, private: Mapping[str, Column], members: Ints | None) -> None:
    """What is declared is true of the relation: answers must not tell more than the public tables count."""
    there = np.arange(quoter.view.index.rows) if members is None else np.flatnonzero(members >= 0)
    row = there if members is None else members[there]
    for priced in quoter.components:
        cells = [private[a].cells[row] for a in priced.linked.attributes]
        if len(cells) > 1:
            cases = priced.case[priced.units.of_row[there]]
            found, count = np.unique(np.stack([cases, *cells]), axis=1, return_counts=True)
            check_tuples(priced.linked, zip(map(tuple, found.T.tolist()), count.tolist(), strict=True))
        for attribute, column in zip(priced.linked.attributes, cells, strict=True) if members is None else ():
            units = priced.units
            mixed = np.unique(units.of_row[column[units.first_rows][units.of_row] != column])
            left = quoter.view.left.get(attribute, ())
            check_determined(len(mixed), left, attribute)
