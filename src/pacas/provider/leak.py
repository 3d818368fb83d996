"""The meter: what free quotes tell about a provider's people, measured by an attacker who knows half of them.

From the half that it knows the attacker learns which value goes with which ladder of quotes, and guesses the values of
the other half. What counts is how much better that is than the best guess from public columns alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pacas.engine.codes import CodedColumn
from pacas.engine.contract import Engine, Source
from pacas.engine.grouping import Ints
from pacas.provider.provider import Provider

NOBODY = "pacas-meter"
"""A buyer who has bought nothing."""
SEED = 1
SURE = 1.96
"""Standard errors on each side of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class AttributeLeak:
    """What the quotes of one attribute tell of its values at a level, as a share of people."""

    attribute: str
    level: int
    leak: float
    """How many more people's values are guessed right with free quotes than without."""
    interval: tuple[float, float]
    """95 %, paired: the same people, guessed with and without."""
    public_guess: float
    """How many are guessed right from public columns alone."""
    ladders: int
    """How many different ladders of quotes there are."""

    @property
    def is_told(self) -> bool:
        """Do quotes tell more than chance explains?"""
        return self.interval[0] > 0


def measure_leaks(provider: Provider, engine: Engine[Any], source: Source) -> list[AttributeLeak]:
    """What the free quotes of each sold attribute tell, for a relation that the provider sells from."""
    terms = provider.shop.terms
    public = sorted({*terms.found_by, *(a for policy in terms.policies for a in policy.x)})
    needed = list(dict.fromkeys([*public, *terms.sold]))
    columns = engine.columns(engine.open(source, needed), needed)
    return [_leak(provider, attribute, columns, public) for attribute in terms.sold]


def _leak(
    provider: Provider, attribute: str, columns: Mapping[str, CodedColumn], public: Sequence[str]
) -> AttributeLeak:
    terms, offer = provider.shop.terms, provider.catalogue()[attribute]
    level = min(1, offer.hierarchy.height - 1)
    column = columns[attribute]
    known = offer.hierarchy.admit(column.values)
    _, value = np.unique(known.generalize(known.encode(column.values), level)[column.codes], return_inverse=True)
    ladder = _ladders(provider, attribute, columns)
    own = [columns[c].codes.astype(np.int64) for c in public if c not in (attribute, *terms.protected)]
    contexts = [np.zeros_like(value), *own]
    attacks = [*contexts, ladder, *(_together(ladder, context) for context in own)]
    half = np.random.default_rng(SEED).permutation(len(value))
    learning, trying, unknown = np.split(half, [len(half) // 3, len(half) // 2])
    guessed = _best_guess(contexts, value, learning, trying, unknown)
    attacked = _best_guess(attacks, value, learning, trying, unknown)
    difference = attacked.astype(np.float64) - guessed
    leak = float(difference.mean()) if len(unknown) else 0.0
    error = SURE * float(difference.std()) / max(len(unknown), 1) ** 0.5 if len(unknown) else 0.0
    right = float(guessed.mean()) if len(unknown) else 0.0
    return AttributeLeak(attribute, level, leak, (leak - error, leak + error), right, int(ladder.max(initial=-1)) + 1)


def _ladders(provider: Provider, attribute: str, columns: Mapping[str, CodedColumn]) -> Ints:
    """Per row the number of its ladder, as a buyer sees it who has bought nothing."""
    asked = {}
    for clause in provider.shop.terms.match[attribute].clauses:
        column = columns[clause.provider]
        asked[clause.client] = [column.values[code] for code in column.codes.tolist()]
    prices = provider.quote_batch(attribute, asked, buyer=NOBODY).prices
    _, number = np.unique(prices, axis=0, return_inverse=True)
    return np.asarray(number.reshape(-1))


def _together(one: Ints, other: Ints) -> Ints:
    _, both = np.unique(one * (int(other.max(initial=0)) + 1) + other, return_inverse=True)
    return np.asarray(both)


def _best_guess(clues: Sequence[Ints], value: Ints, learning: Ints, trying: Ints, unknown: Ints) -> Any:
    """Whether the value of each unknown row is guessed right, by the clue that did best on other known rows."""
    rights = [_guesses(clue, value, learning)[trying] == value[trying] for clue in clues]
    best = max(range(len(clues)), key=lambda n: (rights[n].sum(), -n))
    both = np.concatenate([learning, trying])
    return _guesses(clues[best], value, both)[unknown] == value[unknown]


def _guesses(clue: Ints, value: Ints, known: Ints) -> Ints:
    """Per row the value that most known rows with the same clue have; where none has, that most of all have."""
    values = int(value.max(initial=0)) + 1
    pair, count = np.unique(clue[known] * values + value[known], return_counts=True)
    order = np.lexsort((count, pair // values))
    guess = np.full(int(clue.max(initial=0)) + 1, np.bincount(value[known], minlength=1).argmax())
    guess[(pair // values)[order]] = (pair % values)[order]  # the last written, which is the most frequent, stays
    return np.asarray(guess[clue], dtype=np.int64)
