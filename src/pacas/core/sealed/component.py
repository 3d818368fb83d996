"""A component: attributes whose values are linked, so that buying one tells of the others; or one attribute alone.

What a row may hold in a component's attributes is public: the ground values of the hierarchy or, where a dictionary
links several attributes, its tuples; and how likely each is before anything is sold, the *prior*, in whole numbers.
Answers at a *level vector* (a level per attribute) tell these tuples apart only as far as they generalize to different
values: those that do not are one *block*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Values
from pacas.errors import InputError

Ints = NDArray[np.int64]
LevelVector = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Component:
    """The tuples that some attributes can have together: `paths[a][l, i]` is tuple i in attribute a at level l.

    >>> med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("naproxen", "NSAID", "*"), ("dolex", "other", "*")])
    >>> one = Component.of_attribute("MED", med)
    >>> len(one), one.shape, one.blocks((1,)).tolist()
    (3, (3,), [0, 0, 1])
    """

    attributes: tuple[str, ...]
    paths: tuple[Ints, ...]
    prior: Ints
    last_is_absent: bool = False
    """Whether the last tuple stands for a row that is not there at all; the roots are then one level below the top."""
    labels: tuple[Sequence[str | None], ...] = ()
    """What codes stand for, per attribute; where nothing is said, values have no names."""

    def __post_init__(self) -> None:
        if not len(self.prior) or (self.prior < 0).any() or not self.prior.any():
            raise InputError(f"{', '.join(self.attributes)}: a prior needs a value that is possible")

    @classmethod
    def of_attribute(cls, attribute: str, hierarchy: Hierarchy, prior: Mapping[str, int] | None = None) -> Component:
        """One attribute alone, any ground value possible, all alike unless a prior is given.

        A prior makes values rare, and none impossible: what it leaves out, or says never occurs, counts as one.
        """
        values = hierarchy.ground_labels
        return cls.of_tuples({attribute: hierarchy}, [(value,) for value in values], _weights(values, prior))

    @classmethod
    def of_tuples(
        cls, hierarchies: Mapping[str, Hierarchy], tuples: Sequence[Sequence[str]], prior: Sequence[int] | None = None
    ) -> Component:
        """Several attributes that a dictionary links: each tuple once, in any order."""
        paths = []
        labels = tuple(hierarchy.labels for hierarchy in hierarchies.values())
        for place, hierarchy in enumerate(hierarchies.values()):
            codes = hierarchy.encode(values[place] for values in tuples)
            paths.append(hierarchy.ancestors[:, codes].astype(np.int64))
        weights = np.asarray(prior or [1] * len(tuples), dtype=np.int64)
        return cls(tuple(hierarchies), tuple(paths), weights, labels=labels)

    def or_absent(self, present: int, absent: int) -> Component:
        """The component of rows that may not be there: so many are, so many are not.

        What is absent differs from every value up to the root, and a level above the root tells nothing of either.

        >>> med = Hierarchy.from_rows([("ibuprofen", "*"), ("naproxen", "*")])
        >>> one = Component.of_attribute("MED", med).or_absent(3, 1)
        >>> one.prior.tolist(), one.blocks((1,)).tolist(), one.blocks((2,)).tolist()
        ([3, 3, 2], [0, 0, 1], [0, 0, 0])
        """
        paths = []
        for path in self.paths:
            beside = np.full((len(path), 1), path.max() + 1)
            paths.append(np.vstack([np.hstack([path, beside]), np.zeros((1, len(self) + 1), dtype=np.int64)]))
        prior = np.append(self.prior * present, self.prior.sum() * absent)
        return Component(self.attributes, tuple(paths), prior, True, self.labels)

    def __len__(self) -> int:
        return len(self.prior)

    @property
    def heights(self) -> LevelVector:
        """The level vector at which nothing is told: the roots', or what is above them."""
        return tuple(len(path) - 1 for path in self.paths)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each attribute has: the shape of a table over level vectors."""
        return tuple(map(len, self.paths))

    def vectors(self) -> Iterator[LevelVector]:
        """Every level vector, those of the finest levels first."""
        return product(*map(range, self.shape))

    def blocks(self, levels: Sequence[int]) -> Ints:
        """Per tuple the number of its block: those that answers at these levels do not tell apart share one."""
        block: Ints | None = None
        for numbered, level in zip(self._numbered, levels, strict=True):
            value, count = numbered[level]
            block = value if block is None else np.unique(block * count + value, return_inverse=True)[1]
        assert block is not None, "a component has an attribute"
        return block

    @cached_property
    def _numbered(self) -> list[list[tuple[Ints, int]]]:
        """By attribute and level: which of the values that there are each tuple has, and how many there are."""
        return [[_numbers(nodes) for nodes in path] for path in self.paths]

    def values(self, tuples: Ints, levels: Mapping[str, int]) -> list[Values]:
        """Some tuples in some attributes, each at a level, as they are called."""
        named: list[Sequence[str | None]] = []
        for attribute, path, labels in zip(self.attributes, self.paths, self.labels, strict=False):
            if attribute in levels:
                named.append([labels[code] for code in path[levels[attribute], tuples].tolist()])
        return list(zip(*named, strict=True)) if named else [(None,)] * len(tuples)


def _numbers(nodes: Ints) -> tuple[Ints, int]:
    found, value = np.unique(nodes, return_inverse=True)
    return value, len(found)


def lowered(levels: LevelVector, place: int, level: int) -> LevelVector:
    """A level vector, with one attribute at a level if that is lower.

    >>> lowered((2, 3), 1, 1), lowered((2, 0), 1, 1)
    ((2, 1), (2, 0))
    """
    return (*levels[:place], min(levels[place], level), *levels[place + 1 :])


def _weights(values: Sequence[str], prior: Mapping[str, int] | None) -> list[int] | None:
    return None if prior is None else [max(1, prior.get(value, 0)) for value in values]
