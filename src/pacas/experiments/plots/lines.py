"""Lines over a parameter: a row of panels for each thing that is shown, a column for each data set.

Where there is one data set, the things that are shown stand side by side. A method that knows nothing of the parameter
is a level line; one that lies far above all others is said at the top, and does not stretch the axis. So are the dirty
table, and the part of its error that no dependency sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import TYPE_CHECKING, Any

from pacas.experiments.plots.labels import (
    COLUMN_LABELS,
    SHORT_LABELS,
    dataset_words,
    line_words,
    number_words,
    tick_words,
    value_words,
)
from pacas.experiments.plots.means import Means, Point
from pacas.experiments.plots.style import (
    DIRTY_TABLE,
    PAPER,
    SOFT,
    absent,
    dirty_table,
    frame,
    is_wide,
    level,
    line_style,
    near_values,
    set_scale,
    sheet,
)
from pacas.experiments.runs.setting import SHARED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

COMPARABLE = ("relative_error", "spent_share", "declined_0")
"""Shares, which mean the same on each data set; they share their axis."""

DIRTY = {"error": "dirty_error", "unseen_after": "unseen"}
"""What a column was before the cleaning, where that is not 1."""
UNSEEN = "what no dependency sees"

USUAL = 3
"""Panels in a row; where there are more, each has less room."""
NEAR = 0.14
"""Ticks that are nearer than this share of the axis have no room for two labels, where panels are so many."""


def lines(found: Means, note: str) -> Sheet:
    """The panels of a figure of lines."""
    figure, datasets = found.figure, found.datasets
    is_row = len(datasets) == 1
    kinds = [(value, column) for value in found.panels for column in figure.shows]
    rows, columns = (1, len(kinds)) if is_row else (len(kinds), len(datasets))
    drawn, grid = sheet(rows, columns, row_height=1.9 if is_row else 1.4 if rows <= USUAL else 1.1)
    for at, (value, column) in enumerate(kinds):
        _row([grid[0][at]] if is_row else grid[at], found, column, {figure.panels: value} if figure.panels else {})
    titles = [dataset_words(dataset, found.rows(dataset)) for dataset in datasets]
    if is_row:
        note = f"{titles[0]}. {note}"
    else:
        for panel, title in zip(grid[0], titles, strict=True):
            panel.set_title(title if columns <= USUAL else title.replace(", ", "\n", 1), loc="left")
    frame(drawn, figure.title, note, below=COLUMN_LABELS[figure.x], order=found.lines)
    return drawn


def _row(panels: Sequence[Axes], found: Means, column: str, where: Mapping[str, Any]) -> None:
    """One column of the results, on each data set."""
    of_each = [found.of(dataset=dataset, **where) for dataset in found.datasets]
    values = [_values(points, found, column) for points in of_each]
    log = any(map(is_wide, values)) and all(min(some, default=0.0) > 0 for some in values)  # a line to 0 has no place
    shared = [value for some in values for value in some]
    for panel, points, own in zip(panels, of_each, values, strict=True):
        _panel(panel, points, found, column)
        if column == "relative_error":
            dirty_table(panel)
        set_scale(panel, shared if column in COMPARABLE else own, log=log)
        _levels(panel, points, found, column)
        _set_ticks(panel, points, found)
        if not points:
            absent(panel)
    said = [f"{value_words(name, value)}:\n{SHORT_LABELS[column]}" for name, value in where.items()]
    panels[0].set_ylabel(said[0] if said else COLUMN_LABELS[column])


def _values(points: Sequence[Point], found: Means, column: str) -> list[float]:
    """Every number that a panel must have room for."""
    others = [point for point in points if not found.figure.is_level(point.setting)]
    dirty = [spread.mean for point in others if (spread := point.spread(DIRTY.get(column, "")))]
    by_line: dict[str, list[float]] = {}
    for point in others:
        name = point.setting.method if found.figure.is_beside(point.setting) else ""
        by_line.setdefault(name, []).extend(point.spread(column) or ())
    return near_values(by_line, dirty + ([1.0] if column == "relative_error" else []))


def _panel(panel: Axes, points: Sequence[Point], found: Means, column: str) -> None:
    figure = found.figure
    by_line: dict[str, list[Point]] = {}
    for point in points:
        if not figure.is_level(point.setting):
            by_line.setdefault(line_words(point.setting, figure.lines), []).append(point)
    for words, line in by_line.items():
        _line(panel, line, words, found, column)
    if column in DIRTY and by_line:
        _dirty(panel, max(by_line.values(), key=len), found, DIRTY[column])


def _dirty(panel: Axes, points: Sequence[Point], found: Means, column: str) -> None:
    """The same of the dirty table, which is the same for all methods."""
    shown = [(point.at(found.figure.x), y.mean) for point in points if (y := point.spread(column))]
    if shown:
        panel.plot(*zip(*shown, strict=True), color=SOFT, linewidth=0.9, zorder=1, label=DIRTY_TABLE)


def _levels(panel: Axes, points: Sequence[Point], found: Means, column: str) -> None:
    """Methods that the parameter does not touch; where they are above the axis, in words."""
    beyond: dict[str, list[float]] = {}
    for point in points:
        if (y := point.spread(column)) is None:
            continue
        words = line_words(point.setting, found.figure.lines)
        if y.mean > panel.get_ylim()[1]:
            beyond.setdefault(words, []).append(y.mean)
        if found.figure.is_level(point.setting):
            level(panel, y.mean, point.setting, words)
    if beyond:
        said = [f"{words} {_from_to(values)}" for words, values in beyond.items()]
        box = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.5}
        panel.text(0.98, 0.99, "; ".join(said) + " ↑", ha="right", va="top", transform=panel.transAxes, bbox=box)
    floor = [y.mean for point in points if (y := point.spread("unseen_share")) is not None]
    if column == "relative_error" and found.figure.x not in SHARED and max(floor, default=0.0) > 0:
        panel.axhline(max(floor), color=SOFT, linewidth=0.9, linestyle=":", label=UNSEEN)


def _from_to(values: Sequence[float]) -> str:
    least, greatest = number_words(min(values)), number_words(max(values))
    return least if least == greatest else f"{least}–{greatest}"


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
        values = sorted({getattr(setting, x) for setting in found.asked if not found.figure.is_level(setting)})
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
