"""A hierarchy whose families hide enough: above a level L every value has at least k values of level L below it.

Small families are put together with siblings, before anybody is asked: which values stand together depends on the tree
alone. To answer with the lowest ancestor that hides enough would tell that the value is in none of its safe children.
"""

from __future__ import annotations

from collections.abc import Iterable

from pacas.core.hierarchy import Hierarchy
from pacas.errors import HierarchyError

Family = tuple[list[str], list[tuple[str, ...]]]
"""The labels of some siblings at one level, and the rows of all ground values below them."""
MOST_NAMED = 4
"""Families up to which a label names all of them."""


def balance(hierarchy: Hierarchy, level: int, k: int, *, in_order: bool = False) -> Hierarchy:
    """The hierarchy with levels up to `level` as they are, and small families above put together.

    Where values stand `in_order`, as numbers and dates do, a small family joins the next one, and else another small
    one, so that fewer families are touched.

    >>> rows = [("a1", "a", "*"), ("b1", "b", "*"), ("b2", "b", "*"), ("c1", "c", "*"), ("c2", "c", "*")]
    >>> [row[1] for row in balance(Hierarchy.from_rows(rows), 0, 2).rows()]
    ['a|b', 'a|b', 'a|b', 'c', 'c']
    """
    hierarchy.check_level(level)
    if len(hierarchy.at_level(level)) < k:
        values = len(hierarchy.at_level(level))
        raise HierarchyError(
            f"level {level} has {values} values, fewer than k = {k}; give a lower level, or a smaller k"
        )
    new = {row[0]: list(row) for row in hierarchy.rows()}
    blocks = [list(hierarchy.rows())]
    join = _joined_to_the_next if in_order else _joined
    for at in range(hierarchy.height - 1, level, -1):
        parts = [part for block in blocks for part in join(_families(block, at), level, k)]
        for labels, rows in parts:
            for row in rows:
                new[row[0]][at] = _label(labels)
        blocks = [rows for _, rows in parts]
    return Hierarchy.from_rows(new.values(), numeric=hierarchy.numeric)


def _families(rows: Iterable[tuple[str, ...]], at: int) -> list[Family]:
    """Rows by their value at a level, in order of appearance."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        found.setdefault(row[at], []).append(row)
    return [([label], mine) for label, mine in found.items()]


def _joined(families: list[Family], level: int, k: int) -> list[Family]:
    """Siblings as they are where they hide enough; small ones together, as few as suffice.

    What is left over joins the last of these, or else the sibling with fewest values.
    """
    safe: list[Family] = []
    together: list[Family] = []
    waiting: Family = ([], [])
    for family in families:
        if _hidden(family, level) >= k:
            safe.append(family)
            continue
        waiting = _with(waiting, family)
        if _hidden(waiting, level) >= k:
            together.append(waiting)
            waiting = ([], [])
    if waiting[0] and together:
        together.append(_with(together.pop(), waiting))
    elif waiting[0]:
        lightest = min(safe, key=lambda family: _hidden(family, level), default=None)
        if lightest is not None:
            safe.remove(lightest)
            waiting = _with(waiting, lightest)
        together.append(waiting)
    return [*safe, *together]


def _joined_to_the_next(families: list[Family], level: int, k: int) -> list[Family]:
    """Siblings in their order, each with as many of the next ones as it needs; the last ones join those before."""
    parts: list[Family] = []
    waiting: Family = ([], [])
    for family in families:
        waiting = _with(waiting, family)
        if _hidden(waiting, level) >= k:
            parts.append(waiting)
            waiting = ([], [])
    if waiting[0]:
        parts.append(_with(parts.pop(), waiting) if parts else waiting)
    return parts


def _hidden(family: Family, level: int) -> int:
    return len({row[level] for row in family[1]})


def _with(one: Family, other: Family) -> Family:
    return [*one[0], *other[0]], [*one[1], *other[1]]


def _label(labels: list[str]) -> str:
    """What siblings that stand together are called."""
    if len(labels) <= MOST_NAMED:
        return "|".join(labels)
    return f"{labels[0]}|…|{labels[-1]} ({len(labels)})"
