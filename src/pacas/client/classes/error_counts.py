"""How many errors each class takes part in, on the relation as it is now.

Paper: errors(R, Σ, eq) in §6.3. Counted once when the classes are found, and from then on kept: a repair changes the
counts of the pairs that it changes, and the relation is never looked through again.

A dependency none of whose left attributes has a class keeps its groups, each inside one class: a repair ends all its
violations in the class, and concerns no other. The others' groups move (`changing_groups`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pacas.client.classes.changing_groups import ChangingGroups
from pacas.client.classes.current_relation import CurrentRelation
from pacas.client.classes.equivalence import EquivalenceClasses
from pacas.client.classes.unheld_rows import UnheldRows
from pacas.core.consistency import GroupedRows
from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import Ints


class ErrorCounts:
    """The classes of a round, numbered by first row and then column (D9), and their errors.

    `total` is the sum over the classes that are left. Rows go by their places in the current relation.
    """

    def __init__(
        self,
        classes: EquivalenceClasses,
        violating: Mapping[FunctionalDependency, GroupedRows],
        current: CurrentRelation,
        unheld: UnheldRows | None = None,
    ) -> None:
        """`unheld` are the rows that are not held, where not all are."""
        self.current = current
        self._unheld = unheld
        self.classes = classes
        self._places = _places(classes)
        self._cells = [classes.cells[a].group(n) for a, n in self._places]
        self._attributes = [a for a, _ in self._places]
        self.errors: Ints = np.array([classes.errors[a][n] for a, n in self._places], dtype=np.int64)
        self.total = int(self.errors.sum())
        self._altered: list[Ints] = []
        self._class_of = self._members(classes)
        self._settled: Ints = np.zeros(len(self), dtype=np.int64)
        self._settled_left = 0
        self._moving: list[ChangingGroups] = []
        for fd, groups in violating.items():
            if any(a in self._class_of for a in fd.lhs):
                self._move(fd, groups)
            else:
                self._settle(fd, groups)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def violations(self) -> int:
        """Violating pairs of the current relation, over all dependencies."""
        return self._settled_left + sum(groups.violations for groups in self._moving)

    def attribute(self, number: int) -> str:
        return self._attributes[number]

    def rows(self, number: int) -> Ints:
        return self._cells[number]

    def drop(self, number: int) -> None:
        """A class is done with, whether it was repaired or not."""
        self.total -= int(self.errors[number])
        if self._moving:
            self._class_of[self._attributes[number]][self._cells[number]] = -1

    def repair(self, number: int, code: int) -> Ints:
        """Write a value into all cells of a class that has been dropped; returned are the rows that had another."""
        attribute, rows = self._attributes[number], self._cells[number]
        column = self.current[attribute]
        written: Ints = rows[column.codes[rows] != code]
        self._settled_left -= int(self._settled[number])
        if not len(written):
            return written
        moving = [groups for groups in self._moving if attribute in groups.fd.attributes]
        for groups in moving:
            groups.leave(written)
        column.write(written, code)
        for groups in moving:
            groups.join(written)
        return written

    def numbers(self, attribute: str) -> Ints:
        """The numbers of an attribute's classes, in the order of `classes.cells`."""
        groups = self.classes.cells[attribute]
        return self._class_of[attribute][groups.first_rows] if len(groups) else groups.first_rows

    def is_steady(self, attribute: str) -> bool:
        """Does the attribute stay as it is in this round?"""
        return attribute not in self._class_of

    def bears_on_others(self, attribute: str) -> bool:
        """May a repair of the attribute change the errors of other classes than its own?"""
        return any(attribute in groups.fd.attributes for groups in self._moving)

    def take_altered(self) -> Ints | None:
        """The classes with other counts than when this was last asked, if there are any; one may be named twice."""
        altered, self._altered = self._altered, []
        return np.concatenate(altered) if altered else None

    def close(self) -> None:
        """Let go of what was made ready to find further rows."""
        if self._unheld is not None:
            self._unheld.close()

    # ---- counting ---------------------------------------------------------------------------------------------

    def _members(self, classes: EquivalenceClasses) -> dict[str, Ints]:
        """Per attribute that has classes: the class of each row's cell, −1 for none."""
        class_of = {
            a: np.full(self.current.size, -1, dtype=np.int64) for a, groups in classes.cells.items() if len(groups)
        }
        numbers = {a: np.zeros(len(groups), dtype=np.int64) for a, groups in classes.cells.items()}
        for number, (attribute, n) in enumerate(self._places):
            numbers[attribute][n] = number
        for attribute, member in class_of.items():
            groups = classes.cells[attribute]
            member[groups.rows] = numbers[attribute][groups.groups]
        return class_of

    def _settle(self, fd: FunctionalDependency, groups: GroupedRows) -> None:
        if len(groups):
            np.add.at(self._settled, self._class_of[fd.rhs][groups.first_rows], groups.violations)
            self._settled_left += int(groups.violations.sum())

    def _move(self, fd: FunctionalDependency, groups: GroupedRows) -> None:
        fetch = None if self._unheld is None else self._fetch
        self._moving.append(ChangingGroups(fd, groups, self.current, self._class_of, len(self), self._changed, fetch))
        self._moving[-1].foresee(self.classes.cells)

    def _fetch(self, fd: FunctionalDependency, values: list[list[str | None]]) -> None:
        """Hold all rows that have some values on the left side of the dependency."""
        assert self._unheld is not None
        new = self._unheld.hold(fd, values, self.current)
        if len(new):
            for attribute, member in self._class_of.items():
                self._class_of[attribute] = np.concatenate([member, np.full(len(new), -1, dtype=np.int64)])
            for groups in self._moving:
                groups.admit(new)

    def _changed(self, numbers: Ints, by: Ints) -> None:
        self.errors[numbers] += by
        self.total += int(by.sum())
        self._altered.append(numbers)


def _places(classes: EquivalenceClasses) -> list[tuple[str, int]]:
    """(attribute, number in the attribute) of each class, in the order that breaks ties."""
    firsts = [
        (row, column, attribute, n)
        for column, (attribute, groups) in enumerate(classes.cells.items())
        for n, row in enumerate(groups.first_rows.tolist())
    ]
    return [(attribute, n) for _, _, attribute, n in sorted(firsts)]
