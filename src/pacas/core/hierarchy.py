"""Value generalization hierarchies: what it means for one value to be more general than another.

Paper: §2.2. Every value of an attribute is a node of one tree (the VGH); the levels of the tree are the DGH.
Nodes are numbered, so that a column of values is an array of codes, `generalize` is one array take, and
`⪯` compares two integers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pacas.core.notebook import html_tree
from pacas.errors import HierarchyError

Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]

ROOT = "*"
"""The label of the root where nobody has named one."""


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """One attribute's generalization tree, with its nodes numbered (their *codes*).

    `ancestors[l, c]` is the code of c's ancestor at level l, or c itself if c is at l or above.
    A `None` label stands for the null, which the tree holds only after `admit`.

    >>> med = Hierarchy.from_rows([("ibuprofen", "NSAID", "*"), ("dolex", "acetaminophen", "*")])
    >>> med.height, med.generalize_value("ibuprofen", 1)
    (2, 'NSAID')
    >>> bool(med.precedes(med.code("ibuprofen"), med.code("NSAID")))
    True
    """

    labels: tuple[str | None, ...]
    parent: Codes
    level: Codes
    ancestors: NDArray[np.int32]
    enter: Codes
    leave: Codes
    root: int
    numeric: bool = False

    # ---- making one -------------------------------------------------------------------------------------

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], *, numeric: bool = False) -> Hierarchy:
        """A hierarchy from one row per ground value: the value, its ancestor at level 1, …, the root.

        A label that stands on several levels is one node at its lowest level.
        """
        spelling = cache(canonical_number) if numeric else str
        chains = [tuple(map(spelling, row)) for row in rows]
        _check_shape(chains)
        lowest = _lowest_levels(chains)
        labels = sorted(lowest, key=lambda label: lowest[label])  # stable: ground values first, in file order
        code = {label: c for c, label in enumerate(labels)}
        root = code[chains[0][-1]]
        parent = _parents(chains, code, root)
        ancestors = np.tile(np.arange(len(labels), dtype=np.int32), (len(chains[0]), 1))
        for label, above in _lines(chains, lowest).items():
            ancestors[lowest[label] :, code[label]] = [code[ancestor] for ancestor in above]
        return cls._numbered(labels, parent, [lowest[label] for label in labels], ancestors, root, numeric)

    @classmethod
    def flat(cls, values: Iterable[str], *, root: str = ROOT) -> Hierarchy:
        """The two-level hierarchy of an attribute that has none of its own: its values and the root."""
        bare = cls._numbered([root], [0], [1], np.zeros((2, 1), dtype=np.int32), root=0, numeric=False)
        return bare.admit(values)

    @classmethod
    def _numbered(
        cls,
        labels: Sequence[str | None],
        parent: Sequence[int] | Codes,
        level: Sequence[int] | Codes,
        ancestors: NDArray[np.int32],
        root: int,
        numeric: bool,
    ) -> Hierarchy:
        parents = np.asarray(parent, dtype=np.int32)
        enter, leave = _tour(parents, root)
        arrays = (parents, np.asarray(level, dtype=np.int32), ancestors, enter, leave)
        for array in arrays:
            array.setflags(write=False)
        return cls(tuple(labels), *arrays, root=root, numeric=numeric)

    def admit(self, values: Iterable[str | None]) -> Hierarchy:
        """This hierarchy with each value it does not know as a leaf right under the root (D1).

        A null is such a leaf too: comparable with itself and the root, and with nothing else.
        """
        unknown = [v for v in dict.fromkeys(map(self._key, values)) if v not in self._codes]
        if not unknown:
            return self
        first, count = len(self.labels), len(unknown)
        codes = np.arange(first, first + count, dtype=np.int32)
        rows = np.tile(codes, (self.height + 1, 1))
        rows[self.height] = self.root
        leave = np.append(self.leave, codes + 1)
        leave[self.root] += count
        return Hierarchy(
            labels=self.labels + tuple(unknown),
            parent=np.append(self.parent, np.full(count, self.root, dtype=np.int32)),
            level=np.append(self.level, np.zeros(count, dtype=np.int32)),
            ancestors=np.hstack([self.ancestors, rows]),
            enter=np.append(self.enter, codes),
            leave=leave.astype(np.int32),
            root=self.root,
            numeric=self.numeric,
        )

    # ---- what is in it ----------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        """The level of the root."""
        return len(self.ancestors) - 1

    @property
    def root_label(self) -> str:
        return str(self.labels[self.root])

    @cached_property
    def is_ground(self) -> Mask:
        """Per code: does no other value lie below it?"""
        ground: Mask = self.leave - self.enter == 1
        ground[self.root] = False
        return ground

    @cached_property
    def ground_labels(self) -> list[str]:
        return [v for v, ground in zip(self.labels, self.is_ground, strict=True) if ground and v is not None]

    @cached_property
    def widths(self) -> Codes:
        """Per level: how many nodes the ground values have there."""
        return np.array([len(np.unique(line[self.is_ground])) for line in self.ancestors], dtype=np.int32)

    @cached_property
    def general_labels(self) -> list[str]:
        """The labels that are not ground, the root among them."""
        return [v for v, ground in zip(self.labels, self.is_ground, strict=True) if not ground and v is not None]

    @cached_property
    def _codes(self) -> dict[str | None, int]:
        return {label: c for c, label in enumerate(self.labels)}

    def _key(self, value: str | None) -> str | None:
        return canonical_number(value) if self.numeric and value is not None else value

    def __contains__(self, value: str | None) -> bool:
        return self._key(value) in self._codes

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:  # no labels: they may be a provider's values
        return f"Hierarchy(height={self.height}, ground={int(self.is_ground.sum())}, nodes={len(self)})"

    def _repr_html_(self) -> str:
        """A tree to unfold, for whoever looks at it in a notebook: its labels are what a catalogue publishes."""

        def children(node: int) -> list[int]:
            found: list[int] = np.flatnonzero(self.parent == node).tolist()
            return [child for child in found if child != node]

        return html_tree(repr(self), self.root, lambda node: self.labels[node] or "empty", children)

    def code(self, value: str | None) -> int:
        """The number of a value's node."""
        try:
            return self._codes[self._key(value)]
        except KeyError:
            raise HierarchyError("the hierarchy does not know the value; admit it first") from None

    def label(self, code: int | np.integer) -> str | None:
        return self.labels[int(code)]

    def encode(self, values: Iterable[str | None]) -> Codes:
        """The codes of values that the hierarchy knows (see `admit`)."""
        return np.fromiter((self.code(v) for v in values), dtype=np.int32)

    def at_level(self, level: int) -> list[str]:
        """dom(l): the distinct values that the ground values have at a level."""
        self.check_level(level)
        codes = dict.fromkeys(self.ancestors[level, self.is_ground].tolist())
        return [v for c in codes if (v := self.labels[c]) is not None]

    def rows(self) -> Iterator[tuple[str, ...]]:
        """One row per ground value, from the value to the root: the inverse of `from_rows`."""
        for c in np.flatnonzero(self.is_ground):
            if self.labels[c] is not None:
                yield tuple(str(self.labels[a]) for a in self.ancestors[:, c])

    def level_zero_rows(self) -> list[tuple[str, ...]]:
        """One row per label of level 0: the ground values, and the general ones that stand there as well."""
        codes = [c for c, level in enumerate(self.level) if level == 0 and self.labels[c] is not None]
        return [tuple(str(self.labels[a]) for a in self.ancestors[:, c]) for c in codes]

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of all that the tree says: in whatever order and format it is written, it is the same."""
        said = [self.numeric, sorted(self.level_zero_rows())]
        return sha256(b"pacas hierarchy 1\n" + json.dumps(said, ensure_ascii=False).encode()).hexdigest()

    # ---- the generalization relation ----------------------------------------------------------------------

    def check_level(self, level: int, where: str = "the hierarchy") -> None:
        if not 0 <= level <= self.height:
            raise HierarchyError.no_such_level(level, self.height, where)

    def generalize(self, codes: Codes, level: int) -> Codes:
        """Each code's ancestor at `level`, or the code itself where it is at that level or above."""
        self.check_level(level)
        generalized: Codes = self.ancestors[level].take(codes)
        return generalized

    def generalize_value(self, value: str | None, level: int) -> str | None:
        self.check_level(level)
        return self.label(self.ancestors[level, self.code(value)])

    def precedes(self, a: Codes | int, b: Codes | int) -> Mask:
        """a ⪯ b: a is b or lies below it."""
        return np.asarray((self.enter[b] <= self.enter[a]) & (self.enter[a] < self.leave[b]))

    def comparable(self, a: Codes | int, b: Codes | int) -> Mask:
        return np.asarray(self.precedes(a, b) | self.precedes(b, a))

    def lca(self, a: Codes | int, b: Codes | int) -> Codes:
        """The least common ancestor of each pair."""
        meet = np.asarray(a, dtype=np.int32)
        for _ in range(self.height):
            meet = np.where(self.precedes(b, meet), meet, self.parent[meet])
        return meet


