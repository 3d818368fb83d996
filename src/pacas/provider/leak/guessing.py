"""An attacker who knows half of the people, and guesses the values of the others by a clue.

From the half that it knows it learns which value goes with which clue, and which clue does best; it stays with the best
public one where no other did as well. What counts is how many more it guesses right of the half that it does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pacas.engine.grouping import Ints, Mask
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.terms import Terms

SEED = 1
SURE = 1.96
"""Standard errors on each side of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class GuessedMore:
    """How many more people's values are guessed right with a clue than without, as a share of people."""

    leak: float
    interval: tuple[float, float]
    """95 %, paired: the same people, guessed with and without."""
    public_guess: float
    """How many are guessed right from public columns alone."""

    @property
    def is_told(self) -> bool:
        """Does the clue tell more than chance explains?"""
        return self.interval[0] > 0


def public_contexts(own: OwnRows, terms: Terms) -> list[Ints]:
    """What is public of each row: nothing, each public column, and each X-group."""
    columns = [own.keys(name).key.astype(np.int64) for name in own.columns if name not in terms.protected]
    groups = [own.groups(policy.x) for policy in terms.policies if not set(policy.x) & set(terms.protected)]
    return [np.zeros(own.rows, dtype=np.int64), *(context + 1 for context in (*columns, *groups))]


def guessed_more(value: Ints, clue: Ints, contexts: Sequence[Ints]) -> GuessedMore:
    """What a clue adds to the best guess from public contexts, by itself or together with one of them."""
    _, clue = np.unique(clue, return_inverse=True)
    _, value = np.unique(value, return_inverse=True)
    learning, trying, unknown = _halves(len(value))
    if not len(unknown):
        return GuessedMore(0.0, (0.0, 0.0), 0.0)
    attacks = [clue, *(together(clue, context) for context in contexts[1:])]
    public, attack = (_best_clue(clues, value, learning, trying) for clues in (contexts, attacks))
    known = np.concatenate([learning, trying])
    guessed, attacked = (_is_right(clues, value, known, unknown) for clues in (public, attack))
    leak, (low, high) = float(attacked.mean() - guessed.mean()), _paired_interval(attacked, guessed)
    tried, tried_public = (_is_right(clues, value, learning, trying).sum() for clues in (attack, public))
    if tried < tried_public:  # it stays with the public guess, and gains nothing
        leak, low, high = 0.0, min(low, 0.0), max(high, 0.0)
    return GuessedMore(leak, (low, high), float(guessed.mean()))


def _paired_interval(one: Mask, other: Mask) -> tuple[float, float]:
    """95 % of how many more are right of one than of the other, as a share (Bonett and Price, 2012).

    They add one to whom only one has right, and to whom only the other has, so that few people make no interval narrow.

    >>> [round(end, 3) for end in _paired_interval(np.array([True] * 20), np.array([True] * 5 + [False] * 15))]
    [0.45, 0.914]
    """
    n = len(one) + 2
    gained, lost = (int((one & ~other).sum()) + 1) / n, (int((other & ~one).sum()) + 1) / n
    error = SURE * ((gained + lost - (gained - lost) ** 2) / n) ** 0.5
    return max(gained - lost - error, -1.0), min(gained - lost + error, 1.0)


def _halves(rows: int) -> list[Ints]:
    """The known half, in two parts: to learn from, and to try clues on; and the unknown half."""
    return np.split(np.random.default_rng(SEED).permutation(rows), [rows // 3, rows // 2])


def together(one: Ints, other: Ints) -> Ints:
    """Two clues as one, numbered from 0."""
    _, both = np.unique(one * (int(other.max(initial=0)) + 1) + other, return_inverse=True)
    return np.asarray(both)


def _best_clue(clues: Sequence[Ints], value: Ints, learning: Ints, trying: Ints) -> Ints:
    """The clue that does best on known rows that it was not learned from; of equally good ones the first."""
    return max(clues, key=lambda clue: _is_right(clue, value, learning, trying).sum())


def _is_right(clue: Ints, value: Ints, known: Ints, unknown: Ints) -> Mask:
    """Whether the value of each unknown row is guessed right by a clue, with what is learned from known rows."""
    right: Mask = _guesses(clue, value, known)[unknown] == value[unknown]
    return right


def _guesses(clue: Ints, value: Ints, known: Ints) -> Ints:
    """Per row the value that most known rows with the same clue have; where none has, that most of all have."""
    values = int(value.max(initial=0)) + 1
    pair, count = np.unique(clue[known] * values + value[known], return_counts=True)
    order = np.lexsort((count, pair // values))
    guess = np.full(int(clue.max(initial=0)) + 1, np.bincount(value[known], minlength=1).argmax())
    guess[(pair // values)[order]] = (pair % values)[order]  # the last written, which is the most frequent, stays
    return np.asarray(guess[clue], dtype=np.int64)
