"""Dependencies in the provider's own table that tell a protected column: declared ones, and those that are not.

What a buyer knows of a row through one: the left side, as far as it is sold or public; or, where all of it is public,
whatever is sold of any row with the same left side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb

from pacas.core.dependency import FunctionalDependency
from pacas.engine.grouping import Keys, combine
from pacas.provider.lint.determination import ERROR_LEFT, Determination, determination
from pacas.provider.lint.own_rows import OwnRows
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
    protected = dict.fromkeys((a, level) for policy in terms.policies for a, level in policy.y_levels.items())
    names = [*terms.match, *(name for name in own.columns if name not in terms.protected)]
    keys = {name: own.keys(name) for name in names}
    for right, level in protected:
        others = [name for name in names if name != right]
        tells = partial(Determination.tells, share=share, rows=own.rows, tried=comb(len(others) + 1, 2))
        values, alone = own.keys(right, level), dict[str, float]()
        for name in others:
            at, told = _alone(own, name, values, tells)
            if tells(told):
                yield from _undeclared(own, terms, (name,), right, level, at, told)
            elif 2 * told.rows >= own.rows:
                alone[name] = told.share
        for pair in combinations(alone, 2):
            told = determination(combine([keys[name] for name in pair]), values)
            if tells(told) and 1 - told.share <= ERROR_LEFT * (1 - max(alone[name] for name in pair)):
                yield from _undeclared(own, terms, pair, right, level, 0, told)


def declared_dependencies(own: OwnRows, terms: Terms) -> Iterator[TellingDependency]:
    """What is declared, as far as a policy protects its right side."""
    for one in terms.dependencies:
        is_sold = any(a in terms.match for a in one.fd.attributes)
        for policy in terms.policies:
            if is_sold and one.fd.rhs in policy.y:
                level = policy.y_levels[one.fd.rhs]
                told = determination(combine([own.keys(a) for a in one.fd.lhs]), own.keys(one.fd.rhs, level))
                yield TellingDependency(one.fd, 0, level, told, is_declared=True)


def _alone(own: OwnRows, name: str, values: Keys, tells: Callable[[Determination], bool]) -> tuple[int, Determination]:
    """The lowest level at which one column tells: of its ground values or labels above them; 0 where none does."""
    ground = determination(own.keys(name), values)
    if not tells(ground):
        for level in range(1, own.height(name)):
            told = determination(own.keys(name, level), values)
            if tells(told):
                return level, told
    return 0, ground


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
