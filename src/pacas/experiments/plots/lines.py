"""Lines over a parameter: a row of panels for each thing that is shown, a column for each data set.

Where there is one data set, the things that are shown stand side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import TYPE_CHECKING

from pacas.experiments.plots.labels import COLUMN_LABELS, dataset_words, line_words, tick_words
from pacas.experiments.plots.means import Means, Point
from pacas.experiments.plots.style import absent, dirty_table, frame, is_wide, line_style, set_scale, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

COMPARABLE = ("relative_error", "spent_share", "declined_0")
"""Shares, which mean the same on each data set; they share their axis."""

USUAL = 3
"""Panels in a row; where there are more, each has less room."""
NEAR = 0.14
"""Ticks that are nearer than this share of the axis have no room for two labels, where panels are so many."""


def lines(found: Means, note: str) -> Sheet:
    """The panels of a figure of lines."""
    figure, datasets = found.figure, found.datasets
    is_row = len(datasets) == 1
    rows, columns = (1, len(figure.shows)) if is_row else (len(figure.shows), len(datasets))
    drawn, grid = sheet(rows, columns, row_height=1.9 if is_row else 1.4)
    for at, column in enumerate(figure.shows):
        _row([grid[0][at]] if is_row else grid[at], found, column)
    titles = [dataset_words(dataset, found.rows(dataset)) for dataset in datasets]
    if is_row:
        note = f"{titles[0]}. {note}"
    else:
        for panel, title in zip(grid[0], titles, strict=True):
            panel.set_title(title if columns <= USUAL else title.replace(", ", "\n", 1), loc="left")
    frame(drawn, figure.title, note, below=COLUMN_LABELS[figure.x], order=found.lines)
    return drawn


def _row(panels: Sequence[Axes], found: Means, column: str) -> None:
    """One column of the results, on each data set."""
    of_each = [found.of(dataset=dataset) for dataset in found.datasets]
    values = [_values(points, column) for points in of_each]
    log = any(map(is_wide, values)) and all(min(some, default=0.0) > 0 for some in values)  # a line to 0 has no place
    for panel, points in zip(panels, of_each, strict=True):
        _panel(panel, points, found, column)
        if column == "relative_error":
            dirty_table(panel)
        set_scale(panel, _values(found.points if column in COMPARABLE else points, column), log=log)
        _set_ticks(panel, points, found)
        if not points:
            absent(panel)
    panels[0].set_ylabel(COLUMN_LABELS[column])


def _values(points: Sequence[Point], column: str) -> list[float]:
    """Every number that a panel must have room for."""
    spreads = [spread for point in points if (spread := point.spread(column)) is not None]
    return [value for spread in spreads for value in spread] + ([1.0] if column == "relative_error" else [])


def _panel(panel: Axes, points: Sequence[Point], found: Means, column: str) -> None:
    figure = found.figure
    by_line: dict[str, list[Point]] = {}
    for point in points:
        by_line.setdefault(line_words(point.setting, figure.lines), []).append(point)
    for words, line in by_line.items():
        _line(panel, line, words, found, column)


def _line(panel: Axes, points: Sequence[Point], words: str, found: Means, column: str) -> None:
    figure = found.figure
    shown = [(x, y) for point in points if (x := point.at(figure.x)) is not None and (y := point.spread(column))]
    if not shown:
        return
    drawn = line_style(points[0].setting, figure.lines)
    x = [at for at, _ in shown]
    panel.fill_between(
        x, [y.least for _, y in shown], [y.greatest for _, y in shown], color=drawn.colour, alpha=0.18, linewidth=0
    )
    panel.plot(
        x,
        [y.mean for _, y in shown],
        color=drawn.colour,
        linestyle=drawn.dash,
        linewidth=1.1,
        marker=drawn.marker,
        markersize=3.8,
        markerfacecolor=drawn.fill,
        markeredgewidth=0.9,
        label=words,
    )


def _set_ticks(panel: Axes, points: Sequence[Point], found: Means) -> None:
    """Where the parameter was set; but where it was measured, wherever the axis likes."""
    x, near = found.figure.x, NEAR * max(len(found.datasets) / USUAL, 1)
    if x == "general":
        panel.set_xlim(left=-0.03 * panel.get_xlim()[1])
        panel.xaxis.set_major_formatter(lambda value, _: tick_words(value))
    elif x == "actual_rows":
        panel.set_xscale("log")
        panel.set_xticks([], minor=True)
        values = sorted({point.at(x) for point in points})
        panel.set_xticks(values, _labels([log10(value) for value in values], values, near))
    else:
        values = sorted({getattr(setting, x) for setting in found.asked})
        panel.set_xticks(values, _labels(values, values, near))
        margin = 0.05 * (values[-1] - values[0])
        panel.set_xlim(values[0] - margin, values[-1] + margin)


def _labels(places: Sequence[float], values: Sequence[float], near: float) -> list[str]:
    """A label per tick, or none where the one before is near."""
    width = places[-1] - places[0] if places else 0
    labels, last = [], -float("inf")
    for place, value in zip(places, values, strict=True):
        is_free = place - last >= near * width
        labels.append(tick_words(value) if is_free else "")
        last = place if is_free else last
    return labels
