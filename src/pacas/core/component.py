"""A component: attributes whose values are linked, so that buying one tells of the others; or one attribute alone.

What a row may hold in a component's attributes is public: the ground values of the hierarchy or, where a dictionary
links several attributes, its tuples; and how likely each is before anything is sold, the *prior*, in whole numbers.
Answers at a *level vector* (a level per attribute) tell these tuples apart only as far as they generalize to different
values: those that do not are one *block*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pacas.core.hierarchy import Hierarchy
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

    def __post_init__(self) -> None:
        if not len(self.prior) or (self.prior < 0).any() or not self.prior.any():
            raise InputError(f"{', '.join(self.attributes)}: a prior needs a value that is possible")

    @classmethod
    def of_attribute(cls, attribute: str, hierarchy: Hierarchy, prior: Mapping[str, int] | None = None) -> Component:
        """One attribute alone, any ground value possible, all alike unless a prior is given."""
        values = hierarchy.ground_labels
        return cls.of_tuples({attribute: hierarchy}, [(value,) for value in values], _weights(values, prior))

    @classmethod
    def of_tuples(
        cls, hierarchies: Mapping[str, Hierarchy], tuples: Sequence[Sequence[str]], prior: Sequence[int] | None = None
    ) -> Component:
        """Several attributes that a dictionary links: each tuple once, in any order."""
        paths = []
        for place, hierarchy in enumerate(hierarchies.values()):
            codes = hierarchy.encode(values[place] for values in tuples)
            paths.append(hierarchy.ancestors[:, codes].astype(np.int64))
        return cls(tuple(hierarchies), tuple(paths), np.asarray(prior or [1] * len(tuples), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.prior)

    @property
    def heights(self) -> LevelVector:
        """The level vector of the roots: nothing is told."""
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
        block = np.zeros(len(self), dtype=np.int64)
        for path, level in zip(self.paths, levels, strict=True):
            found, value = np.unique(path[level], return_inverse=True)
            _, block = np.unique(block * len(found) + value, return_inverse=True)
        return block


def lowered(levels: LevelVector, place: int, level: int) -> LevelVector:
    """A level vector, with one attribute at a level if that is lower.

    >>> lowered((2, 3), 1, 1), lowered((2, 0), 1, 1)
    ((2, 1), (2, 0))
    """
    return (*levels[:place], min(levels[place], level), *levels[place + 1 :])


def _weights(values: Sequence[str], prior: Mapping[str, int] | None) -> list[int] | None:
    return None if prior is None else [prior.get(value, 0) for value in values]
