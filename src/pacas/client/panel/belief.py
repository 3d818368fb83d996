"""What the sources together say of a class: how likely each ground value is the right one, and what more would tell.

A source that is right with probability r and names the node a of a level counts r for each value inside base(a), and
(1 − r)/(nodes − 1) for each outside: if it is wrong, it may have named any other node of that level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints


class Opinion(NamedTuple):
    """What a source says of a class: that its value is one of those inside."""

    source: str | None
    inside: Mask
    nodes: int
    """How many such answers there are: the nodes of the level of what was said."""


def likelihoods(reliability: float, nodes: int) -> tuple[float, float]:
    """The chance of what was said if the value lies inside, and if it lies outside."""
    return reliability, (1 - reliability) / max(nodes - 1, 1)


def belief(values: int, opinions: Sequence[Opinion], reliabilities: Sequence[float]) -> Floats:
    """Per value: how likely it is the right one. Before anybody has spoken all are as likely."""
    logs = np.zeros(values)
    for opinion, reliability in zip(opinions, reliabilities, strict=True):
        if opinion.nodes > 1:
            inside, outside = likelihoods(reliability, opinion.nodes)
            logs += np.where(opinion.inside, np.log(inside), np.log(outside))
    weights = np.exp(logs - logs.max(initial=-np.inf))
    return np.asarray(weights / weights.sum())


def expected_gain(believed: Floats, node: Ints, nodes: int, reliability: float) -> float:
    """The bits that an answer is expected to tell about the value: what its answers and the value have in common.

    `node` is, per value, the number of the node that would be named. Of a value that the source does not know it may
    name any.
    """
    if nodes < 2:
        return 0.0
    known = node >= 0
    mass = np.bincount(node[known], weights=believed[known], minlength=nodes)
    inside, outside = likelihoods(reliability, nodes)
    all_known = float(mass.sum())
    answers = inside * mass + outside * (all_known - mass) + (1 - all_known) / nodes
    of_channel = _bits(np.array([inside])) + (nodes - 1) * _bits(np.array([outside]))
    return max(_bits(answers) - all_known * of_channel - (1 - all_known) * float(np.log2(nodes)), 0.0)


def _bits(chances: Floats) -> float:
    some = chances[chances > 0]
    return float(-(some * np.log2(some)).sum())
