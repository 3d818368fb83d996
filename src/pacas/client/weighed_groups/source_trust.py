"""How often each of several providers is right, as the same model learns it that weighs the client's own table.

A provider that is right with probability r and has named one of so many nodes counts r where what it said fits, and
(1 − r)/(nodes − 1) where it does not. Of one provider alone nothing is doubted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints

RIGHT, WRONG = 4.0, 1.0
"""Answers that each is given credit for before any is known."""
LEAST, MOST = 0.02, 0.998
IN_A_ROW = 3
"""Whom to ask first: an answer that may be wrong is worth what it would be if so many had to be right: what it
leaves in doubt is asked again, and others are paid for it."""


class Said(NamedTuple):
    """Who of several providers has said something, out of how many nodes of a level."""

    source: str
    nodes: int
    inside: Mask | None = None
    """Per code of the client's tree: does what was said mean it? None, where a node of that tree means the same."""


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """What was bought about a group: that a row of it, which shows `shown`, has the value `node` or one below it."""

    node: int
    shown: int
    stray: float
    """How likely the row is from elsewhere if its value is not the group's: then the answer is about that value."""
    said: Said | None = None
    """By whom, where there are several who may be wrong."""
    of_group: bool = False
    """Does it follow from the left side alone, whichever row was asked about?"""

    def is_by_the_same(self, other: GroupAnswer) -> bool:
        """Whether one of several providers has given both."""
        return self.said is not None and other.said is not None and self.said.source == other.said.source


class SourceTrust:
    """Of those who sell one attribute; who has not been heard yet has the credit that all have."""

    def __init__(self) -> None:
        self.rates: dict[str, float] = {}

    def __getitem__(self, source: str) -> float:
        return self.rates.get(source, RIGHT / (RIGHT + WRONG))

    def doubted(self, answer: GroupAnswer, fits: Floats | float) -> Floats:
        """How likely an answer is, if what it says fits as given."""
        assert answer.said is not None
        right = self[answer.said.source]
        return np.asarray(right * fits + (1 - right) / max(answer.said.nodes - 1, 1) * (1 - np.asarray(fits)))

    def learn(self, heard: Iterable[tuple[str, float]]) -> None:
        """From answers: who gave each, and how likely it is right."""
        right: dict[str, list[float]] = {}
        for source, chance in heard:
            right.setdefault(source, []).append(chance)
        self.rates = {
            source: float(np.clip((sum(found) + RIGHT) / (len(found) + RIGHT + WRONG), LEAST, MOST))
            for source, found in right.items()
        }


class Trusts:
    """By attribute."""

    def __init__(self) -> None:
        self.by_attribute: dict[str, SourceTrust] = {}

    def of(self, attribute: str) -> SourceTrust:
        return self.by_attribute.setdefault(attribute, SourceTrust())


def share_of_worth(right: Floats, nodes: Ints) -> Floats:
    """[m, levels] which share of a faultless answer's worth one is that is right so likely, at levels of so many nodes.

    If it is wrong it may have named any other node, and is then found out unless that is the other candidate.
    """
    right = right[:, None]
    return np.asarray(np.maximum(right - (1 - right) / np.maximum(nodes - 1, 1), 0.0))
