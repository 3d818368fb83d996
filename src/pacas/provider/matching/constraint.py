"""What a part of a matching dependency demands of the combinations of values that occur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pacas.core.hierarchy import Mask
from pacas.engine.grouping import Array, Groups, Ints
from pacas.provider.matching.clause import ClauseIndex


class Demand(Protocol):
    """A clause, or all equality clauses, with a client's values: some combinations fulfil it."""

    def size(self) -> int:
        """How many combinations fulfil it."""
        ...

    def members(self) -> Ints:
        """The combinations that fulfil it, ascending."""
        ...

    def holds(self, combinations: Ints) -> Mask:
        """Per combination: does it?"""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """The equality clauses: each combination is in one slot."""

    slot_of: Array
    members: Groups

    @classmethod
    def of(cls, slot_of: Array, count: int) -> Slots:
        return cls(slot_of, Groups.of(slot_of, count))


@dataclass(frozen=True, slots=True, eq=False)
class InSlot:
    """The demand of the equality clauses: to be in a certain slot."""

    slots: Slots
    slot: int

    def size(self) -> int:
        return len(self.members())

    def members(self) -> Ints:
        return self.slots.members.one(self.slot)

    def holds(self, combinations: Ints) -> Mask:
        return np.asarray(self.slots.slot_of[combinations] == self.slot)


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """A clause other than equality: each combination has one value of its provider column."""

    client_at: int
    """Where the client's value stands among those that the match needs."""
    index: ClauseIndex
    code_of: Array
    members: Groups

    @classmethod
    def of(cls, client_at: int, index: ClauseIndex, code_of: Array, values: int) -> Clause:
        return cls(client_at, index, code_of, Groups.of(code_of, values))


@dataclass(frozen=True, slots=True, eq=False)
class LikeValue:
    """The demand of a clause: to be like the client's value."""

    clause: Clause
    value: str

    def size(self) -> int:
        return self.clause.members.size(self.clause.index.find(self.value))

    def members(self) -> Ints:
        return self.clause.members.some(self.clause.index.find(self.value))

    def holds(self, combinations: Ints) -> Mask:
        return self.clause.index.accepts(self.value, self.clause.code_of[combinations])
