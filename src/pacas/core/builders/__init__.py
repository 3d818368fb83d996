"""Hierarchies made from a column's own values, one module per method.

| builder     | needs                        | levels                                            |
|-------------|------------------------------|---------------------------------------------------|
| `intervals` | values                       | intervals of fixed widths                         |
| `quantiles` | values, counts               | intervals that hold about equally many rows       |
| `entropy`   | values, counts, another attribute | intervals that tell its classes apart, top-down  |
| `chimerge`  | values, counts, another attribute | intervals that tell its classes apart, bottom-up |
| `prefix`    | values                       | codes with their last characters masked           |
| `date`      | values                       | months, quarters, years, decades                  |
| `cluster`   | values, counts, another attribute | categories that go with the same values of it    |
| `columns`   | values, counts, other attributes  | what stands in these columns                     |

Callers drop nulls first. Errors count values and never show one: they may be a provider's secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from pacas.core.builders.chimerge import chimerge
from pacas.core.builders.cluster import cluster
from pacas.core.builders.columns import columns
from pacas.core.builders.date import date
from pacas.core.builders.entropy import entropy
from pacas.core.builders.intervals import intervals
from pacas.core.builders.options import Option, number, numbers, whole_number, whole_numbers, word, words
from pacas.core.builders.prefix import prefix
from pacas.core.builders.quantiles import quantiles
from pacas.core.hierarchy import Hierarchy
from pacas.errors import HierarchyError, did_you_mean

__all__ = [
    "BUILDERS",
    "BY",
    "Builder",
    "Contingency",
    "Needs",
    "Option",
    "build",
    "builder",
    "chimerge",
    "cluster",
    "columns",
    "date",
    "entropy",
    "intervals",
    "other_attributes",
    "prefix",
    "quantiles",
]

BY = "by"
"""The option that names the other attribute, for builders that need one."""

COLUMNS = "columns"
"""The builder, and its option, that name the columns above."""


class Needs(Enum):
    """What a builder has to be given of a column."""

    VALUES = "its values"
    COUNTS = "its values and how many rows have each"
    OTHER = "its values together with those of another attribute, and how many rows have each pair"
    OTHERS = "its values together with those of other attributes, and how many rows have each tuple"


@dataclass(frozen=True, slots=True)
class Contingency:
    """A column's distinct values, or (value, target) pairs, and how many rows have each.

    A target is a value of another attribute, or a tuple of values of several, nulls included.
    """

    values: Sequence[str]
    counts: Sequence[int]
    targets: Sequence[str | tuple[str | None, ...]] | None = None

    def __post_init__(self) -> None:
        if len({len(self.values), len(self.counts), len(self.values if self.targets is None else self.targets)}) > 1:
            raise HierarchyError("a contingency needs as many counts, and targets if any, as values")
        if any(count < 1 for count in self.counts):
            raise HierarchyError("a contingency lists only what occurs: counts must be 1 or more")


@dataclass(frozen=True, slots=True)
class Builder:
    """One way to make a hierarchy: the function, what it needs of the column, and its options."""

    make: Callable[..., Hierarchy]
    needs: Needs
    options: Mapping[str, Option]


BUILDERS: Mapping[str, Builder] = {
    "intervals": Builder(
        intervals,
        Needs.VALUES,
        {"widths": Option(numbers, "[10, 30]", required=True), "origin": Option(number, "0")},
    ),
    "quantiles": Builder(quantiles, Needs.COUNTS, {"bins": Option(whole_numbers, "[8, 4, 2]")}),
    "entropy": Builder(entropy, Needs.OTHER, {"max_levels": Option(whole_number, "3")}),
    "chimerge": Builder(
        chimerge,
        Needs.OTHER,
        {"significance": Option(numbers, "[0.9, 0.99]"), "max_intervals": Option(whole_numbers, "[16, 4]")},
    ),
    "prefix": Builder(prefix, Needs.VALUES, {"keep": Option(whole_numbers, "[3, 1]"), "mask": Option(word, '"#"')}),
    "date": Builder(date, Needs.VALUES, {"levels": Option(words, '["month", "year"]')}),
    "cluster": Builder(cluster, Needs.OTHER, {"clusters": Option(whole_numbers, "[8, 3]")}),
    COLUMNS: Builder(columns, Needs.OTHERS, {COLUMNS: Option(words, '["County", "State"]', required=True)}),
}


def builder(name: str) -> Builder:
    """The builder of that name."""
    if name not in BUILDERS:
        raise HierarchyError(f"no hierarchy builder {name!r}; {did_you_mean(name, BUILDERS)}")
    return BUILDERS[name]


def other_attributes(name: str, options: Mapping[str, object]) -> list[str]:
    """The attributes that `by` or `columns` name, for a builder that needs others."""
    chosen = builder(name)
    if chosen.needs is Needs.OTHERS:
        named = _read_options(name, chosen, options)[COLUMNS]
        return list(named) if isinstance(named, list | tuple) else []
    if chosen.needs is not Needs.OTHER:
        return []
    by = options.get(BY)
    if not isinstance(by, str) or not by:
        raise HierarchyError(f'{name} needs another attribute to build by, e.g. {BY} = "DIAG"')
    return [by]


def build(name: str, column: Contingency, /, **options: object) -> Hierarchy:
    """The hierarchy that the named builder makes of a column; `by` has done its work when the column was counted.

    >>> build("intervals", Contingency(["31", "45"], [1, 1]), widths=[10, 30]).height
    3
    """
    chosen = builder(name)
    keywords = _read_options(name, chosen, options)
    match chosen.needs, column.targets:
        case Needs.VALUES, _:
            return chosen.make(column.values, **keywords)
        case Needs.COUNTS, _:
            return chosen.make(column.values, column.counts, **keywords)
        case _, None:
            raise HierarchyError(f'{name} needs another attribute to build by, e.g. {BY} = "DIAG"')
        case _, targets:
            return chosen.make(column.values, targets, column.counts, **keywords)


def _read_options(name: str, chosen: Builder, options: Mapping[str, object]) -> dict[str, object]:
    known = [*chosen.options, *([BY] if chosen.needs is Needs.OTHER else [])]
    for option in options:
        if option not in known:
            raise HierarchyError(f"{name} has no option {option!r}; {did_you_mean(option, known)}")
    for option, how in chosen.options.items():
        if how.required and option not in options:
            raise HierarchyError(f"{name} needs {option}, e.g. {option} = {how.example}")
    return {option: how.value(option, options[option]) for option, how in chosen.options.items() if option in options}
