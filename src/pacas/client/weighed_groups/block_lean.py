"""Which share of its group a block covers: does it lean to the smaller part, so that a majority is right?

The density of the share u is 1 + λ (1 − 2u): at λ = 1 blocks mostly cover little, at 0 any share is as likely. From two
camps in a group one cannot tell which was written over the other, unless one knows otherwise which of them is right: by
a purchase, or by what other groups have. Such groups teach λ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pacas.core.distance import Floats

LEANS: Floats = np.linspace(-1, 1, 21)
"""What λ may be."""

AT_FIRST: Floats = np.log(np.maximum((1 + LEANS) ** 3, 1e-9))
"""How likely each is before anything was seen, in logarithms: most blocks cover the smaller part of their group."""

POOLED = 0.5
"""What blocks of another dependency say counts for so much: tables go wrong in one way more often than in many."""


class Camps(NamedTuple):
    """Groups in which a block is seen: the camp that is likelier right, and the one that then was overwritten."""

    blocks: Floats
    """Per group: how likely it is a block at all."""
    share: Floats
    """The share of the two camps that the block covers, if it is the second."""
    right: Floats
    other: Floats
    """How likely the first camp is right, and the second."""


def density(lean: float | Floats, over: Floats, under: Floats) -> Floats:
    """∫ uᵐ (1 − u)ⁿ (1 + λ (1 − 2u)) du over ∫ uᵐ (1 − u)ⁿ du: of a block of m cells beside n others."""
    return np.asarray(1 + lean * (1 - 2 * (over + 1) / (over + under + 2)))


def lean_likelihood(camps: Camps, lean: float) -> Floats:
    """Per λ in `LEANS`: the log chance of what is believed of the camps, which was believed at `lean`."""
    turn = (1 - 2 * camps.share)[:, None]
    right = camps.right[:, None] * (1 + LEANS * turn) / (1 + lean * turn)
    other = camps.other[:, None] * (1 - LEANS * turn) / (1 - lean * turn)
    return np.asarray(camps.blocks @ np.log(np.maximum(right + other, 1e-12)))


def learnt_leans(likelihoods: Sequence[Floats]) -> list[float]:
    """The λ of each of several dependencies."""
    together = np.sum(likelihoods, axis=0)
    return [mean_lean(AT_FIRST + own + POOLED * (together - own)) for own in likelihoods]


def mean_lean(log_likelihood: Floats) -> float:
    believed = np.exp(log_likelihood - log_likelihood.max())
    return float(believed @ LEANS / believed.sum())
