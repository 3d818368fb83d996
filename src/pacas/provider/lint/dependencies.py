"""Dependencies in the provider's own table that tell a protected column: declared ones, and those that are not.

What a buyer knows of a row through one: the left side, as far as it is sold or public; or, where all of it is public,
whatever is sold of any row with the same left side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import comb

import numpy as np

from pacas.core.dependency import FunctionalDependency
from pacas.engine.grouping import Ints, Keys, combine
from pacas.provider.lint.determination import ERROR_LEFT, Determination, determination
from pacas.provider.lint.first_look import FirstLook
from pacas.provider.lint.own_rows import OwnRows
from pacas.provider.lint.screening import Screening, present
from pacas.provider.terms import Terms

SHARE = 0.95
"""How many people's values a left side must tell to be found."""


@dataclass(frozen=True, slots=True)
class TellingDependency:
    """X → B at levels: B is protected, and X is sold or public."""

    fd: FunctionalDependency
    level: int
    """That of the left side: labels of a hierarchy may tell what its ground values, of which each has one, do not."""
    right_level: int
    """That at which a policy protects the right side."""
    told: Determination
    is_declared: bool = False
    can_be_declared: bool = False
    """Whether ground values determine ground values, of everybody."""


def find_dependencies(own: OwnRows, terms: Terms, share: float = SHARE) -> Iterator[TellingDependency]:
    """Left sides, of one column or two, that tell what a policy protects, and that nobody has declared.

    Two columns are looked at where neither tells by itself, and neither is so nearly a key that few rows share both;
    what they leave to be guessed must be half of what the better one leaves.
    """
    rights = list(dict.fromkeys((a, level) for policy in terms.policies for a, level in policy.y_levels.items()))
    if not rights:
        return
    found = _Search(own, terms, rights, share)
    found.singles()
    found.pairs()
    for place, (right, level) in enumerate(rights):
        for left, (at, told) in found.told[place].items():
            yield from _undeclared(own, terms, left, right, level, at, told)


class _Search:
    """What tells each of some columns at a level; all that a sample shows is counted in all rows that there are."""

    def __init__(self, own: OwnRows, terms: Terms, rights: Sequence[tuple[str, int]], share: float) -> None:
        self._own, self._rights = own, rights
        names = [*terms.match, *(name for name in own.columns if name not in terms.protected)]
        self._keys = {name: own.keys(name) for name in names}
        self._values = [own.keys(right, level) for right, level in rights]
        self._screening = Screening(self._values, own.rows, share)
        self._first_look = FirstLook(self._values, own.rows, share)
        tried = {right: comb(len([n for n in names if n != right]) + 1, 2) for right, _ in rights}
        self._tells = [partial(Determination.tells, share=share, rows=own.rows, tried=tried[a]) for a, _ in rights]
        self._ground = cache(self._counted)
        self._open = {name: np.array([right != name for right, _ in rights]) for name in names}
        """Per column, those that it neither is nor tells by itself."""
        self.told: list[dict[tuple[str, ...], tuple[int, Determination]]] = [{} for _ in rights]
        """Per column, the left sides that tell it, at which level."""

    def _counted(self, name: str, right: int) -> Determination:
        return determination(self._keys[name], self._values[right])

    def singles(self) -> None:
        """The lowest level at which a column tells: of its ground values, or of labels above them."""
        sides = [(name, level) for name in self._keys for level in range(self._own.height(name))]
        keys = [self._own.keys(name, level) if level else self._keys[name] for name, level in sides]
        may_tell = self._first_look.may_tell([self._first_look.sampled(one) for one in keys])
        for (name, level), left, may in zip(sides, keys, may_tell, strict=True):
            for right in self._screening.told_by([left], np.flatnonzero(self._open[name] & may)):
                told = determination(left, self._values[right]) if level else self._ground(name, right)
                if self._tells[right](told):
                    self.told[right][(name,)] = level, told
                    self._open[name][right] = False

    def pairs(self) -> None:
        names = [name for name, keys in self._keys.items() if 2 * _sharing(keys) >= self._own.rows]
        sampled = [self._first_look.sampled(self._keys[name]) for name in names]
        for place, one in enumerate(names[:-1], start=1):
            others = names[place:]
            may_tell = self._first_look.may_tell_together(sampled[place - 1], sampled[place:])
            may_tell &= self._open[one] & np.stack([self._open[other] for other in others])
            for at in np.flatnonzero(may_tell.any(axis=1)).tolist():
                self._pair((one, others[at]), np.flatnonzero(may_tell[at]))

    def _pair(self, pair: tuple[str, str], rights: Ints) -> None:
        keys = [self._keys[name] for name in pair]
        for right in self._screening.told_by(keys, rights):
            told = determination(combine(keys), self._values[right])
            if self._tells[right](told) and self._is_better(told, [self._ground(name, right) for name in pair]):
                self.told[right][pair] = 0, told

    def _is_better(self, told: Determination, alone: Sequence[Determination]) -> bool:
        left_open = ERROR_LEFT * (1 - max(one.share for one in alone))
        return 1 - told.share <= left_open and all(2 * one.rows >= self._own.rows for one in alone)


def _sharing(keys: Keys) -> int:
    """How many rows share their key with another."""
    sizes = np.bincount(present(keys))
    return int(sizes[sizes > 1].sum())


def declared_dependencies(own: OwnRows, terms: Terms) -> Iterator[TellingDependency]:
    """What is declared, as far as a policy protects its right side."""
    for one in terms.dependencies:
        is_sold = any(a in terms.match for a in one.fd.attributes)
        for policy in terms.policies:
            if is_sold and one.fd.rhs in policy.y:
                level = policy.y_levels[one.fd.rhs]
                told = determination(combine([own.keys(a) for a in one.fd.lhs]), own.keys(one.fd.rhs, level))
                yield TellingDependency(one.fd, 0, level, told, is_declared=True)


def _undeclared(
    own: OwnRows, terms: Terms, left: Sequence[str], right: str, right_level: int, level: int, told: Determination
) -> Iterator[TellingDependency]:
    """The dependency, unless it is declared, or nothing that is sold tells by it.

    What public columns make likely is known without us; where they determine it, who buys one value has others'.
    """
    is_sold = any(name in terms.match for name in left) or (right in terms.match and told.is_exact)
    if is_sold and not _is_declared(terms, left, right):
        ground = determination(combine([own.keys(name) for name in left]), own.keys(right))
        fd = FunctionalDependency(tuple(left), right)
        yield TellingDependency(fd, level, right_level, told, can_be_declared=not level and ground.is_exact)


def _is_declared(terms: Terms, left: Sequence[str], right: str) -> bool:
    """Whether what the left side tells is priced and protected with it: a dictionary links them, or rows are tied."""
    tied = [one for one in terms.dependencies if one.dictionary is None and one.fd.rhs == right]
    return set(left) <= linked_attributes(terms, right) or any(set(one.fd.lhs) <= set(left) for one in tied)


def linked_attributes(terms: Terms, attribute: str) -> set[str]:
    """What dictionaries link an attribute to, itself included: what is sold of one counts for all."""
    linked = {attribute}
    dictionaries = [set(one.fd.attributes) for one in terms.dependencies if one.dictionary is not None]
    for _ in dictionaries:
        linked.update(*(names for names in dictionaries if names & linked))
    return linked
