"""The budget curve, drawn as SVG: violations left over money spent."""

from __future__ import annotations

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.core.distance import Floats
from pacas.core.money import credits_text, credits_words
from pacas.core.words import counted

WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 12, 12, 26, 44
MOST_POINTS = 400


def budget_curve(cleaning: Cleaning) -> str:
    """A step per purchase; with very many purchases, the last step of each pixel or so."""
    if not cleaning.purchases:
        return "<p>Nothing was bought.</p>"
    spent = np.cumsum([0, *(p.price for p in cleaning.purchases)], dtype=np.float64)
    left = np.array([cleaning.violations_before, *(r.violations for r in cleaning.repairs)], dtype=np.float64)
    total, most = cleaning.spent_nanocredits, int(left.max())
    x = LEFT + (WIDTH - LEFT - RIGHT) * spent / max(spent[-1], 1)
    y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * left / max(most, 1)
    line = _steps(*_thinned(x, y))
    floor = HEIGHT - BOTTOM
    said = (
        f"Violations left over credits spent: from {cleaning.violations_before:,} at 0 credits "
        f"to {cleaning.violations_after:,} at {credits_words(total)}."
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}">'
        f'<path class="area" d="{line}V{floor}H{LEFT}Z"/>'
        f'<line class="axis" x1="{LEFT}" y1="{floor}" x2="{WIDTH - RIGHT}" y2="{floor}"/>'
        f'<line class="axis" x1="{LEFT}" y1="{TOP}" x2="{WIDTH - RIGHT}" y2="{TOP}"/>'
        f'<path class="curve" d="{line}"/>'
        f'<text x="{LEFT}" y="{TOP - 8}">{counted(most, "violation")}</text>'
        f'<text x="{LEFT}" y="{floor + 18}">0</text>'
        f'<text x="{WIDTH - RIGHT}" y="{floor + 18}" text-anchor="end">{credits_text(total)}</text>'
        f'<text x="{WIDTH / 2:g}" y="{HEIGHT - 6}" text-anchor="middle">credits spent</text>'
        "</svg>"
    )


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
