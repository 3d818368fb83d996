"""Choosing: of the left sides that determine an attribute, the two to declare; the others would only repeat them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pacas.core.dependency import FunctionalDependency
from pacas.suggest.dependencies.suggested import SuggestedDependency

LEFT_SIDES = 2
"""Left sides that are declared for one right side."""


def ranked(found: Iterable[SuggestedDependency]) -> list[SuggestedDependency]:
    """The best first: by the score, less where few groups speak for it; then by the rows that do."""
    return sorted(found, key=lambda one: (len(one.fd.lhs), -_worth(one), -one.rows))


def choose(strong: Sequence[SuggestedDependency]) -> tuple[list[SuggestedDependency], list[SuggestedDependency]]:
    """The dependencies to declare, and those that would be one left side too many; both in the order given.

    All are of one attribute on the left. What follows from another left side goes last: ZIP → State follows from
    ZIP → City and City → State.
    """
    declared: set[FunctionalDependency] = set()
    holds = {(one.fd.lhs[0], one.fd.rhs) for one in strong}
    for right in dict.fromkeys(one.fd.rhs for one in strong):
        lefts = [one.fd.lhs[0] for one in strong if one.fd.rhs == right]
        order = sorted(range(len(lefts)), key=lambda i: (_follows(i, lefts, holds), i))
        declared |= {FunctionalDependency((lefts[i],), right) for i in order[:LEFT_SIDES]}
    return [one for one in strong if one.fd in declared], [one for one in strong if one.fd not in declared]


def _follows(place: int, lefts: Sequence[str], holds: Collection[tuple[str, str]]) -> bool:
    """Does a left side determine another one of these? Of two that determine each other, the first one stays."""
    left = lefts[place]
    others = [(i, other) for i, other in enumerate(lefts) if (left, other) in holds]
    return any(i < place or (other, left) not in holds for i, other in others)


def _worth(one: SuggestedDependency) -> float:
    return round(one.score * one.groups / (one.groups + 2), 3)
