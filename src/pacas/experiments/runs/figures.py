"""The figures of the evaluation: what each varies, on which data sets, by which methods, and what it shows of the runs.

Paper: §7, Figures on generalized values, |S|, k, l, e, B, the comparison with PrivateClean; and what its authors meant
to show besides: declined requests, l_max, the allocations, quasi-identifiers, rows, and the time of each module. Each
can be run at the paper's quotes or at sealed ones; `quotes` shows both side by side. What weighing makes of errors of
all kinds is in the figures of `weighing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from pacas.client.paper.allocation import ALLOCATIONS
from pacas.errors import InputError
from pacas.experiments.runs.figure import Drawn, Figure
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
    STALE,
    WEIGH,
    WEIGH_FURTHER,
    WEIGHING,
)

SAFE_CLEAN = (REPLACE, REFINE)
ERROR_RATES = (0.05, 0.1, 0.15, 0.2, 0.25)
TIGHT = 0.1
"""The budget at which the paper counts general values, and at which weighing is judged."""
TO_30_PERCENT = (0.05, 0.1, 0.2, 0.3)
"""The error rates at which weighing is judged, whatever the errors."""
BAD_IMPORT = 1 / 3
"""The share of groups that are overwritten, where the budget is varied."""


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
