"""Why a cell has the value it has: its class, the client's own evidence, and the purchase that decided.

A class is formed on the client's own, dirty left sides, so that a wrong tuple may stand in the wrong class: t4 and t5
of the paper's Table 2 share a diagnosis by mistake. Where a row's own quotes are others than those of the row that was
asked about, the provider sees two different things, and the cell is flagged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.judgement import WeighedExplanation
from pacas.client.outcome.steps import BoughtValue, Repair, Unrepaired, Why, differing_rows, is_doubtful
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.core.money import credits_words, in_credits
from pacas.core.relation import no_such_row
from pacas.core.words import counted
from pacas.engine.contract import Engine
from pacas.errors import SchemaError

Value = str | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A value that stood in the class."""

    value: Value
    cells: int
    fits: bool
    """Does it lie at or below the value bought?"""


@dataclass(frozen=True, slots=True)
class Tie:
    """A dependency that ties the row to others of its class, by the values that they share."""

    fd: FunctionalDependency
    values: tuple[Value, ...]
    """On the left side."""
    rows: tuple[int, ...]
    """This one and those that share them."""


@dataclass(frozen=True, slots=True, eq=False)
class RepairStep:
    """One repair that the cell took part in."""

    purchases: tuple[BoughtValue, ...]
    """What was bought for it; nothing, if the client's own evidence sufficed."""
    repair: Repair
    old: Value
    """What stood in the cell before it."""
    evidence: tuple[Evidence, ...]
    """The class's values, most frequent first."""
    ties: tuple[Tie, ...]
    """What the row directly shares with others of the class; empty for a cell that was named and stood alone."""

    flagged: bool
    """Were the row's own quotes others than those of the row asked about?"""
    doubtful: bool
    """Did the value that was written stand only in rows that are flagged?"""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation:
    """The story of one cell, from the value it was given to the one it has; printed, it is told in sentences."""

    row: int
    attribute: str
    given: Value
    value: Value
    steps: tuple[RepairStep, ...]
    """In order; none if the cell was in no class that was repaired."""
    unrepaired: Unrepaired | None
    """Its class, if the last round left it as it was."""
    weighed: tuple[WeighedExplanation, ...] = ()
    """Where the client weighed: what may be wrong with the cell, the likeliest first."""
    undone: bool = False
    """Was it put back by hand?"""

    @property
    def flagged(self) -> bool:
        return any(step.flagged for step in self.steps)

    def __str__(self) -> str:
        return "\n".join(in_words(self))

    def __repr__(self) -> str:
        return f"Explanation({in_words(self)[0]})"


def explain(cleaning: Cleaning, row: int, attribute: str, *, engine: Engine[Any] | None = None) -> Explanation:
    """Why `row` (from 0) has its value in `attribute`."""
    source = cleaning.source
    if attribute not in source.columns:
        raise SchemaError.missing(attribute, source.columns, source.name)
    if not 0 <= row < cleaning.rows:
        raise no_such_row(row, range(cleaning.rows), source.name)
    cells = _GivenCells(cleaning, engine or cleaning.engine)
    steps = tuple(_step(cells, repair, row) for repair in cleaning.repairs.of_cells(attribute, np.array([row])))
    left = (u for u in cleaning.unrepaired if u.attribute == attribute and _has(u.rows, row))
    given = cells.texts(attribute, [row])[0]
    weighed = () if cleaning.weighing is None else tuple(cleaning.weighing.explain(row, attribute))
    edits = [edit.value for edit in cleaning.edits if edit.attribute == attribute and _has(edit.rows, row)]
    now, undone = _now(cleaning, attribute, row, given), bool(edits) and edits[-1] is None
    return Explanation(row, attribute, given, now, steps, next(left, None), weighed, undone)


def _now(cleaning: Cleaning, attribute: str, row: int, given: Value) -> Value:
    """What stands in a cell in the end."""
    changes = cleaning.changes.get(attribute)
    if changes is None or not _has(changes.rows, row):
        return given
    return changes.new[int(np.searchsorted(changes.rows, row))]


def _step(cells: _GivenCells, repair: Repair, row: int) -> RepairStep:
    bought = repair.purchases[-1].value if repair.purchases else None
    return RepairStep(
        purchases=repair.purchases,
        repair=repair,
        old=repair.old[int(np.searchsorted(repair.rows, row))],
        evidence=_evidence(repair.old, bought, cells.hierarchies.get(repair.attribute)),
        ties=tuple(cells.ties(repair, row)),
        flagged=row in differing_rows(repair),
        doubtful=is_doubtful(repair),
    )


