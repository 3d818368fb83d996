"""Bars whose parts add up: repairs by their distance from the truth, or time by what it was spent on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pacas.experiments.plots.labels import (
    CHANGED_SHARE,
    COLUMN_LABELS,
    DISTANCE,
    SECONDS,
    dataset_words,
    line_words,
    value_words,
)
from pacas.experiments.plots.means import Means, Point, Spread
from pacas.experiments.plots.style import INK, NEAR_TO_FAR, PAPER, STACK, absent, end_of_bar, frame, set_scale, sheet
from pacas.experiments.runs.results import SCHEMA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet


MOST = 4
"""Panels in a row."""


def shares(found: Means, note: str) -> Sheet:
    """A panel per line, a bar per place on the axis, a part per column that is shown."""
    return _of_cells(found, note) if _counts_cells(found) else _of_time(found, note)


def _counts_cells(found: Means) -> bool:
    """Cells are shown as shares of all, as their number says little; seconds as they are."""
    return bool(pa.types.is_integer(SCHEMA.field(found.figure.shows[0]).type))


def _panels_of(found: Means) -> dict[str, list[Point]]:
    """The points of each line, also of lines without any."""
    panels: dict[str, list[Point]] = {words: [] for words in found.lines}
    for point in found.points:
        panels[line_words(point.setting, found.figure.lines)].append(point)
    return panels


def _of_cells(found: Means, note: str) -> Sheet:
    figure, of_each = found.figure, _panels_of(found)
    drawn, grid = sheet(-(-len(of_each) // MOST), min(len(of_each), MOST), row_height=1.9, sharey=True)
    panels = [panel for row in grid for panel in row]
    places = sorted({getattr(setting, figure.x) for setting in found.asked if not figure.is_level(setting)})
    for panel in panels[len(of_each) :]:
        panel.remove()
    for panel, (words, points) in zip(panels, of_each.items(), strict=False):
        at = {
            x: point for point in points for x in (places if figure.is_level(point.setting) else [point.at(figure.x)])
        }
        stacks = [[at[x].share(c, figure.shows) if x in at else None for x in places] for c in figure.shows]
        _stack(panel, stacks, [COLUMN_LABELS[column] for column in figure.shows], NEAR_TO_FAR, upright=True)
        panel.set_title(words, loc="left")
        panel.set_xticks(range(len(places)), [value_words(figure.x, x) for x in places])
        panel.set_xlim(-0.6, len(places) - 0.4)
        set_scale(panel, [1.0], log=False, room=0)
        panel.grid(visible=False, axis="x")
        if not points:
            absent(panel)
    for row in grid:
        row[0].set_ylabel(CHANGED_SHARE)
    name = dataset_words(found.datasets[0], found.rows(found.datasets[0]))
    frame(drawn, figure.title, f"{name}. {note}", below=COLUMN_LABELS[figure.x], key=DISTANCE)
    return drawn


def _of_time(found: Means, note: str) -> Sheet:
    figure, of_each = found.figure, _panels_of(found)
    drawn, (panels,) = sheet(1, len(of_each), row_height=0.5 + 0.35 * len(found.datasets), sharey=True)
    totals = {p.setting: total for p in found.points if (total := p.total(figure.shows)) is not None}
    for panel, (words, points) in zip(panels, of_each.items(), strict=True):
        at = {point.setting.dataset: point for point in points}
        stacks = [[at[d].spread(c) if d in at else None for d in found.datasets] for c in figure.shows]
        _stack(panel, stacks, [COLUMN_LABELS[column] for column in figure.shows], STACK, upright=False)
        panel.set_title(words, loc="left")
        set_scale(panel, [total.greatest for total in totals.values()], log=False, side="x", room=0.15)
        for place, dataset in enumerate(found.datasets):
            if dataset in at and at[dataset].setting in totals:
                end_of_bar(panel, place, totals[at[dataset].setting])
        panel.set_ylim(len(found.datasets) - 0.4, -0.6)
        panel.grid(visible=False, axis="y")
        if not points:
            absent(panel)
    names = [dataset_words(dataset, found.rows(dataset)) for dataset in found.datasets]
    panels[0].set_yticks(range(len(names)), [name.replace(", ", "\n", 1) for name in names])
    frame(drawn, figure.title, note, below=SECONDS)
    return drawn


def _stack(
    panel: Axes,
    stacks: Sequence[Sequence[Spread | None]],
    words: Sequence[str],
    colours: Sequence[str],
    *,
    upright: bool,
) -> None:
    """One part upon the other. The first has a whisker; the others' would hide each other."""
    base = [0.0] * len(stacks[0])
    for part, (stack, label, colour) in enumerate(zip(stacks, words, colours, strict=False)):
        means = [0.0 if spread is None else spread.mean for spread in stack]
        how: dict[str, Any] = {"color": colour, "edgecolor": PAPER, "linewidth": 0.4, "label": label}
        if upright:
            panel.bar(range(len(means)), means, 0.8, bottom=base, **how)
        else:
            panel.barh(range(len(means)), means, 0.6, left=base, **how)
        if part == 0 and upright:
            _whiskers(panel, stack)
        base = [low + mean for low, mean in zip(base, means, strict=True)]


def _whiskers(panel: Axes, stack: Sequence[Spread | None]) -> None:
    for at, spread in enumerate(stack):
        if spread is not None and spread.greatest > spread.least:
            panel.plot([at, at], [spread.least, spread.greatest], color=INK, linewidth=0.7)