def canonical_number(text: str) -> str:
    """The one spelling of a number, so that 51, 51.0 and 051 are one value; other text as it is.

    >>> [canonical_number(v) for v in ("51.0", "051", "0.50", "n/a")]
    ['51', '51', '0.5', 'n/a']
    """
    if not NUMBER.fullmatch(text) or not abs(number := float(text)) < EXACT:
        return text
    return str(int(number)) if number == int(number) else repr(number)


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
EXACT = 1e15
"""Below this, a whole number is exact as a float; numbers from here on are compared as text."""


# ---- from rows to a tree --------------------------------------------------------------------------------------


def _check_shape(chains: Sequence[tuple[str, ...]]) -> None:
    if not chains:
        raise HierarchyError("a hierarchy without values; give it at least one row")
    width = len(chains[0])
    if width < 2:
        raise HierarchyError("a hierarchy needs at least two levels: the values and the root")
    for number, chain in enumerate(chains, start=1):
        if len(chain) != width:
            raise HierarchyError(
                f"row {number} has {len(chain)} levels where row 1 has {width}; rows must be of one width"
            )
        if chain[-1] != chains[0][-1]:
            raise HierarchyError(
                f"row {number} ends in {chain[-1]!r} where row 1 ends in {chains[0][-1]!r}; "
                "the last level must be one root"
            )
        if "" in chain:
            raise HierarchyError(f"row {number} has an empty label at level {chain.index('')}")
    if all(chain[0] == chain[-1] for chain in chains):
        raise HierarchyError("a hierarchy without a value below its root; give it at least one")


