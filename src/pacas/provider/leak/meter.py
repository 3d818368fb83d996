"""The meter: what free quotes tell of each sold attribute, and what dependencies tell of the protected ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from pacas.engine.contract import Engine, Source
from pacas.provider.leak.guessing import GuessedMore, guessed_more, public_contexts, together
from pacas.provider.lint.broken_groups import Levels, broken_groups, known_levels, protected_groups
from pacas.provider.lint.dependencies import SHARE, TellingDependency, declared_dependencies, find_dependencies
from pacas.provider.lint.free_quotes import FEW, FreeQuotes, takes_a_look
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.provider import Provider
from pacas.provider.quoter.public_view import Reserve

ONE_FOR_ALL = "everybody has the same ladder"
FOLLOW = "ladders follow from public columns"


@dataclass(frozen=True, slots=True)
class AttributeLeak:
    """What the quotes of one attribute tell of its values at a level, as a share of people."""

    attribute: str
    level: int
    guessed: GuessedMore
    ladders: int
    """How many different ladders of quotes there are."""
    why: str | None = None
    """Why it is nothing, where that need not be measured."""


@dataclass(frozen=True, slots=True)
class DependencyLeak:
    """What a dependency tells of a protected attribute, to who buys the left side as far as it is sold."""

    dependency: TellingDependency
    guessed: GuessedMore
    groups: int
    """X-groups of the policies that protect the right side."""
    broken: int | None
    """Those that are left with fewer values than their policy asks for; None where not all rows are looked at."""


def _nothing(found: AttributeLeak) -> AttributeLeak:
    why = ONE_FOR_ALL if found.ladders < 2 else FOLLOW
    return replace(found, guessed=replace(found.guessed, leak=0.0, interval=(0.0, 0.0)), why=why)


class LeakMeter:
    """A provider's own rows, and what somebody is quoted for them who has bought nothing."""

    def __init__(self, provider: Provider, engine: Engine[Any], source: Source, most: int | None = None) -> None:
        self._terms = provider.shop.terms
        if not takes_a_look(provider):
            most = min(most or FEW, FEW)
        self._own = OwnRows.read(engine, source, self._terms, most)
        self._quotes = FreeQuotes(provider, self._own)
        self._contexts = public_contexts(self._own, self._terms)

    @property
    def rows(self) -> int:
        """How many rows are looked at."""
        return self._own.rows

    def attributes(self) -> list[AttributeLeak]:
        """What the free quotes of each sold attribute tell of it, at level 1 where there is one below the root.

        Sealed ones follow from public columns: who has these knows all quotes, and learns nothing from asking.
        """
        found = [self.measured(attribute) for attribute in self._terms.sold]
        return found if self._terms.sealing is None else [_nothing(one) for one in found]

    def measured(self, attribute: str) -> AttributeLeak:
        """What an attacker finds who is told nothing of where quotes come from."""
        level = min(1, self._own.height(attribute) - 1)
        ladder = np.zeros(self._own.rows, dtype=np.int64)
        for price in self._quotes.ladders(attribute).T:
            ladder = together(ladder, np.unique(price, return_inverse=True)[1])
        value = self._own.answers(attribute, level).astype(np.int64)
        more = guessed_more(value, ladder, self._contexts)
        return AttributeLeak(attribute, level, more, int(ladder.max(initial=-1)) + 1)

    def dependencies(self, share: float = SHARE) -> list[DependencyLeak]:
        """What dependencies tell: those that are declared, and those that are found and are not."""
        declared = declared_dependencies(self._own, self._terms)
        return [self._dependency(one) for one in chain(declared, find_dependencies(self._own, self._terms, share))]

    def _dependency(self, found: TellingDependency) -> DependencyLeak:
        own, fd = self._own, found.fd
        known = known_levels(found, self._quotes, self._terms)
        value = own.answers(fd.rhs, found.right_level).astype(np.int64)
        clue = np.zeros(own.rows, dtype=np.int64)
        for attribute in fd.lhs:
            levels = known.get(attribute, np.zeros(own.rows, dtype=np.int64))
            clue = clue * len(own.hierarchy(attribute)) + own.answers(attribute, levels)
        guessed = guessed_more(value, clue, self._contexts)
        return DependencyLeak(found, guessed, *((0, None) if own.is_sample else self._groups(found, known)))

    def _groups(self, found: TellingDependency, known: Levels) -> tuple[int, int]:
        """How many X-groups there are of the policies that protect the right side, and how many of them fall short."""
        own = self._own
        protected = [p for p in self._terms.policies if p.y_levels.get(found.fd.rhs) == found.right_level]
        groups = sum(int(protected_groups(own, policy).max(initial=-1)) + 1 for policy in protected)
        if self._is_kept_elsewhere(found):
            return groups, 0
        return groups, sum(broken_groups(found, own, known, policy, self._terms) for policy in protected)

    def _is_kept_elsewhere(self, found: TellingDependency) -> bool:
        """Whether no group can fall short, though free quotes of these rows do not show it.

        Sales are refused before the last open row is sold, and not beforehand; or who is kept back is somebody of a
        registry who may not be among these rows.
        """
        sealing = self._terms.sealing
        if sealing is None or not found.is_declared:
            return False
        return sealing.reserve is Reserve.LAST or sealing.registry is not None
