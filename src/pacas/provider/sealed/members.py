"""Who of a registry is in the relation: known when a value is paid for, and to nobody before."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pacas.engine.codes import CodedColumn
from pacas.engine.grouping import Ints
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.sealed.private_cells import check_listed


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