def _evidence(old: Sequence[Value], bought: Value, hierarchy: Hierarchy | None) -> tuple[Evidence, ...]:
    """D11: a null, or a value that the hierarchy does not know, is no evidence; without an answer, all others fit."""
    tree = (hierarchy or Hierarchy.flat(())).admit([*old, bought])
    bought = tree.root_label if bought is None else bought
    counts = Counter(tree.label(code) for code in tree.encode(old).tolist())
    known = [value is not None and (hierarchy is None or value in hierarchy) for value in counts]
    below = [bool(tree.precedes(tree.code(value), tree.code(bought))) for value in counts]
    found = map(Evidence, counts, counts.values(), map(bool.__and__, known, below))
    return tuple(sorted(found, key=lambda evidence: -evidence.cells))


class _GivenCells:
    """The client's cells as a round found them."""

    def __init__(self, cleaning: Cleaning, engine: Engine[Any]) -> None:
        self.hierarchies = cleaning.hierarchies
        self._cleaning, self._engine = cleaning, engine

    def texts(self, attribute: str, rows: Sequence[int]) -> list[Value]:
        """Some of the given cells, as the engine reads them."""
        if self._engine is self._cleaning.engine:
            return self._cleaning.given(attribute, np.array(rows))
        table = self._engine.open(self._cleaning.source, [attribute])
        values: list[Value] = self._engine.rows(table, np.array(rows), [attribute]).column(0).to_pylist()
        return values

    def before_round(self, round: int, attribute: str, rows: Sequence[int]) -> list[Value]:
        """The given values, with what earlier rounds have written."""
        values = dict(zip(rows, self.texts(attribute, rows), strict=True))
        for repair in self._cleaning.repairs.of_cells(attribute, np.array(rows)):
            if repair.round < round:
                values |= {r: repair.new for r in repair.written.tolist() if r in values}
        return [values[r] for r in rows]

    def ties(self, repair: Repair, row: int) -> Iterator[Tie]:
        rows: list[int] = repair.rows.tolist()
        at = rows.index(row)
        for fd in self._cleaning.fds:
            if fd.rhs != repair.attribute:
                continue
            columns = [self._ground(repair.round, a, rows) for a in fd.lhs]
            keys = list(zip(*columns, strict=True))
            sharing = tuple(r for r, key in zip(rows, keys, strict=True) if key == keys[at])
            if None not in keys[at] and len(sharing) > 1:
                yield Tie(fd, keys[at], sharing)

    def _ground(self, round: int, attribute: str, rows: Sequence[int]) -> list[Value]:
        """The rows' values where they are ground, else None; numbers in one spelling."""
        values = self.before_round(round, attribute, rows)
        tree = self.hierarchies.get(attribute, Hierarchy.flat(())).admit(values)
        return [tree.label(code) if tree.is_ground[code] else None for code in tree.encode(values).tolist()]


def _has(rows: Ints, row: int) -> bool:
    """Rows of a class are sorted."""
    at = int(np.searchsorted(rows, row))
    return at < len(rows) and int(rows[at]) == row


# ---- in sentences, and as plain values for JSON ------------------------------------------------------------------

MOST_LISTED = 8
"""Of values and rows, in sentences."""


def in_words(explanation: Explanation) -> list[str]:
    """A line per fact, from the class to the value written."""
    cell = f"row {explanation.row}, {explanation.attribute}"
    lines = [f"{cell}: {_value(explanation.given)} was given, {_value(explanation.value)} stands there now"]
    if explanation.weighed:
        lines += _weighed_lines(explanation)
    else:
        for step in explanation.steps:
            lines += _step_lines(step)
    if explanation.undone:
        lines.append("undone by hand: what was given stands there again; what was bought stays bought")
    elif explanation.unrepaired is not None:
        left = explanation.unrepaired
        stays = "still disagrees" if explanation.weighed else "was left as it is"
        price = "" if left.cheapest is None else f"; the cheapest answer would cost {credits_words(left.cheapest)}"
        lines.append(f"its class of {counted(len(left.rows), 'cell')} {stays}: {left.reason}{price}")
    elif not explanation.steps and not explanation.weighed:
        lines.append("no dependency and nobody else found anything wrong with it, so it was left alone")
    return lines


