"""Rare values beside frequent ones that are nearly the same text: how likely each is a slip, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp
from typing import NamedTuple

from oracles.tree import Value
from oracles.weighing import total
from oracles.weighing_rows import Table
from oracles.written_for import edits, slip


class Rare(NamedTuple):
    """What is rare, and what is frequent beside it."""

    most: int = 3
    times: int = 20


class Meant(NamedTuple):
    """A cell that may be a slip: what was meant, and how likely that is."""

    value: Value
    chance: Fraction
    tied: frozenset[Value]
    """All that are as likely."""


def near_texts(shown: str, meant: str) -> Fraction:
    """How likely a slip is just this one: also of short texts, if one letter is too many, but not in a number."""
    if edits(shown, meant) == 1 and len(shown) == len(meant) + 1 and not shown.isdigit():
        return max(slip(shown, meant), Fraction(0.05))
    return slip(shown, meant)


def rare_cells(table: Table, name: str, rare: Rare, *, further: bool) -> dict[int, Meant]:
    """The cells of an attribute that may be slips for frequent values.

    Unless one looks further, those of rows alone in a group of theirs, if they would then contradict none; on the
    right, of what the hierarchy does not have.
    """
    column = table.columns[name]
    frequent = [v for v in column.count if column.ties(v) and column.count[v] >= rare.times]
    rows = [row for row, v in enumerate(column.cells) if column.ties(v) and column.count[v] <= rare.most]
    if not further:
        rows = [row for row in rows if _is_alone(table, name, row)]
    found: dict[int, list[tuple[Value, Fraction]]] = {}
    for row in rows:
        shown = column.cells[row]
        options = [v for v in frequent if near_texts(str(shown), str(v))]
        if not further:
            options = [v for v in options if not _contradicts(table, name, row, v)]
        weight = {v: near_texts(str(shown), str(v)) * column.count[v] for v in options}
        for value in options:
            odds = weight[value] / total([*weight.values()]) * _agrees(table, name, row, value)
            is_left = any(name in of.groups.lhs for of in table.weighed)
            if column.is_known(shown) or is_left:
                odds /= _by_chance(frequent, near_texts(str(shown), str(value)))
            else:
                odds /= Fraction(1e-6)  # what its hierarchy does not have is hardly ever right
            found.setdefault(row, []).append((value, odds))
    share = _share_of_slips([total([odds for _, odds in found[row]]) for row in found], len(rows))
    cells = {}
    for row, options_ in found.items():
        most, every = max(odds for _, odds in options_), total([odds for _, odds in options_])
        tied = frozenset(v for v, odds in options_ if odds >= most * (1 - Fraction(1e-9)))
        is_slip = _is_slip(every, share)
        cells[row] = Meant(next(iter(tied)), is_slip * most / every, tied)
    return cells


def _is_alone(table: Table, name: str, row: int) -> bool:
    """Is it alone in a group by this left value, or is this the only cell of its groups, and in no hierarchy?"""
    sizes = [
        len(posterior.rows)
        for of in table.weighed
        if name in of.groups.lhs and (posterior := table.in_group(of, row)) is not None
    ]
    rights = [
        len(posterior.rows)
        for of in table.weighed
        if of.name == name and (posterior := table.in_group(of, row)) is not None
    ]
    column = table.columns[name]
    unknown = not column.is_known(column.cells[row])
    return 1 in sizes or (unknown and max(rights, default=0) == 1)


def _contradicts(table: Table, name: str, row: int, value: Value) -> bool:
    """Would the row come to a group that is not likely to have its value?"""
    for of in table.weighed:
        there = of.posteriors.get(table.key(of, row, {name: value})) if name in of.groups.lhs else None
        if there is not None and there.chance(there.column.cells[row]) <= Fraction(1, 2):
            return True
    return False


def _agrees(table: Table, name: str, row: int, value: Value) -> Fraction:
    """How much better the row fits the groups that it would come to than one of its own does by chance."""
    ratio = Fraction(1)
    for of in table.weighed:
        there = of.posteriors.get(table.key(of, row, {name: value})) if name in of.groups.lhs else None
        if there is None:
            continue
        shown, here = there.column.cells[row], table.in_group(of, row)
        fits, wrong = there.chance(shown), there.rates.wrong
        given = fits * (1 - wrong) + (1 - fits) * wrong * there.rates.confusion[shown]
        alike = there.column.share(shown) if here is None else of.groups.by_groups(here.key, shown, here.told)
        ratio *= given / max(alike, Fraction(1e-9))
    return ratio


def _by_chance(frequent: Sequence[Value], slip: Fraction) -> Fraction:
    """How many frequent values, which are no slips, are as near to another one: by one edit, or by more."""
    closer = slip >= Fraction(0.05)
    twins = [
        v
        for v in frequent
        if any(
            near_texts(str(v), str(w)) and (near_texts(str(v), str(w)) >= Fraction(0.05)) == closer
            for w in frequent
            if w != v
        )
    ]
    chance = (len(twins) + Fraction(1, 2)) / (len(frequent) + 1)
    return chance if closer else 5 * chance


def _is_slip(odds: Fraction, share: Fraction) -> Fraction:
    """How likely a cell is a slip, of which so many are."""
    ratio = min(max(odds * share / (1 - share), Fraction(exp(-50))), Fraction(exp(50)))
    return ratio / (1 + ratio)


def _share_of_slips(odds: Sequence[Fraction], cells: int) -> Fraction:
    """How many of all rare cells are slips, those near to nothing are none: half of them at first, then as weighed."""
    share = before = Fraction(1, 2)
    for _ in range(10):
        before = share
        slips = total([_is_slip(one, share) for one in odds])
        share = (slips + Fraction(1, 2)) / (cells + 1)
        share = min(max(share, Fraction(0.001)), 1 - Fraction(0.001)).limit_denominator(10**30)
    return before
