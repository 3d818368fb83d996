"""Maps of two parameters: a coloured cell per pair, with how much weighing leaves of the most that it may, in per cent.

A row of panels for each data set, a column for each kind of errors. Beyond 100 a cell is red: the claim does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from pacas.experiments.plots.labels import COLUMN_LABELS, DATASET_LABELS, tick_words, value_words
from pacas.experiments.plots.means import Means, Point
from pacas.experiments.plots.style import INK, NEAR_TO_FAR, PAPER, RED, absent, frame, sheet
from pacas.experiments.runs.setting import NO_PURCHASE, REFINE, WEIGH
from pacas.experiments.weighing_verdicts import NOTHING, share_of_allowed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

DOWN = "error_rate"
"""What stands on the upright axis of a panel."""
ALLOWED = "the most it may: the dirty table's error, or 1.02 × a free vote's or refine's at the same budget, if less"
STEPS = {0.25: "to 25 %", 0.5: "to 50 %", 0.75: "to 75 %", 1.0: "to 100 %", float("inf"): "more than it may"}
COLOURS = dict(zip(STEPS, (*NEAR_TO_FAR, RED), strict=True))
BRIGHT = NEAR_TO_FAR[2:]
"""On which ink is read best."""
MOST = 9.99
"""What is more is said by a sign: there is no room for its number."""


def maps(found: Means, note: str) -> Sheet:
    """A cell per error rate and budget, in a panel per data set and kind of errors; said at the edges of the sheet."""
    figure, datasets, kinds = found.figure, found.datasets, found.panels
    across = sorted({getattr(setting, figure.x) for setting in found.asked if setting.buys})
    down = sorted({getattr(setting, DOWN) for setting in found.asked})
    drawn, grid = sheet(len(datasets), len(kinds), row_height=0.12 + 0.15 * len(down))
    for row, dataset in zip(grid, datasets, strict=True):
        for panel, kind in zip(row, kinds, strict=True):
            points = found.of(dataset=dataset, **{figure.panels: kind})
            _set_axes(panel, across if row is grid[-1] else (), down if panel is row[0] else ())
            panel.set_xlim(-0.5, len(across) - 0.5)
            panel.set_ylim(-0.5, len(down) - 0.5)
            for (x, place), (y, rate) in product(enumerate(across), enumerate(down)):
                _cell(panel, x, y, share_left(points, figure.x, place, rate))
            if not points:
                absent(panel)
        row[0].set_ylabel(f"{DATASET_LABELS.get(dataset, dataset)}\nrate e")
    for panel, kind in zip(grid[0], kinds, strict=True):
        panel.set_title(value_words(figure.panels, kind), loc="left")
    for step, words in STEPS.items():
        grid[0][0].bar(0, 0, facecolor=COLOURS[step], label=words)
    frame(drawn, figure.title, note, below=COLUMN_LABELS[figure.x], key=ALLOWED, order=tuple(STEPS.values()))
    return drawn


def share_left(points: Sequence[Point], x: str, place: float, rate: float) -> float | None:
    """What weighing leaves there, as a share of the most that it may; None if one of the methods was not run."""
    left = {
        point.setting.method: [run["relative_error"] for run in point.runs]
        for point in points
        if point.at(DOWN) == rate and (not point.setting.buys or point.at(x) == place)
    }
    if not {WEIGH, NO_PURCHASE, REFINE} <= left.keys():
        return None
    return share_of_allowed(left[WEIGH], left[NO_PURCHASE], left[REFINE])


def _cell(panel: Axes, x: int, y: int, share: float | None) -> None:
    if share is None:
        return
    colour = next(COLOURS[most] for most in STEPS if share <= most + NOTHING)
    panel.bar(x, 1, 1, bottom=y - 0.5, facecolor=colour, edgecolor=PAPER, linewidth=0.5)
    said = f"{100 * share:.0f}" if share < MOST else "≫"
    panel.text(x, y, said, color=INK if colour in BRIGHT else PAPER, ha="center", va="center_baseline")


def _set_axes(panel: Axes, across: Sequence[float], down: Sequence[float]) -> None:
    panel.set_xticks(range(len(across)), map(_short, across))
    panel.set_yticks(range(len(down)), map(_short, down))
    panel.grid(visible=False)
    panel.tick_params(length=0)


def _short(value: float) -> str:
    """A share, in as little room as there is.

    >>> _short(0.05), _short(1.0), _short(0.0)
    ('.05', '1', '0')
    """
    return tick_words(value).replace("0.", ".")