def _step_lines(step: RepairStep) -> Iterator[str]:
    repair = step.repair
    yield f"class: {counted(len(repair.rows), 'cell')} that must agree, rows {_listed(repair.rows.tolist())}"
    for tie in step.ties:
        shared = ", ".join(f"{a} = {_value(v)}" for a, v in zip(tie.fd.lhs, tie.values, strict=True))
        yield f"tied by {tie.fd}: {counted(len(tie.rows), 'cell')} with {shared}"
    if not step.ties:
        yield "tied to no other row: the cell was named by itself"
    yield "values: " + _listed([f"{_value(e.value)} × {e.cells}{' (fits)' if e.fits else ''}" for e in step.evidence])
    yield from _bought_lines(step.purchases)
    yield f"written: {_value(repair.new)}, {BECAUSE[repair.why]}"
    asked = step.purchases[-1] if step.purchases else None
    if asked is None or not len(asked.differing):
        return
    others = f"quotes were others than those of row {asked.row}"
    if step.flagged:
        yield f"look at it: this row's own {others}; it may not belong to the class"
    elif step.doubtful:
        yield f"look at it: the value stood only in rows whose {others}; these may not belong to the class"
    else:
        yield f"in the class there are rows whose {others}: {_listed(asked.differing.tolist())}"


def _bought_lines(purchases: Sequence[BoughtValue]) -> Iterator[str]:
    for purchase in purchases:
        yield (
            f"bought: {_value(purchase.value)}, level {purchase.level}, for {credits_words(purchase.price)}, "
            f"by asking about row {purchase.row}{'' if purchase.provider is None else f', from {purchase.provider}'}"
        )


def _weighed_lines(explanation: Explanation) -> Iterator[str]:
    """A cleaning that weighed: what may be wrong, and what was made of it."""
    for weighed in explanation.weighed:
        yield f"{weighed.weight:.1%}: {weighed.says}"
    for step in explanation.steps:
        yield from _bought_lines(step.purchases)
        yield f"written: {_value(step.repair.new)}, {BECAUSE[step.repair.why]}"


BECAUSE = {
    Why.BOUGHT: "the value bought",
    Why.EVIDENCE: "the class's most frequent value at or below the one bought",
    Why.COLUMN: "the column's most frequent ground value below the one bought",
    Why.WEIGHED: "of least expected error, by own evidence and what was bought",
    Why.OWN: "by the client's own evidence; nothing was bought for it",
    Why.PINNED: "by hand",
}


def _value(value: Value) -> str:
    return "nothing" if value is None else repr(value)


def _listed(items: list[Any]) -> str:
    shown = ", ".join(map(str, items[:MOST_LISTED]))
    return f"{shown} and {len(items) - MOST_LISTED:,} more" if len(items) > MOST_LISTED else shown


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """Plain values; money in credits."""
    left = explanation.unrepaired
    return {
        "row": explanation.row,
        "attribute": explanation.attribute,
        "given": explanation.given,
        "value": explanation.value,
        "flagged": explanation.flagged,
        "undone": explanation.undone,
        "steps": [_step_as_dict(step) for step in explanation.steps],
        "unrepaired": None if left is None else {"rows": left.rows.tolist(), "reason": left.reason},
        "explanations": [{"says": e.says, "weight": e.weight} for e in explanation.weighed],
    }


def _step_as_dict(step: RepairStep) -> dict[str, Any]:
    repair, purchase = step.repair, step.purchases[-1] if step.purchases else None
    return {
        "rows": repair.rows.tolist(),
        "round": repair.round,
        "ties": [_tie_as_dict(tie) for tie in step.ties],
        "evidence": [{"value": e.value, "cells": e.cells, "fits": e.fits} for e in step.evidence],
        "purchase": None
        if purchase is None
        else {
            "row": purchase.row,
            "level": purchase.level,
            "value": purchase.value,
            "price": in_credits(purchase.price),
        },
        **_from_several(step.purchases),
        "old": step.old,
        "new": repair.new,
        "why": repair.why.value,
        "flagged": step.flagged,
        "doubtful": step.doubtful,
    }


def _from_several(purchases: Sequence[BoughtValue]) -> dict[str, Any]:
    """What each of several providers has said."""
    if not any(purchase.provider for purchase in purchases):
        return {}
    said = [
        {"provider": p.provider, "level": p.level, "value": p.value, "price": in_credits(p.price)} for p in purchases
    ]
    return {"opinions": said}


def _tie_as_dict(tie: Tie) -> dict[str, Any]:
    return {"fd": str(tie.fd), "values": dict(zip(tie.fd.lhs, tie.values, strict=True)), "rows": list(tie.rows)}
