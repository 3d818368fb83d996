"""Dependencies that the provider declares: what they imply is priced and protected together with what implies it.

A *dictionary* lists the tuples that private attributes can have together: they are one component. A *public left side*
(columns of the index) ties rows: those that agree on it have one value, and are one unit. Undeclared dependencies stay
what they are: inferable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pacas.core.component import Component
from pacas.core.coverage import NeighbourSpread
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.errors import InputError
from pacas.provider.quoter.public_view import Reserve

Tuples = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class DeclaredDependency:
    """X → B between columns of the provider, with the tuples that it allows where X is private."""

    fd: FunctionalDependency
    dictionary: tuple[Mapping[str, str], ...] | None = None

    def check(self, private: Iterable[str]) -> None:
        """Its right side is private; its left side is all private, with a dictionary, or all public, without one."""
        hidden = set(private)
        if self.fd.rhs not in hidden:
            raise InputError(f"dependency {self.fd}: {self.fd.rhs!r} is neither sold nor protected; leave it out")
        kinds = {attribute in hidden for attribute in self.fd.lhs}
        if len(kinds) == 2:
            raise InputError(f"dependency {self.fd}: its left side is in part public; declare one for each part")
        if kinds == {True} and self.dictionary is None:
            raise InputError(f"dependency {self.fd}: its left side is private; give the dictionary that it follows")
        if kinds == {False} and self.dictionary is not None:
            raise InputError(f"dependency {self.fd}: its left side is public, and needs no dictionary; leave it out")
        told: dict[tuple[str, ...], str] = {}
        for line in self.dictionary or ():
            if told.setdefault(tuple(line[a] for a in self.fd.lhs), line[self.fd.rhs]) != line[self.fd.rhs]:
                raise InputError(f"dependency {self.fd}: its dictionary has two right sides for one left side")


@dataclass(frozen=True)
class Sealing:
    """How quotes are sealed: all that the owner decides beyond the terms of any provider."""

    dependencies: Sequence[DeclaredDependency] = ()
    prior: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Per attribute how often each ground value is believed to occur; all alike where nothing is said."""
    spread: NeighbourSpread = NeighbourSpread.EVEN
    reserve: Reserve = Reserve.FIXED


def public_left_sides(
    declared: Sequence[DeclaredDependency], components: Sequence[Component]
) -> dict[str, tuple[str, ...]]:
    """The public columns that determine an attribute; the attributes of one component must share them."""
    left = {one.fd.rhs: one.fd.lhs for one in declared if one.dictionary is None}
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
) -> list[Component]:
    """Every private attribute in one component: with those that dictionaries link it to, or alone."""
    linked: list[Tuples] = []
    for one in declared:
        if one.dictionary is not None:
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
        distinct = sorted({tuple(line[a] for a in names) for line in tuples})
        made.append(Component.of_tuples({a: hierarchies[a] for a in names}, distinct))
    alone = [a for a in private if not any(a in component.attributes for component in made)]
    return made + [Component.of_attribute(a, hierarchies[a], prior.get(a)) for a in alone]


def _joined(one: Tuples, other: Tuples) -> Tuples:
    """The natural join: what fits both."""
    common = [a for a in one[0] if a in other[0]]
    by_key: dict[tuple[str, ...], Tuples] = {}
    for line in other:
        by_key.setdefault(tuple(line[a] for a in common), []).append(line)
    return [{**line, **more} for line in one for more in by_key.get(tuple(line[a] for a in common), ())]
