"""The runs that a figure is drawn from, and what they show: means over the seeds, from the least to the greatest.

Paper: §7, "the average runtime over four executions".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple

from pacas.experiments.plots.labels import line_words, value_words
from pacas.experiments.runs.figure import Figure
from pacas.experiments.runs.results import Line, Runs
from pacas.experiments.runs.setting import Setting


class Spread(NamedTuple):
    """What the seeds agree on, and how far."""

    mean: float
    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class Point:
    """All runs that differ in nothing but their seed."""

    setting: Setting
    """With the seed of the first."""
    runs: tuple[Line, ...]

    def spread(self, column: str) -> Spread | None:
        """Over the runs that measured it; None if none did."""
        return _spread([run[column] for run in self.runs if run.get(column) is not None])

    def share(self, column: str, columns: Sequence[str]) -> Spread | None:
        """A column's share of the sum of some columns; None if that is 0 in every run."""
        sums = [(run, sum(run[c] or 0 for c in columns)) for run in self.runs]
        return _spread([(run[column] or 0) / total for run, total in sums if total])

    def total(self, columns: Sequence[str]) -> Spread | None:
        """The spread of the sum of some columns, in the runs that measured all of them."""
        measured = [[run[column] for column in columns] for run in self.runs]
        return _spread([sum(values) for values in measured if None not in values])

    def at(self, column: str) -> Any:
        """Where it stands on an axis: what was set, or the mean of what was measured."""
        if column in Setting.__dataclass_fields__:
            return getattr(self.setting, column)
        found = self.spread(column)
        return None if found is None else found.mean


def _spread(values: Sequence[float]) -> Spread | None:
    return Spread(fmean(values), min(values), max(values)) if values else None


@dataclass(frozen=True, slots=True)
class Means:
    """The points of a figure, in the order of its settings, as far as they were run."""

    figure: Figure
    asked: tuple[Setting, ...]
    """One setting per point, run or not."""
    points: tuple[Point, ...]
    runs: int
    missing: int

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(setting.dataset for setting in self.asked))

    @property
    def lines(self) -> tuple[str, ...]:
        """What its lines are called."""
        return tuple(dict.fromkeys(line_words(setting, self.figure.lines) for setting in self.asked))

    @property
    def panels(self) -> tuple[Any, ...]:
        """The values of the parameter that has a row of panels for each; one that stands for all, if there is none."""
        name = self.figure.panels
        return tuple(dict.fromkeys(getattr(s, name) for s in self.asked)) if name else (None,)

    def rows(self, dataset: str) -> set[int]:
        """How large it was in these runs."""
        return {run["actual_rows"] for point in self.of(dataset=dataset) for run in point.runs}

    def of(self, **values: Any) -> tuple[Point, ...]:
        """The points whose settings have these values."""
        return tuple(p for p in self.points if all(getattr(p.setting, name) == v for name, v in values.items()))


@dataclass(frozen=True, slots=True)
class MeansTable:
    """One thing that a figure of lines shows, in figures: a row per data set and line, a column per value of x."""

    column: str
    panel: Any
    """The value of the parameter that has a row of panels for each."""
    xs: tuple[str, ...]
    rows: Mapping[tuple[str, str], Mapping[str, Point]]


def means_tables(found: Means) -> Iterator[MeansTable]:
    """The tables of a figure, in the order of its rows of panels."""
    figure = found.figure
    for panel in found.panels:
        points = found.of(**{figure.panels: panel}) if figure.panels else found.points
        xs = _places([point for point in points if not figure.is_level(point.setting)], figure)
        rows: dict[tuple[str, str], dict[str, Point]] = {}
        for point in points:
            line = (value_words("dataset", point.setting.dataset), line_words(point.setting, figure.lines))
            at = xs if figure.is_level(point.setting) else (_place(point, figure),)
            rows.setdefault(line, {}).update(dict.fromkeys(at, point))
        for column in figure.shows:
            yield MeansTable(column, panel, xs, rows)


def _places(points: Sequence[Point], figure: Figure) -> tuple[str, ...]:
    """Where points stand, numbers in ascending order."""
    at = {_place(point, figure): point.at(figure.x) for point in points}
    is_set = figure.x in figure.varied and all(isinstance(x, int | float) for x in at.values())
    return tuple(sorted(at, key=at.__getitem__) if is_set else at)


def _place(point: Point, figure: Figure) -> str:
    """Where a point stands; if x is measured, then by the parameter behind it."""
    if figure.x == "actual_rows":
        return f"{point.at(figure.x):,.0f}"
    behind = next(name for name, values in figure.varied.items() if len(values) > 1)
    return value_words("", point.at(figure.x if figure.x in figure.varied else behind))


def means(figure: Figure, runs: Runs) -> Means:
    """What an evaluation has of a figure."""
    asked: dict[Setting, list[Setting]] = {}
    for setting in dict.fromkeys(figure.settings(runs.collection, runs.scale)):
        asked.setdefault(replace(setting, seed=0), []).append(setting)
    points = tuple(
        Point(found[0], tuple(runs.lines[setting] for setting in found))
        for same in asked.values()
        if (found := [setting for setting in same if setting in runs.lines])
    )
    n = sum(len(point.runs) for point in points)
    return Means(figure, tuple(same[0] for same in asked.values()), points, n, sum(map(len, asked.values())) - n)