def _lowest_levels(chains: Sequence[tuple[str, ...]]) -> dict[str, int]:
    lowest: dict[str, int] = {}
    for at in range(len(chains[0])):
        for chain in chains:
            lowest.setdefault(chain[at], at)
    return lowest


def _lines(chains: Sequence[tuple[str, ...]], lowest: dict[str, int]) -> dict[str, tuple[str, ...]]:
    """Each label's ancestors, from its lowest level up: one per level, whichever row one reads."""
    lines: dict[str, tuple[str, ...]] = {}
    for chain in chains:
        for at, label in enumerate(chain):
            if at == lowest[label]:
                lines.setdefault(label, chain[at:])
    read: set[tuple[str, ...]] = set()
    for number, chain in enumerate(chains, start=1):
        for at, label in enumerate(chain):
            above = chain[at:]
            if above in read:
                break
            read.add(above)
            line = lines[label][at - lowest[label] :]
            if above != line:
                level = at + next(i for i, (a, b) in enumerate(zip(above, line, strict=True)) if a != b)
                raise HierarchyError(
                    f"row {number} puts {label!r} under {chain[level]!r} at level {level} where another row has "
                    f"{line[level - at]!r}; each value has one ancestor per level"
                )
    return lines


def _parents(chains: Sequence[tuple[str, ...]], code: dict[str, int], root: int) -> list[int]:
    """Each node's one parent; with one parent each, and one root that has none, the nodes form a tree."""
    parent: dict[str, str] = {}
    for number, chain in enumerate(chains, start=1):
        for below, above in pairwise(chain):
            if below == above:
                continue
            if code[below] == root:
                raise HierarchyError(f"row {number} has the root {below!r} below another value")
            if parent.setdefault(below, above) != above:
                raise HierarchyError(
                    f"{below!r} has two parents, {parent[below]!r} and {above!r} (row {number}); "
                    "give each value one parent, or rename one of the two"
                )
    return [code[parent[label]] if label in parent else root for label in code]


def _tour(parent: Codes, root: int) -> tuple[Codes, Codes]:
    """Number the nodes in depth-first order: b's subtree is the codes that enter in [enter[b], leave[b])."""
    n = len(parent)
    order = np.argsort(parent, kind="stable")
    order = order[order != root]
    first = np.searchsorted(parent[order], np.arange(n + 1))
    enter = np.zeros(n, dtype=np.int32)
    leave = np.ones(n, dtype=np.int32)
    stack, clock = [root], 0
    path: list[int] = []
    while stack:
        node = stack.pop()
        if node < 0:
            leave[path.pop()] = clock
            continue
        enter[node] = clock
        clock += 1
        if first[node] == first[node + 1]:
            leave[node] = clock
            continue
        path.append(node)
        stack.append(-1)
        stack.extend(order[first[node] : first[node + 1]][::-1].tolist())
    return enter, leave
