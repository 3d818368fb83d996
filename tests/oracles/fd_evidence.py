"""What speaks for a dependency and against it, row by row and pair by pair, as the definitions say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import exp, factorial
from typing import NamedTuple

Row = tuple[Hashable | None, str | None]


class Evidence(NamedTuple):
    """Of the rows that share their group: how many, in how many groups, and their exceptions by kind."""

    rows: int
    groups: int
    agreeing_groups: int
    typo: int
    scattered: int
    blocks: int
    score: float
    plain_score: float
    placeholder: Hashable | None


def mu_plus(rows: Sequence[tuple[Hashable, str]]) -> float:
    """How much likelier two rows of one group agree than any two of the relation, from 0 to 1.

    The literal definition: pdep(X → Y) is the chance that a row drawn at random from a random row's group has its
    value, pdep(Y) the same for the whole relation; μ = (pdep(X → Y) − E) / (1 − E) with E its mean over all ways to
    hand the values out, pdep(Y) + (K − 1) / (N − 1) · (1 − pdep(Y)).
    """
    n, groups = len(rows), {group for group, _ in rows}
    overall = Counter(value for _, value in rows)
    if len(overall) < 2 or n <= len(groups):
        return 0.0
    within = Fraction(0)
    for group, value in rows:
        members = [v for g, v in rows if g == group]
        within += Fraction(members.count(value), len(members)) / n
    chance = sum((Fraction(times, n) ** 2 for times in overall.values()), Fraction(0))
    expected = chance + Fraction(len(groups) - 1, n - 1) * (1 - chance)
    return max(0.0, float((within - expected) / (1 - expected)))


def evidence(rows: Sequence[Row]) -> Evidence | None:
    """Exceptions told apart, group by group."""
    told = [(group, value) for group, value in rows if group is not None and value is not None]
    overall = Counter(value for _, value in rows if value is not None)
    total = sum(overall.values())
    groups = {g: [v for h, v in told if h == g] for g in dict.fromkeys(g for g, _ in told)}
    several = {g: members for g, members in groups.items() if len(members) > 1}
    top = {g: min(members, key=lambda v: (-members.count(v), v)) for g, members in several.items()}
    share = {value: times / total for value, times in overall.items()}
    rate = _error_rate(several, top, share)
    kinds: dict[Hashable, Counter[str]] = {}
    for g, members in several.items():
        kinds[g] = Counter({"agrees": members.count(top[g]), "typo": 0, "scattered": 0, "block": 0})
        for value in sorted(set(members) - {top[g]}):
            kinds[g][_kind(members, value, top[g], overall, share, rate)] += members.count(value)
    left_out = _placeholder(len(told), several, top, kinds)
    kept = {g: kind for g, kind in kinds.items() if g != left_out}
    if not kept:
        return None
    scored = [
        (g, v)
        for g, v in told
        if g != left_out and not (g in several and v != top[g] and _is_typo(several[g], v, top[g], overall))
    ]
    return Evidence(
        rows=sum(sum(kind.values()) for kind in kept.values()),
        groups=len(kept),
        agreeing_groups=sum(kind["agrees"] == sum(kind.values()) for kind in kept.values()),
        typo=sum(kind["typo"] for kind in kept.values()),
        scattered=sum(kind["scattered"] for kind in kept.values()),
        blocks=sum(kind["block"] for kind in kept.values()),
        score=mu_plus(scored),
        plain_score=mu_plus(told),
        placeholder=left_out,
    )


def _has_majority(members: Sequence[str], most: str) -> bool:
    return members.count(most) >= 2 and 2 * members.count(most) > len(members)


def _is_typo(members: Sequence[str], value: str, most: str, overall: Counter[str]) -> bool:
    return _has_majority(members, most) and overall[value] <= 2


def _error_rate(several: dict[Hashable, list[str]], top: dict[Hashable, str], share: dict[str, float]) -> float:
    """Rows of minor values over the rows in which an error would show, from 1 % to 30 %."""
    minor, visible = 0, 0.0
    for g, members in several.items():
        visible += len(members) * (1 - share[top[g]])
        if _has_majority(members, top[g]):
            rare = [v for v in set(members) - {top[g]} if 5 * members.count(v) <= len(members)]
            minor += sum(members.count(v) for v in rare)
    return min(max(minor / max(visible, 1), 0.01), 0.3)


def _kind(
    members: Sequence[str], value: str, most: str, overall: Counter[str], share: dict[str, float], rate: float
) -> str:
    size, times = len(members), members.count(value)
    if size >= 4 and 2 * members.count(most) < size:
        return "block"
    if _is_typo(members, value, most, overall):
        return "typo"
    expected = size * rate * max(share[value], 0.02)
    unlikely = 1 - sum(exp(-expected) * expected**k / factorial(k) for k in range(times)) < 1e-4
    return "block" if times >= 3 and times > 3 * expected and unlikely else "scattered"


def _placeholder(
    rows: int, several: dict[Hashable, list[str]], top: dict[Hashable, str], kinds: dict[Hashable, Counter[str]]
) -> Hashable | None:
    """Of fifty groups the one with most in blocks, if it has five values, no majority, and no more than a quarter."""
    worst = max(kinds, key=lambda g: kinds[g]["block"], default=None)
    if len(several) < 50 or worst is None or not kinds[worst]["block"]:
        return None
    members = several[worst]
    undecided = len(members) >= 4 and 2 * members.count(top[worst]) < len(members)
    is_small = 4 * len(members) <= rows
    return worst if undecided and is_small and len(set(members)) >= 5 else None
