"""Privacy criteria, literally: of one group, from how often each value occurs in it and in all, with fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import prod

from oracles.tree import Value

Counts = Mapping[tuple[Value, ...], int]


def holds(name: str, parameters: Mapping[str, Fraction], group: Counts, overall: Counts) -> bool:
    """Is a group protected, by the criterion of that name?"""
    return CRITERIA[name](group, overall, **parameters)


def distinct(group: Counts, _: Counts, k: Fraction) -> bool:
    """At least k values."""
    return len(group) >= k


def entropy(group: Counts, _: Counts, l: Fraction) -> bool:  # noqa: E741
    """−Σ p log p ≥ log l, which is Π (N/n)ⁿ ≥ lᴺ."""
    rows = sum(group.values())
    return prod(Fraction(rows, n) ** n for n in group.values()) >= l**rows


def recursive(group: Counts, _: Counts, c: Fraction, l: Fraction) -> bool:  # noqa: E741
    """r₁ < c (r_l + … + r_m)."""
    r = sorted(group.values(), reverse=True)
    return r[0] < c * sum(r[int(l) - 1 :])


def closeness(group: Counts, overall: Counts, t: Fraction) -> bool:
    """The earth mover's distance between the group and all is at most t."""
    return distance(group, overall) <= t


def distance(group: Counts, overall: Counts) -> Fraction:
    """Ordered if all values are numbers, else with equal distances."""
    values = sorted(overall, key=str)
    off = {v: _share(group, v) - _share(overall, v) for v in values}
    try:
        values.sort(key=lambda v: float(str(*v)))
    except (TypeError, ValueError):
        return _sum(abs(d) for d in off.values()) / 2
    moved = _sum(abs(_sum(off[v] for v in values[: i + 1])) for i in range(len(values)))
    return moved / max(len(values) - 1, 1)


def _sum(parts: Iterable[Fraction]) -> Fraction:
    return sum(parts, Fraction(0))


def _share(counts: Counts, v: tuple[Value, ...]) -> Fraction:
    return Fraction(counts.get(v, 0), sum(counts.values()))


CRITERIA: dict[str, Callable[..., bool]] = {
    "distinct": distinct,
    "entropy": entropy,
    "recursive": recursive,
    "closeness": closeness,
}
