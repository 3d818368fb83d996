"""An explanation in sentences, and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pacas.client.outcome.cleaning import Why
from pacas.core.money import credits_words, in_credits
from pacas.core.words import counted

if TYPE_CHECKING:  # an explanation prints itself with these words
    from pacas.client.outcome.explain import Explanation, Step, Tie, Value

MOST_LISTED = 8
"""Of values and rows, in sentences."""


def in_words(explanation: Explanation) -> list[str]:
    """A line per fact, from the class to the value written."""
    cell = f"row {explanation.row}, {explanation.attribute}"
    lines = [f"{cell}: {_value(explanation.given)} was given, {_value(explanation.value)} stands there now"]
    for step in explanation.steps:
        lines += _step(step)
    if explanation.unrepaired is not None:
        left = explanation.unrepaired
        lines.append(f"its class of {counted(len(left.rows), 'cell')} was left as it is: {left.reason}")
    elif not explanation.steps:
        lines.append("no dependency and nobody else found anything wrong with it, so it was left alone")
    return lines


def _step(step: Step) -> Iterator[str]:
    purchase, repair = step.purchase, step.repair
    yield f"class: {counted(len(repair.rows), 'cell')} that must agree, rows {_listed(repair.rows.tolist())}"
    for tie in step.ties:
        shared = ", ".join(f"{a} = {_value(v)}" for a, v in zip(tie.fd.lhs, tie.values, strict=True))
        yield f"tied by {tie.fd}: {counted(len(tie.rows), 'cell')} with {shared}"
    if not step.ties:
        yield "tied to no other row: the cell was named by itself"
    yield "values: " + _listed([f"{_value(e.value)} × {e.cells}{' (fits)' if e.fits else ''}" for e in step.evidence])
    yield (
        f"bought: {_value(purchase.value)}, level {purchase.level}, for {credits_words(purchase.price)}, "
        f"by asking about row {purchase.row}"
    )
    yield f"written: {_value(repair.new)}, {BECAUSE[repair.why]}"
    others = f"quotes were others than those of row {purchase.row}"
    if step.flagged:
        yield f"look at it: this row's own {others}; it may not belong to the class"
    elif step.doubtful:
        yield f"look at it: the value stood only in rows whose {others}; these may not belong to the class"
    elif len(purchase.differing):
        yield f"in the class there are rows whose {others}: {_listed(purchase.differing.tolist())}"


BECAUSE = {
    Why.BOUGHT: "the value bought",
    Why.EVIDENCE: "the class's most frequent value at or below the one bought",
    Why.COLUMN: "the column's most frequent ground value below the one bought",
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
        "steps": [_step_as_dict(step) for step in explanation.steps],
        "unrepaired": None if left is None else {"rows": left.rows.tolist(), "reason": left.reason},
    }


def _step_as_dict(step: Step) -> dict[str, Any]:
    purchase, repair = step.purchase, step.repair
    return {
        "rows": repair.rows.tolist(),
        "round": repair.round,
        "ties": [_tie_as_dict(tie) for tie in step.ties],
        "evidence": [{"value": e.value, "cells": e.cells, "fits": e.fits} for e in step.evidence],
        "purchase": {
            "row": purchase.row,
            "level": purchase.level,
            "value": purchase.value,
            "price": in_credits(purchase.price),
        },
        "old": step.old,
        "new": repair.new,
        "why": repair.why.value,
        "flagged": step.flagged,
        "doubtful": step.doubtful,
    }


def _tie_as_dict(tie: Tie) -> dict[str, Any]:
    return {"fd": str(tie.fd), "values": dict(zip(tie.fd.lhs, tie.values, strict=True)), "rows": list(tie.rows)}
