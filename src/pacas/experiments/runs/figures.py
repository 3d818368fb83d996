"""The figures of the evaluation: what each varies, on which data sets, by which methods, and what it shows of the runs.

Paper: §7, Figures on generalized values, |S|, k, l, e, B, the comparison with PrivateClean; and what its authors meant
to show besides: declined requests, l_max, the allocations, quasi-identifiers, rows, and the time of each module. Each
can be run at the paper's quotes or at sealed ones; `quotes` shows both side by side. What weighing makes of errors of
all kinds is in the figures of `weighing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain, product
from typing import Any

from pacas.client.paper.allocation import ALLOCATIONS
from pacas.errors import InputError
from pacas.experiments.runs.setting import (
    COMPLETE,
    GUARDS,
    LEFT,
    LINKED,
    METHODS,
    MIXED,
    NO_PURCHASE,
    OVERWRITTEN,
    PAPER,
    PRIVATE,
    PRIVATE_RHS,
    QUOTES,
    REFINE,
    REPLACE,
    RIGHT,
    SELLERS,
    SHARED,
    STALE,
    WEIGH,
    WEIGH_FURTHER,
    WEIGHING,
    Setting,
)

SEEDS = (1, 2, 3, 4)
"""Every setting is run so often; the paper runs four times, too."""

SAFE_CLEAN = (REPLACE, REFINE)
ERROR_RATES = (0.05, 0.1, 0.15, 0.2, 0.25)
TIGHT = 0.1
"""The budget at which the paper counts general values, and at which weighing is judged."""
TO_30_PERCENT = (0.05, 0.1, 0.2, 0.3)
"""The error rates at which weighing is judged, whatever the errors."""
BAD_IMPORT = 1 / 3
"""The share of groups that are overwritten, where the budget is varied."""


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


_BOTH = {"method": SAFE_CLEAN, "guard": GUARDS}
_PAPERS = {"method": SAFE_CLEAN, "guard": (LINKED,)}
_ERROR_AND_TIME = ("relative_error", "cpu_seconds")
BUDGETS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
FROM_NOTHING = (0.0, *BUDGETS)
_KINDS = (RIGHT, LEFT, MIXED, OVERWRITTEN)

_WEIGH, _FREE = {"method": (WEIGH,)}, {"method": (NO_PURCHASE, PRIVATE)}
_OTHERS = (_WEIGH, _FREE)
_COMPARED = {"method": (*SAFE_CLEAN, WEIGH, NO_PURCHASE, PRIVATE), "guard": (LINKED,)}
_ERROR_AND_MONEY = ("relative_error", "spent_share")
_PANEL = {"method": (REFINE, WEIGH), "guard": (LINKED,), "sellers": SELLERS, "budget": (1.0,), "k": (1,)}
"""Whoever sells holds nothing back: it is about who knows what."""

FIGURES: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure(
            "distance",
            "Repairs by their distance from the truth, over the budget B",
            "budget",
            {"budget": (*BUDGETS[:-1], 0.9, 1.0), **_BOTH},
            ("quarter_1", "quarter_2", "quarter_3", "quarter_4"),
            ({**_WEIGH, "guard": (LINKED,)}, _FREE),
            drawn=Drawn.SHARES,
            first_only=True,
        ),
        Figure(
            "general",
            "Repair error and time over the number of general values, at B = 0.1",
            "general",
            {"budget": (TIGHT,), "error_rate": ERROR_RATES, **_PAPERS},
            ("error", "cpu_seconds"),
            _OTHERS,
            first_only=True,
        ),
        Figure(
            "support",
            "Repair error and time over the neighbours a cell, |S|",
            "per_cell",
            {"per_cell": (6, 8, 10, 12, 14), **_BOTH},
            (*_ERROR_AND_TIME, "cpu_provider"),
            _OTHERS,
        ),
        Figure("k", "Repair error and time over k", "k", {"k": (1, 2, 3, 4, 5), **_BOTH}, _ERROR_AND_TIME, _OTHERS),
        Figure(
            "level",
            "Repair error and time over the level l of the policy",
            "level",
            {"level": (0, 1, 2, 3, 4), **_BOTH},
            _ERROR_AND_TIME,
            _OTHERS,
        ),
        Figure(
            "errors",
            "Repair error and time over the error rate e",
            "error_rate",
            {"error_rate": ERROR_RATES, **_BOTH},
            ("error", "cpu_seconds"),
            _OTHERS,
        ),
        Figure(
            "budget",
            "Repair error, time and money spent over the budget B",
            "budget",
            {"budget": BUDGETS, **_BOTH},
            (*_ERROR_AND_TIME, "spent_share"),
            ({**_WEIGH, "budget": FROM_NOTHING}, *_OTHERS[1:]),
        ),
        Figure(
            "privateclean",
            "SafeClean beside PrivateClean with Greedy-Repair, over the error rate e",
            "error_rate",
            {
                "error_rate": ERROR_RATES,
                "method": (*SAFE_CLEAN, PRIVATE, PRIVATE_RHS),
                "guard": (LINKED,),
            },
            ("error", "cpu_seconds"),
            (_WEIGH, {"method": (NO_PURCHASE,)}),
        ),
        Figure(
            "baselines",
            "SafeClean, PrivateClean and two bounds, at the defaults",
            "method",
            {"method": tuple(method for method in METHODS if method not in WEIGHING), "guard": GUARDS},
            ("relative_error", "cpu_seconds"),
            ({"method": WEIGHING},),
            lines=("guard",),
            drawn=Drawn.BARS,
            others=True,
        ),
        Figure(
            "declined",
            "Requests declined per level, by (X,Y)- (l = 0) and (X,Y,L)-anonymity (l = 2), whatever the repair",
            "level",
            {"level": (0, 2), "method": (REPLACE,), "guard": GUARDS},
            ("declined_0", "declined_1", "declined_2", "declined_3", "declined_4"),
            lines=("level", "guard"),
            drawn=Drawn.BARS,
        ),
        Figure(
            "quotes",
            "Sealed quotes beside the paper's: repair error and requests declined, over the budget B",
            "budget",
            {"budget": BUDGETS, "quotes": QUOTES, **_PAPERS},
            ("relative_error", "declined_0"),
            ({**_WEIGH, "budget": FROM_NOTHING}, *_OTHERS[1:]),
            lines=("method", "quotes"),
            others=True,
        ),
        Figure(
            "sealed",
            "The client that weighs at sealed quotes and at the paper's, right sides wrong, and both: repair error "
            "over the budget B",
            "budget",
            {
                "side": (RIGHT, MIXED),
                "budget": BUDGETS,
                "quotes": QUOTES,
                "method": (REFINE, WEIGH),
                "guard": (LINKED,),
            },
            ("relative_error",),
            (_FREE,),
            lines=("method", "quotes"),
            panels="side",
            others=True,
        ),
        Figure(
            "max_level",
            "Repair error and time over the coarsest level that is bought, l_max",
            "max_level",
            {"max_level": (0, 1, 2, 3, 4), **_BOTH},
            (*_ERROR_AND_TIME, "unrepaired"),
            _OTHERS,
            first_only=True,
        ),
        Figure(
            "allocation",
            "Repair error over the budget B, by allocation",
            "budget",
            {"budget": BUDGETS, "allocation": tuple(ALLOCATIONS), **_PAPERS},
            ("relative_error", "spent_share"),
            tuple({**one, "allocation": ("errors",)} for one in _OTHERS),
            lines=("allocation", "method"),
            first_only=True,
        ),
        Figure(
            "quasi_identifiers",
            "Repair error and time over the number of quasi-identifiers",
            "quasi_identifiers",
            {"quasi_identifiers": (1, 2, 3, 4), **_BOTH},
            _ERROR_AND_TIME,
            _OTHERS,
            first_only=True,
        ),
        Figure(
            "side",
            "Repair error by the side of a dependency that the errors are on",
            "side",
            {"side": (RIGHT, MIXED, LEFT), **_PAPERS},
            ("relative_error",),
            _OTHERS,
            drawn=Drawn.BARS,
        ),
        Figure(
            "rows",
            "Repair error and time over the number of rows",
            "actual_rows",
            _BOTH,
            ("relative_error", "cpu_seconds", "cpu_provider"),
            _OTHERS,
            first_only=True,
        ),
        Figure(
            "modules",
            "Where the time goes",
            "dataset",
            _BOTH,
            ("seconds_detect", "seconds_ask", "seconds_pay", "seconds_repair"),
            drawn=Drawn.SHARES,
            whole=True,
        ),
        Figure(
            "right",
            "Right sides wrong: repair error and money spent over the budget B",
            "budget",
            {"budget": FROM_NOTHING, **_COMPARED},
            _ERROR_AND_MONEY,
            lines=("method",),
            others=True,
        ),
        Figure(
            "left",
            "Left sides wrong, and both: repair error (share of the dirty table's) and money spent (of all that is for "
            "sale) over the budget B",
            "budget",
            {"side": (LEFT, MIXED), "budget": FROM_NOTHING, **_COMPARED},
            _ERROR_AND_MONEY,
            lines=("method",),
            panels="side",
            others=True,
        ),
        Figure(
            "overwritten",
            "A third of the groups overwritten, in part or whole: repair error and money spent over the budget B",
            "budget",
            {"side": (OVERWRITTEN,), "error_rate": (BAD_IMPORT,), "budget": FROM_NOTHING, **_COMPARED},
            _ERROR_AND_MONEY,
            lines=("method",),
            others=True,
        ),
        Figure(
            "error_rate",
            "Repair error, as a share of the dirty table's, over the error rate e, to 30 %, by the kind of errors, at "
            "B = 0.1",
            "error_rate",
            {
                "side": _KINDS,
                "error_rate": TO_30_PERCENT,
                "budget": (TIGHT,),
                "method": (*SAFE_CLEAN, WEIGH, NO_PURCHASE),
                "guard": (LINKED,),
            },
            ("relative_error",),
            ({"method": (PRIVATE,)},),
            lines=("method",),
            panels="side",
            others=True,
        ),
        Figure(
            "crossed",
            "Kinds, rates and budgets crossed: what weighing leaves, in % of the most that it may",
            "budget",
            {
                "side": _KINDS,
                "error_rate": TO_30_PERCENT,
                "budget": (0.0, 0.02, *BUDGETS),
                "method": (REFINE, WEIGH, NO_PURCHASE),
                "guard": (LINKED,),
            },
            ("relative_error",),
            ({"method": (PRIVATE,)},),
            lines=("method", "error_rate"),
            panels="side",
            drawn=Drawn.MAPS,
            others=True,
        ),
        Figure(
            "unseen",
            "Random errors, whether they break a dependency or not: repair error, and cells that no dependency sees, "
            "at B = 0.1",
            "random_rate",
            {
                "random_rate": (0.0, 0.02, 0.05, 0.1),
                "budget": (TIGHT,),
                "method": (*SAFE_CLEAN, WEIGH, NO_PURCHASE),
                "guard": (LINKED,),
            },
            ("relative_error", "unseen_after"),
            ({"method": (WEIGH_FURTHER, PRIVATE)},),
            lines=("method",),
            others=True,
        ),
        Figure(
            "panel",
            "Three providers that know 60 % each, one of which is 15 % wrong and 30 % cheaper: random errors, e = 0.2",
            "sellers",
            {"error_rate": (0.2,), **_PANEL},
            _ERROR_AND_MONEY,
            ({**_FREE, "sellers": (COMPLETE,)},),
            lines=("method",),
            drawn=Drawn.BARS,
            others=True,
        ),
        Figure(
            "panel_stale",
            "The same three providers: random errors, and a wrong value that holds the majority in 30 % of the groups",
            "sellers",
            {"side": (STALE,), "error_rate": (0.2,), **_PANEL},
            _ERROR_AND_MONEY,
            ({**_FREE, "sellers": (COMPLETE,)},),
            lines=("method",),
            drawn=Drawn.BARS,
            others=True,
        ),
    )
}

_AT_SMALL_SCALE: Mapping[str, tuple[str, ...]] = {
    "weighing": ("right", "left", "overwritten", "error_rate", "crossed", "unseen"),
    "several": ("panel", "panel_stale"),
}

GROUPS: Mapping[str, tuple[str, ...]] = {
    "all": tuple(FIGURES),
    "paper": tuple(name for name in FIGURES if name not in ("sealed", *chain(*_AT_SMALL_SCALE.values()))),
    **_AT_SMALL_SCALE,
}
"""Figures that are run together, by a name for all of them."""


def figures_at(quotes: str) -> dict[str, Figure]:
    """All figures, by name, at the paper's quotes or at sealed ones."""
    if quotes not in QUOTES:
        raise InputError.unknown("kind of quotes", quotes, QUOTES)
    return {name: figure.at_quotes(quotes) for name, figure in FIGURES.items()}


def find_figures(name: str, quotes: str = PAPER) -> tuple[Figure, ...]:
    """The figure of a name, or those of a group."""
    figures = figures_at(quotes)
    if name not in figures and name not in GROUPS:
        raise InputError.unknown("figure", name, (*GROUPS, *figures))
    return tuple(figures[one] for one in GROUPS.get(name, (name,)))


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
