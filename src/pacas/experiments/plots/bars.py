"""Bars side by side: methods beside each other, sides of a dependency, or the levels that are declined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pacas.experiments.plots.labels import (
    COLUMN_LABELS,
    DECLINED,
    DECLINED_SHARE,
    column_words,
    dataset_words,
    line_words,
    number_words,
    value_words,
)
from pacas.experiments.plots.means import Means, Point, Spread
from pacas.experiments.plots.style import (
    BLUE,
    INK,
    PAPER,
    SKY,
    absent,
    dirty_table,
    end_of_bar,
    frame,
    is_wide,
    level,
    line_style,
    near_values,
    set_scale,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

KIND = ("method", "guard")
USUAL = 3
"""Panels in a row; where there are more, their titles have two lines."""
ROOM = 0.4
"""For the number at the end of a bar, as a share of its axis."""
MOST_TICKS = 4, 3
"""Where panels are of their usual width, and where they are narrow."""
TOO_LOW = 0.01
"""A bar that is not seen, as a share of its axis."""


def bars(found: Means, note: str) -> Sheet:
    """Methods lie one below the other, as their names are long; others stand."""
    if found.figure.x in found.figure.lines:
        return _levels(found, note)
    return _methods(found, note) if found.figure.x == "method" else _groups(found, note)


def _methods(found: Means, note: str) -> Sheet:
    """A row of panels per thing that is shown, a column per data set, a bar per method and policy."""
    figure, datasets = found.figure, found.datasets
    kinds = list(dict.fromkeys(line_words(setting, KIND) for setting in found.asked))
    drawn, grid = sheet(len(figure.shows), len(datasets), row_height=0.45 + 0.15 * len(kinds))
    for row, column in zip(grid, figure.shows, strict=True):
        shown = [value for point in found.points for value in point.spread(column) or ()]
        for panel, dataset in zip(row, datasets, strict=True):
            set_scale(panel, shown, log=is_wide(shown), side="x", room=ROOM, most=MOST_TICKS[len(datasets) > USUAL])
            if column == "relative_error":
                dirty_table(panel, "x")
            for point in found.of(dataset=dataset):
                _lying(panel, kinds.index(line_words(point.setting, KIND)), point, column)
            if not found.of(dataset=dataset):
                absent(panel)
            panel.set_yticks(range(len(kinds)), kinds if panel is row[0] else [])
            panel.set_ylim(len(kinds) - 0.4, -0.6)
            panel.tick_params(axis="y", length=0)
            panel.grid(visible=False, axis="y")
        row[len(row) // 2].set_xlabel(column_words(column))
    for panel, dataset in zip(grid[0], datasets, strict=True):
        panel.set_title(dataset_words(dataset, found.rows(dataset)).replace(", ", "\n", 1), loc="left")
    frame(drawn, figure.title, note)
    return drawn


def _lying(panel: Axes, place: int, point: Point, column: str) -> None:
    spread = point.spread(column)
    if spread is None:
        return
    left, _ = panel.get_xlim()
    panel.barh(place, max(spread.mean - left, 0), 0.72, left=left, **_filling(point))
    end_of_bar(panel, place, spread)


def _filling(point: Point) -> dict[str, Any]:
    """How a bar is filled: in its colour, hatched where lines are dashed."""
    shown = line_style(point.setting, KIND)
    hatch = "//////" if shown.is_hollow else None
    return {"facecolor": shown.fill, "edgecolor": shown.colour, "hatch": hatch, "linewidth": 0.7}


def _groups(found: Means, note: str) -> Sheet:
    """A group of bars per place on the axis, a bar per line."""
    figure, datasets = found.figure, found.datasets
    standing = [setting for setting in found.asked if not figure.is_level(setting)]
    places = list(dict.fromkeys(getattr(setting, figure.x) for setting in standing))
    kinds = list(dict.fromkeys(line_words(setting, figure.lines) for setting in standing))
    drawn, grid = sheet(len(figure.shows), len(datasets), row_height=1.8)
    for row, column in zip(grid, figure.shows, strict=True):
        of_each: dict[str, list[float]] = {}
        for point in (point for point in found.points if not figure.is_level(point.setting)):
            name = point.setting.method if figure.is_beside(point.setting) else ""
            of_each.setdefault(name, []).extend(point.spread(column) or ())
        shown = near_values(of_each, [1.0])
        for panel, dataset in zip(row, datasets, strict=True):
            set_scale(panel, shown, log=False)
            for point in found.of(dataset=dataset):
                words = line_words(point.setting, figure.lines)
                if figure.is_level(point.setting):
                    _level(panel, point, column, words)
                    continue
                place = places.index(getattr(point.setting, figure.x))
                _standing(panel, place, kinds.index(words), len(kinds), point.spread(column), words, **_filling(point))
            if column == "relative_error":
                dirty_table(panel)
            _set_groups(panel, [value_words(figure.x, place) for place in places])
            if not found.of(dataset=dataset):
                absent(panel)
        row[0].set_ylabel(COLUMN_LABELS[column])
    for panel, dataset in zip(grid[0], datasets, strict=True):
        title = dataset_words(dataset, found.rows(dataset))
        panel.set_title(title if len(datasets) <= USUAL else title.replace(", ", "\n", 1), loc="left")
    frame(drawn, figure.title, note, below=COLUMN_LABELS[figure.x], order=found.lines)
    return drawn


def _level(panel: Axes, point: Point, column: str, words: str) -> None:
    if (spread := point.spread(column)) is not None:
        level(panel, spread.mean, point.setting, words)
        _above(panel, 0.98, spread, words, transform=panel.transAxes)


def _above(panel: Axes, x: float, spread: Spread, words: str = "", **how: Any) -> None:
    """What lies above the axis, in figures."""
    if spread.mean > (top := panel.get_ylim()[1]):
        y = 0.99 if how else top
        said = f"{words} {number_words(spread.mean)} ↑".strip()
        panel.text(
            x,
            y,
            said,
            ha="right" if how else "center",
            va="top",
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.5},
            **how,
        )


def _levels(found: Means, note: str) -> Sheet:
    """A row of panels per policy's X, a column per data set; a group per level asked for, a bar per policy's l."""
    figure, datasets = found.figure, found.datasets
    guards = list(dict.fromkeys(setting.guard for setting in found.asked))
    values = sorted({getattr(setting, figure.x) for setting in found.asked})
    drawn, grid = sheet(len(guards), len(datasets), row_height=1.35, sharey=True)
    for row, guard in zip(grid, guards, strict=True):
        for panel, dataset in zip(row, datasets, strict=True):
            points = found.of(dataset=dataset, guard=guard)
            set_scale(panel, [1.0], log=False, room=0.03)
            for point in points:
                at = values.index(getattr(point.setting, figure.x))
                how = {"facecolor": (SKY, BLUE)[at % 2], "edgecolor": (SKY, BLUE)[at % 2], "linewidth": 0.7}
                words = line_words(point.setting, (figure.x,))
                for place, column in enumerate(figure.shows):
                    _standing(panel, place, at, len(values), point.spread(column), words, **how)
            _set_groups(panel, [column.rpartition("_")[2] for column in figure.shows])
            if not points:
                absent(panel)
        row[0].set_ylabel(f"{guard}:\n{DECLINED_SHARE}")
    for panel, dataset in zip(grid[0], datasets, strict=True):
        panel.set_title(dataset_words(dataset, found.rows(dataset)), loc="left")
    order = list(dict.fromkeys(line_words(setting, (figure.x,)) for setting in found.asked))
    frame(drawn, figure.title, note, below=DECLINED, order=order)
    return drawn


def _standing(panel: Axes, place: int, at: int, of: int, spread: Spread | None, words: str, **how: Any) -> None:
    """A bar at its place in a group, with its whisker. One too low to be seen is said; what was not measured is not."""
    if spread is None:
        return
    width = 0.8 / of
    x = place - 0.4 + width * (at + 0.5)
    panel.bar(x, spread.mean, 0.9 * width, label=words, **how)
    _above(panel, x, spread)
    if spread.greatest < TOO_LOW * panel.get_ylim()[1]:
        panel.annotate("≈0" if spread.mean else "0", (x, 0), (0, 2), textcoords="offset points", ha="center")
        return
    if spread.greatest > spread.least:
        panel.plot([x, x], [spread.least, spread.greatest], color=INK, linewidth=0.7)


def _set_groups(panel: Axes, words: list[str]) -> None:
    panel.set_xticks(range(len(words)), words)
    panel.set_xlim(-0.6, len(words) - 0.4)
    panel.grid(visible=False, axis="x")
    panel.tick_params(axis="x", length=0)
