"""A few exceptions of a dependency, of each kind the most frequent, as its owner would read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pacas.engine.grouping import Ints, Mask
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.dependencies.evidence import Classified
from pacas.suggest.dependencies.suggested import ExceptionExample

EACH = 2
"""Examples of one kind."""
LONGEST = 60
"""Characters of a value that are shown."""


def examples(
    counted: Classified, left: Sequence[ProfiledColumn], right: ProfiledColumn
) -> tuple[ExceptionExample, ...]:
    """Values that their groups do not share, beside what most of the group has."""
    kinds = {"typo": counted.typo, "scattered": counted.scattered, "block": counted.block}
    place, value, n, groups = counted.counts
    majority = np.full(len(groups), -1)
    majority[place[counted.first]] = value[counted.first]
    return tuple(
        ExceptionExample(
            _left_values(left, int(groups[place[at]])),
            shortened(right.values[value[at]]),
            shortened(right.values[majority[place[at]]]),
            int(n[at]),
            kind,
        )
        for kind, mask in kinds.items()
        for at in _most_frequent(mask, n)
    )


def shortened(text: str) -> str:
    """A value cut where it is long."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _most_frequent(mask: Mask, n: Ints) -> Iterator[int]:
    places = np.flatnonzero(mask)
    yield from places[np.argsort(-n[places], kind="stable")[:EACH]].tolist()


def _left_values(left: Sequence[ProfiledColumn], group: int) -> tuple[str, ...]:
    """What a group's left side is; nothing is said of left sides of several attributes."""
    return (shortened(left[0].values[group]),) if len(left) == 1 else ()
