"""The words on the figures: what stands on an axis and in which unit, and what methods and data sets are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pacas.client.paper.repair import REPAIRS
from pacas.experiments.runs.setting import (
    CHEAP,
    COMPLETE,
    FIRST,
    GUARDED,
    LEFT,
    LINKED,
    MIXED,
    NO_PRIVACY,
    NO_PURCHASE,
    OVERWRITTEN,
    PANEL,
    PAPER,
    PRIVATE,
    PRIVATE_RHS,
    REFINE,
    REPLACE,
    RIGHT,
    SEALED,
    SECOND,
    STALE,
    WEIGH,
    WEIGH_FURTHER,
    Setting,
)

METHOD_LABELS: Mapping[str, str] = {
    REPLACE: "replace",
    REFINE: "refine",
    WEIGH: "weigh",
    WEIGH_FURTHER: "weigh, looking further",
    PRIVATE: "PrivateClean",
    PRIVATE_RHS: "PrivateClean, right sides",
    NO_PURCHASE: "no purchase",
    NO_PRIVACY: "no privacy",
}

QUOTES_LABELS: Mapping[str, str] = {PAPER: "the paper's quotes", SEALED: "sealed quotes"}
GUARD_LABELS: Mapping[str, str] = {LINKED: "linked", GUARDED: "guarded"}

EXPLAINED: Mapping[str, str] = {
    REPLACE: "SafeClean as in the paper: a class gets the value that was bought",
    REFINE: "SafeClean that narrows a general value by the client's own values below it",
    WEIGH: "what may be wrong is weighed by the client's own evidence; what that leaves open is bought where it pays",
    WEIGH_FURTHER: "the same, of all columns, also what breaks no dependency: slips, and what its row makes improbable",
    PRIVATE: "PrivateClean, all columns randomized, and Greedy-Repair",
    PRIVATE_RHS: "the same, only the right sides randomized",
    NO_PURCHASE: "every class gets its most frequent value, nothing is bought",
    NO_PRIVACY: "every class gets its true value, there is no policy and no budget; its time is also its provider's",
    LINKED: "X is the quasi-identifiers alone, as in the paper",
    GUARDED: "X also holds what requests are matched by",
    PAPER: "prices and refusals by the values themselves, which free quotes then tell of",
    SEALED: "prices and refusals from public columns alone; rows that agree on a left side are sold as one",
}

DATASET_LABELS: Mapping[str, str] = {
    "discharges": "Discharges",
    "clinical": "Trials",
    "census": "Census",
    "adult": "Adult",
    "food": "Food",
    "synthetic-clinical": "Synthetic Clinical",
    "synthetic-census": "Synthetic Census",
    "synthetic-food": "Synthetic Food",
}

COLUMN_LABELS: Mapping[str, str] = {
    "budget": "budget B, share of the cost of everything at level 0",
    "per_cell": "|S|, neighbours a cell",
    "k": "k, values that every X-group keeps",
    "level": "l, level of the policy",
    "error_rate": "error rate e, share of the rows",
    "random_rate": "random errors besides, share of the rows; a tenth of the rows has an error of a right side",
    "max_level": "l_max, the coarsest level that is bought",
    "quasi_identifiers": "number of quasi-identifiers",
    "actual_rows": "rows",
    "general": "cells that got a general value; along a line, e grows",
    "side": "side of the dependency that the errors are on",
    "unseen_after": "wrong cells that no\ndependency saw",
    "sellers": "who sells: one that knows all; A, B, or C, the cheap one, alone; A, B and C",
    "method": "method",
    "allocation": "allocation",
    "dataset": "data set",
    "guard": "X",
    "quotes": "quotes",
    "declined_0": "declined at level 0,\nshare of the classes",
    "error": "repair error δ,\nsum over all cells",
    "relative_error": "repair error,\nshare of the dirty table's",
    "cpu_seconds": "cleaning,\nCPU seconds",
    "cpu_provider": "building the provider,\nCPU seconds",
    "seconds_detect": "detecting violations",
    "seconds_ask": "asking for quotes",
    "seconds_pay": "paying",
    "seconds_repair": "repairing",
    "unrepaired": "unrepaired classes",
    "spent_share": "spent, share of the cost\nof everything at level 0",
    "quarter_1": "0 – ¼",
    "quarter_2": "¼ – ½",
    "quarter_3": "½ – ¾",
    "quarter_4": "¾ – 1",
}

SHORT_LABELS: Mapping[str, str] = {"relative_error": "repair error", "spent_share": "money spent"}
"""Where panels are low, as their rows are many; the titles say what these are shares of."""

FAMILIES: Mapping[str, str] = {
    "quarter": "changed cells, by the quarter of their distance from the truth",
    "declined": "classes declined as unsafe, by the level that was asked for",
    "seconds": "seconds by the clock, by what they were spent on",
}
"""Columns that are shown together, by how their names begin."""

DECLINED = "level that is asked for"
DECLINED_SHARE = "declined as unsafe,\nshare of the classes"
CHANGED_SHARE = "share of the changed cells"
SECONDS = "seconds, by the clock"
DISTANCE = "distance from the truth; 1 is the root's"

ALLOCATION_LABELS: Mapping[str, str] = {"errors": "by errors"}
SIDE_LABELS: Mapping[str, str] = {
    RIGHT: "right",
    MIXED: "both",
    LEFT: "left",
    OVERWRITTEN: "overwritten",
    STALE: "stale",
}


SELLER_LABELS: Mapping[str, str] = {COMPLETE: "all", FIRST: "A", SECOND: "B", CHEAP: "C", PANEL: "ABC"}


def column_words(column: str) -> str:
    """On one line."""
    if column.startswith("declined_"):
        return f"declined at level {column.removeprefix('declined_')}"
    return COLUMN_LABELS[column].replace("\n", " ")


def family_words(columns: Iterable[str]) -> str:
    """What several columns show, each family said once.

    >>> family_words(["quarter_1", "quarter_2", "unrepaired"])
    'changed cells, by the quarter of their distance from the truth; unrepaired classes'
    """
    families = [FAMILIES.get(column.partition("_")[0]) or column_words(column) for column in columns]
    return "; ".join(dict.fromkeys(families))


def value_words(column: str, value: object) -> str:
    """A value of a parameter, as it is said."""
    known = {
        "method": METHOD_LABELS,
        "guard": GUARD_LABELS,
        "quotes": QUOTES_LABELS,
        "dataset": DATASET_LABELS,
        "side": SIDE_LABELS,
        "sellers": SELLER_LABELS,
        "allocation": ALLOCATION_LABELS,
    }.get(column, {})
    if isinstance(value, str):
        return known.get(value, value)
    return "all" if value is None else f"{value:g}"


def dataset_words(dataset: str, rows: Iterable[int]) -> str:
    """A data set, and its size if all its runs had the same."""
    sizes = set(rows)
    return DATASET_LABELS.get(dataset, dataset) + (f", {sizes.pop():,} rows" if len(sizes) == 1 else "")


def line_words(setting: Setting, lines: Sequence[str]) -> str:
    """What a line is called. Only SafeClean is sold to, so only there X and the quotes are said."""
    papers = setting.method in REPAIRS
    said = [name for name in lines if (papers if name == "allocation" else name not in _OF_SALES or setting.buys)]
    return ", ".join(
        f"l = {setting.level}" if name == "level" else value_words(name, getattr(setting, name)) for name in said
    )


_OF_SALES = ("guard", "quotes")


def tick_words(value: float) -> str:
    """A number on an axis.

    >>> tick_words(345_000), tick_words(0.05), tick_words(1.0)
    ('345,000', '0.05', '1')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"


def number_words(value: float) -> str:
    """A measured number, in two figures or so.

    >>> number_words(0), number_words(0.0043), number_words(0.3456), number_words(3.456), number_words(1234.5)
    ('0', '0.0043', '0.35', '3.5', '1,234')
    """
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
