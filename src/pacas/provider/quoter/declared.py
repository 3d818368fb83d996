"""Dependencies that the provider declares: what they imply is priced and protected together with what implies it.

A *dictionary* lists the tuples that private attributes can have together: they are one component. It may have public
columns on its left side besides private ones; each of their values is then a case with tuples of its own. A *public
left side* (columns of the index) ties rows: those that agree on it have one value, and are one unit. Undeclared
dependencies stay what they are: inferable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.sealed.component import Component
from pacas.core.sealed.coverage import NeighbourSpread
from pacas.core.words import counted
from pacas.engine.contract import Source
from pacas.errors import InputError, did_you_mean
from pacas.protocol.messages import Request
from pacas.provider.quoter.linked_attributes import LinkedAttributes
from pacas.provider.quoter.public_view import Reserve

Tuples = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class DeclaredDependency:
    """X → B between columns of the provider, with the tuples that it allows where X is private."""

    fd: FunctionalDependency
    dictionary: tuple[Mapping[str, str], ...] | None = None

    def check(self, private: Iterable[str]) -> None:
        """Its right side is private; where any of its left side is, a dictionary says what goes together."""
        hidden = set(private)
        if self.fd.rhs not in hidden:
            raise InputError(f"dependency {self.fd}: {self.fd.rhs!r} is neither sold nor protected; leave it out")
        secret = [attribute for attribute in self.fd.lhs if attribute in hidden]
        if secret and self.dictionary is None:
            raise InputError(f"dependency {self.fd}: {secret[0]!r} is private; give the dictionary that it follows")
        if not secret and self.dictionary is not None:
            raise InputError(f"dependency {self.fd}: its left side is public, and needs no dictionary; leave it out")
        told: dict[tuple[str, ...], str] = {}
        for line in self.dictionary or ():
            if told.setdefault(tuple(line[a] for a in self.fd.lhs), line[self.fd.rhs]) != line[self.fd.rhs]:
                raise InputError(
                    f"dependency {self.fd}: its dictionary has two right sides for one left side; keep one"
                )


class EarlierSales(NamedTuple):
    """All that was sold from another ledger, and what that was opened with."""

    bought: Sequence[tuple[str, Request]]
    """Who has bought what, in order."""
    fingerprint: Mapping[str, str]


@dataclass(frozen=True)
class Sealing:
    """How quotes are sealed: all that the owner decides beyond the terms of any provider."""

    dependencies: Sequence[DeclaredDependency] = ()
    prior: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Per attribute how often each ground value is believed to occur; all alike where nothing is said."""
    dp_epsilon: Fraction | None = None
    """Instead of a prior: that it follows from the relation, with differential privacy."""
    spread: NeighbourSpread = NeighbourSpread.EVEN
    reserve: Reserve = Reserve.FIXED
    registry: Source | None = None
    """A public list of people, with the columns by which they are found and grouped, of whom the relation has some; who
    is in the relation, and how many, is then private. Without one it is public."""
    share: Fraction = Fraction(1, 2)
    """What share of a registry is publicly believed to be in the relation. Not how many are: who has bought all others
    would know of those who are kept back."""
    sold_before: Sequence[EarlierSales] = ()
    """What was sold from earlier ledgers, the oldest first: levels sold stay sold."""


def public_left_sides(
    declared: Sequence[DeclaredDependency], components: Sequence[LinkedAttributes]
) -> dict[str, tuple[str, ...]]:
    """The public columns that determine an attribute; the attributes of one component must share them."""
    left: dict[str, tuple[str, ...]] = {}
    for one in declared:
        if one.dictionary is None and {*left.setdefault(one.fd.rhs, one.fd.lhs)} != {*one.fd.lhs}:
            first = ", ".join(left[one.fd.rhs])
            raise InputError(
                f"dependency {one.fd}: {first} is declared to determine {one.fd.rhs}, too, and both together "
                "would tie rows through third ones; declare one of them"
            )
    for component in components:
        found = {frozenset(left.get(attribute, ())) for attribute in component.attributes}
        if len(found) > 1:
            linked = ", ".join(component.attributes)
            raise InputError(f"a dependency ties rows in some of {linked} and not in all; declare it for each of them")
    return left


def components_of(
    private: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    declared: Sequence[DeclaredDependency],
    prior: Mapping[str, Mapping[str, int]],
) -> list[LinkedAttributes]:
    """Every private attribute in one component: with those that dictionaries link it to, or alone.

    What a dictionary has besides private attributes is public: each of its values is a case of the component.
    """
    linked: list[Tuples] = []
    for one in declared:
        if one.dictionary is not None:
            _check_ground(one, private, hierarchies)
            mine = [{a: line[a] for a in one.fd.attributes} for line in one.dictionary]
            apart = [tuples for tuples in linked if not set(tuples[0]) & set(mine[0])]
            for tuples in [tuples for tuples in linked if set(tuples[0]) & set(mine[0])]:
                mine = _joined(tuples, mine)
            if not mine:
                raise InputError(f"dependency {one.fd}: no tuple fits its dictionary and the others that it meets")
            linked = [*apart, mine]
    made = []
    for tuples in linked:
        names = [a for a in private if a in tuples[0]]
        given = tuple(sorted(a for a in tuples[0] if a not in names))
        cases: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for line in tuples:
            cases.setdefault(tuple(line[a] for a in given), set()).add(tuple(line[a] for a in names))
        trees = {a: hierarchies[a] for a in names}
        values = tuple(sorted(cases))
        made.append(
            LinkedAttributes(tuple(Component.of_tuples(trees, sorted(cases[v])) for v in values), given, values)
        )
    _check_prior(prior, private, hierarchies, [a for component in made for a in component.attributes])
    alone = [a for a in private if not any(a in component.attributes for component in made)]
    return made + [LinkedAttributes((Component.of_attribute(a, hierarchies[a], prior.get(a)),)) for a in alone]


def _check_ground(one: DeclaredDependency, private: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> None:
    """What a dictionary lists of private attributes are ground values: no row can hold others (D1)."""
    for attribute in (a for a in one.fd.attributes if a in private):
        tree, listed = hierarchies[attribute], {line[attribute] for line in one.dictionary or ()}
        if strange := sum(value not in tree or not tree.is_ground[tree.code(value)] for value in listed):
            raise InputError(
                f"dependency {one.fd}: of the {counted(len(listed), 'value')} of {attribute} in its dictionary, "
                f"{strange:,} are general, or unknown to its hierarchy; list ground values"
            )


def _check_prior(
    prior: Mapping[str, Mapping[str, int]],
    private: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    linked: Collection[str],
) -> None:
    """A prior is about values of attributes that are sold or protected, and that no dictionary links."""
    for attribute, counts in prior.items():
        if attribute not in private:
            raise InputError(f"prior: {attribute!r} is neither sold nor protected; {did_you_mean(attribute, private)}")
        if attribute in linked:
            raise InputError(f"prior: a dictionary says which values {attribute!r} has, all alike; leave it out there")
        if strange := len(set(counts) - set(hierarchies[attribute].ground_labels)):
            known = f"the ground values of its hierarchy, and {strange:,} in the prior are none of them"
            raise InputError(f"prior: {attribute!r} can have {known}; mend or remove these lines")


def _joined(one: Tuples, other: Tuples) -> Tuples:
    """The natural join: what fits both."""
    common = [a for a in one[0] if a in other[0]]
    by_key: dict[tuple[str, ...], Tuples] = {}
    for line in other:
        by_key.setdefault(tuple(line[a] for a in common), []).append(line)
    return [{**line, **more} for line in one for more in by_key.get(tuple(line[a] for a in common), ())]
