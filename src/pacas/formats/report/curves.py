"""Curves over money spent, as a report draws them: violations left, or the error that is expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.hindsight import Hindsight
from pacas.client.outcome.judgement import Judgement
from pacas.core.distance import Floats
from pacas.core.money import credits_words, rounded_text
from pacas.core.words import counted

WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 12, 12, 26, 44
MOST_POINTS = 400

EXPECTED = (
    "The semantic distance δ to the truth that is expected of all cells that were weighed, with the free repairs made; "
    "each time that all was weighed again."
)
TRUE = "Dashed: the true δ of all cells, had the cleaning ended there; cells that no dependency looks at are in it."


@dataclass(frozen=True, slots=True)
class SpendingCurve:
    """A curve in words and, where there is something to draw, as the paths of an SVG; notes stand below."""

    said: str
    line: str | None = None
    dashed: str | None = None
    top: str = ""
    right: str = ""
    notes: tuple[str, ...] = ()


def spending_curve(cleaning: Cleaning, hindsight: Hindsight | None) -> SpendingCurve:
    """The curve of a cleaning: a client who weighs expects an error, the paper's counts violations."""
    return _budget_curve(cleaning) if cleaning.weighing is None else _error_curve(cleaning.weighing, hindsight)


def _error_curve(judgement: Judgement, hindsight: Hindsight | None) -> SpendingCurve:
    """The expected error over money spent, whenever all was weighed again, and the true one beside it, if known."""
    if not judgement.expected:
        return SpendingCurve("There was nothing to weigh.")
    spent, expected = (np.array(part, dtype=np.float64) for part in zip(*judgement.expected, strict=True))
    true = np.array([error for _, error in hindsight.errors]) if hindsight is not None else None
    notes = (EXPECTED,) if true is None else (EXPECTED, TRUE)
    total = judgement.expected[-1][0]
    if not total:
        told = "" if true is None else f", the true one {true[-1]:,.1f}"
        return SpendingCurve(f"Nothing was paid. The expected error is {expected[-1]:,.1f} bits{told}.", notes=notes)
    said = f"Expected error over credits spent: {_from_to(expected)} at {credits_words(total)}."
    if true is not None:
        said += f" True error: {_from_to(true)}."
    most = max(expected.max(), 0 if true is None else true.max())
    return _drawn(said, f"{most:,.1f} bits", total, spent, expected, true, notes)


def _from_to(error: Floats) -> str:
    return f"from {error[0]:,.1f} bits at 0 credits to {error[-1]:,.1f} bits"


def _budget_curve(cleaning: Cleaning) -> SpendingCurve:
    """Violations left over money spent, a step per purchase; of very many, the last step of each pixel or so."""
    if not cleaning.purchases:
        return SpendingCurve("Nothing was bought.")
    if cleaning.panel is not None:
        return SpendingCurve("What several providers said was settled at the end, all classes together.")
    spent = np.cumsum([0, *(p.price for p in cleaning.purchases)], dtype=np.float64)
    left = np.array([cleaning.violations_before, *(r.violations for r in cleaning.repairs)], dtype=np.float64)
    total = cleaning.spent_nanocredits
    said = (
        f"Violations left over credits spent: from {cleaning.violations_before:,} at 0 credits "
        f"to {cleaning.violations_after:,} at {credits_words(total)}."
    )
    return _drawn(said, counted(int(left.max()), "violation"), total, spent, left)


def _drawn(
    said: str,
    top: str,
    total: int,
    spent: Floats,
    left: Floats,
    beside: Floats | None = None,
    notes: tuple[str, ...] = (),
) -> SpendingCurve:
    """A step curve, and another one beside it, dashed."""
    most = max(float(left.max()), 0.0 if beside is None else float(beside.max()))
    x = LEFT + (WIDTH - LEFT - RIGHT) * spent / max(spent[-1], 1)

    def path(values: Floats) -> str:
        return _steps(*_thinned(x, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * values / (most or 1)))

    dashed = None if beside is None else path(beside)
    return SpendingCurve(said, path(left), dashed, top, rounded_text(total), notes)


def _thinned(x: Floats, y: Floats) -> tuple[list[float], list[float]]:
    """At most so many points: the first, and the last one in each narrow strip."""
    if len(x) > MOST_POINTS:
        strip = ((x - x[0]) / max(x[-1] - x[0], 1e-9) * (MOST_POINTS - 2)).astype(np.int64)
        kept = np.flatnonzero(np.append(np.diff(strip) > 0, True))
        kept = np.unique(np.append(0, kept))
        x, y = x[kept], y[kept]
    return x.tolist(), y.tolist()


def _steps(x: list[float], y: list[float]) -> str:
    return f"M{x[0]:.1f} {y[0]:.1f}" + "".join(f"H{a:.1f}V{b:.1f}" for a, b in zip(x[1:], y[1:], strict=True))
