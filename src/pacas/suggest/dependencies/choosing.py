"""Choosing: of the left sides that determine an attribute, the two to declare; the others would only repeat them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pacas.engine.grouping import Mask
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
    numbers = {name: i for i, name in enumerate(dict.fromkeys(a for one in strong for a in one.fd.attributes))}
    holds = np.zeros((len(numbers), len(numbers)), dtype=np.bool_)
    lefts: dict[str, list[int]] = {}
    for place, one in enumerate(strong):
        holds[numbers[one.fd.lhs[0]], numbers[one.fd.rhs]] = True
        lefts.setdefault(one.fd.rhs, []).append(place)
    declared: set[int] = set()
    for places in lefts.values():
        left = [numbers[strong[place].fd.lhs[0]] for place in places]
        order = np.argsort(_follows(holds[np.ix_(left, left)]), kind="stable")
        declared.update(places[i] for i in order[:LEFT_SIDES])
    return (
        [one for place, one in enumerate(strong) if place in declared],
        [one for place, one in enumerate(strong) if place not in declared],
    )


def _follows(holds: Mask) -> Mask:
    """Does a left side determine another one of these? Of two that determine each other, the first one stays."""
    earlier = np.tri(len(holds), k=-1, dtype=np.bool_)
    return np.asarray((holds & (earlier | ~holds.T)).any(axis=1))


def _worth(one: SuggestedDependency) -> float:
    return round(one.score * one.groups / (one.groups + 2), 3)
