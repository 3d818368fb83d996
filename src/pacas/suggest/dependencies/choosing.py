"""Choosing: of the left sides that determine an attribute, the two to declare; the others would only repeat them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pacas.suggest.dependencies.suggested import SuggestedDependency

LEFT_SIDES = 2
"""Left sides that are declared for one right side."""


def ranked(found: Iterable[SuggestedDependency]) -> list[SuggestedDependency]:
    """The best first: by the score, less where few groups speak for it; then by the rows that do."""
    return sorted(found, key=lambda one: (len(one.fd.lhs), -_worth(one), -one.rows))


def choose(strong: Sequence[SuggestedDependency]) -> tuple[list[SuggestedDependency], list[SuggestedDependency]]:
    """The dependencies to declare, and those that would be one left side too many; both in the order given.

    What follows from another left side goes last: ZIP → State follows from ZIP → City and City → State.
    """
    rank = {one.fd: number for number, one in enumerate(strong)}
    holds = {(one.fd.lhs, (one.fd.rhs,)) for one in strong}
    kept: set[int] = set()
    for right in dict.fromkeys(one.fd.rhs for one in strong):
        rivals = [one for one in strong if one.fd.rhs == right]
        follows = [any(_follows(one, other, holds, rank) for other in rivals) for one in rivals]
        order = sorted(range(len(rivals)), key=lambda i: (follows[i], rank[rivals[i].fd]))
        kept |= {rank[rivals[i].fd] for i in order[:LEFT_SIDES]}
    return [one for i, one in enumerate(strong) if i in kept], [one for i, one in enumerate(strong) if i not in kept]


def _follows(
    one: SuggestedDependency,
    other: SuggestedDependency,
    holds: set[tuple[tuple[str, ...], tuple[str, ...]]],
    rank: dict[object, int],
) -> bool:
    """Does a left side determine another one that does? Of two that determine each other, the better one stays."""
    if one is other or (one.fd.lhs, other.fd.lhs) not in holds:
        return False
    return (other.fd.lhs, one.fd.lhs) not in holds or rank[other.fd] < rank[one.fd]


def _worth(one: SuggestedDependency) -> float:
    return round(one.score * one.groups / (one.groups + 2), 3)
