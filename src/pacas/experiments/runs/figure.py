"""What a figure of the evaluation is: what varies in it, on which data sets, and what it shows of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product
from typing import Any

from pacas.errors import InputError
from pacas.experiments.runs.setting import (
    PAPER,
    SHARED,
    Setting,
)

SEEDS = (1, 2, 3, 4)
"""Every setting is run so often; the paper runs four times, too."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How large a run of the evaluation is."""

    name: str
    sweep: int
    """Rows of each data set where a parameter is varied; a smaller one is taken whole."""
    whole: int | None
    """Rows where data sets are compared as they are; None is all of them."""
    growth: tuple[int, ...]
    """The numbers of rows that `rows` grows through, up to `whole`."""


SCALES: Mapping[str, Scale] = {
    "small": Scale("small", 2_000, 2_000, (500, 1_000)),
    "full": Scale("full", 50_000, None, (10_000, 30_000, 100_000)),
}


@dataclass(frozen=True, slots=True)
class Collection:
    """The data sets of an evaluation, in the paper's order: Clinical, Census, Food; and others, for the comparison."""

    main: tuple[str, str, str]
    others: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.main, *self.others)


REAL_DATA = Collection(("discharges", "census", "food"), ("clinical", "adult"))
SYNTHETIC_DATA = Collection(("synthetic-clinical", "synthetic-census", "synthetic-food"))


class Drawn(Enum):
    """How a figure is drawn."""

    LINES = "lines"
    """A line per method and policy over the parameter."""
    SHARES = "shares"
    """Bars that add up to all repairs, or to all the time."""
    BARS = "bars"
    """A bar per level, side by side."""
    MAPS = "maps"
    """A cell per pair of parameters: how much weighing leaves of the most that it may."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: the runs that it is drawn from, and what it shows of them."""

    name: str
    title: str
    x: str
    """What stands on the horizontal axis: a column of the results."""
    varied: Mapping[str, tuple[Any, ...]]
    """All parameters that are not at their defaults, each with its values: every combination is run."""
    shows: tuple[str, ...]
    """The columns of the results that are shown, a row of panels each."""
    beside: tuple[Mapping[str, tuple[Any, ...]], ...] = ()
    """What is shown besides, each as far as it differs from `varied`: no claim of the paper is about it."""
    lines: tuple[str, ...] = ("method", "guard")
    """What tells the lines of a panel apart."""
    panels: str = ""
    """A parameter that has a row of panels for each of its values."""
    drawn: Drawn = Drawn.LINES
    first_only: bool = False
    """On the first data set alone, as in the paper."""
    whole: bool = False
    """On data sets as large as they are."""
    others: bool = False
    """On the collection's other data sets, too."""
    seeds: tuple[int, ...] = SEEDS
    """Each setting is run with each of them."""

    def at_quotes(self, quotes: str) -> Figure:
        """The figure at these quotes; one that compares them stays as it is."""
        if quotes == PAPER or "quotes" in self.varied:
            return self
        return replace(self, title=f"{self.title}; {quotes} quotes", varied={**self.varied, "quotes": (quotes,)})

    def settings(self, collection: Collection, scale: Scale) -> Iterator[Setting]:
        """The runs that the figure is drawn from; several figures may share some."""
        main = collection.main[:1] if self.first_only else collection.main
        for dataset in (*main, *(collection.others if self.others else ())):
            for differing in ({}, *self.beside):
                yield from self._runs(dataset, scale, {**self.varied, **differing})

    def is_level(self, setting: Setting) -> bool:
        """Is it the same wherever it stands on the axis, because its method knows nothing of what varies there?"""
        return not setting.buys and self.x in Setting.__dataclass_fields__ and self.x not in SHARED

    def is_beside(self, setting: Setting) -> bool:
        """Is its method only shown for comparison?"""
        return setting.method not in self.varied["method"]

    def _runs(self, dataset: str, scale: Scale, varied: Mapping[str, tuple[Any, ...]]) -> Iterator[Setting]:
        parameters: dict[str, tuple[Any, ...]] = {"rows": (scale.whole if self.whole else scale.sweep,), **varied}
        if self.x == "actual_rows":
            parameters["rows"] = (*scale.growth, scale.whole)
        for values in product(*parameters.values()):
            for seed in self.seeds:
                yield _plain(Setting(dataset=dataset, seed=seed, **dict(zip(parameters, values, strict=True))))


def _plain(setting: Setting) -> Setting:
    """A setting without the parameters that its method knows nothing of."""
    if setting.buys:
        return setting
    return Setting(**{name: getattr(setting, name) for name in SHARED})


def find_scale(name: str) -> Scale:
    if name not in SCALES:
        raise InputError.unknown("scale", name, SCALES)
    return SCALES[name]


def all_settings(figures: tuple[Figure, ...], collection: Collection, scale: Scale) -> tuple[Setting, ...]:
    """The runs of some figures, each once, in an order in which runs on the same table follow each other."""
    found = dict.fromkeys(s for figure in figures for s in figure.settings(collection, scale))
    datasets = collection.all

    def place(setting: Setting) -> tuple[Any, ...]:
        size = float("inf") if setting.rows is None else setting.rows
        errors = (setting.side, setting.error_rate, setting.random_rate)
        return (datasets.index(setting.dataset), size, setting.seed, *errors, setting.quotes, setting.per_cell)

    return tuple(sorted(found, key=place))
