"""Where most groups of a dependency have two camps: is one of them a block, or are both right, as answers say?

Sources that contradict each other look like a dependency that does not quite hold: each of two states has its own
average of a measure. That one camp is right, in a row that was asked about, says of the other that it is wrong only if
the dependency holds. So rows of both are asked, the smaller one first: where it is wrong, that settles the group, too.
"""

from __future__ import annotations

import numpy as np

from pacas.client.weighed_groups.group_answers import GroupAnswers
from pacas.client.weighed_groups.rates import mixed_by_answers
from pacas.core.distance import Floats
from pacas.core.histogram import Ints

CAMP = 2
"""So many cells of a group that agree are no single errors."""

HARDLY = 0.01
"""A dependency holds if it does not with less than this chance."""

OVERTAKEN = 2
"""All is weighed again where answers make it so many times less likely that a dependency holds, or more."""


class AnsweredCamps:
    """The camps of a dependency's groups, and what was told of rows that show them."""

    def __init__(self, offsets: Ints, value: Ints, count: Floats, answers: GroupAnswers) -> None:
        """The pairs of group g are those from `offsets[g]` on: a value, and how many of its cells show it.

        `answers` are those there are by now.
        """
        self._offsets, self._value, self._count = offsets, value, count
        self._answers = answers
        self._both, self._one = 0, 0
        """In how many groups two camps are right in rows that were asked, and in how many others one is wrong."""
        self.are_usual = False
        """Have most groups two camps, though the left side tells its value?"""

    @property
    def mixed(self) -> float:
        """How likely the dependency does not hold; until some group has two truths, nothing says so."""
        return mixed_by_answers(self._both, self._one) if self.are_usual and self._both else 0.0

    @property
    def are_open(self) -> bool:
        """May both camps be right?"""
        return self.are_usual and mixed_by_answers(self._both, self._one) > HARDLY

    def is_overtaken(self, mixed: float) -> bool:
        """Is it by now far likelier, or less likely, that the dependency does not hold?"""
        now, before = 1 - self.mixed, 1 - mixed
        return self.are_usual and (now * OVERTAKEN < before or before * OVERTAKEN < now)

    def of(self, group: int) -> list[int]:
        """The values that several rows of a group show, the most frequent one last."""
        pairs = slice(self._offsets[group], self._offsets[group + 1])
        value, count = self._value[pairs], self._count[pairs]
        several = np.flatnonzero(count >= CAMP)
        return [int(value[at]) for at in several[np.argsort(count[several], kind="stable")]]

    def told(self, group: int) -> tuple[set[int], set[int]]:
        """The camps of a group that alone are right in a row that shows them and was asked; and those that are not."""
        camps, right, wrong = self.of(group), set(), set()
        for answer in self._answers.get(group, ()):
            if answer.of_group or answer.shown not in camps:
                continue
            if not self._answers.fits(answer, answer.shown):
                wrong.add(answer.shown)
            elif not any(self._answers.fits(answer, camp) for camp in camps if camp != answer.shown):
                right.add(answer.shown)
        return right, wrong

    def count(self, group: int, times: int) -> None:
        """Count what is told of a group (1), or no longer so (−1)."""
        right, wrong = self.told(group)
        self._both += times * (len(right) > 1)
        self._one += times * (len(right) < 2 and bool(wrong))

    def next_to_ask(self, group: int) -> int | None:
        """The camp of a group of which a row is to be asked, until one of two is said to be wrong, or both right."""
        if not self.are_open or len(camps := self.of(group)) < 2:
            return None
        right, wrong = self.told(group)
        return None if wrong else next((camp for camp in camps[-2:] if camp not in right), None)

    def is_undecided(self, group: int) -> bool:
        """Was a camp of a group, where both may be right, said to be right, and none to be wrong?"""
        if not self.are_open or len(self.of(group)) < 2:
            return False
        right, wrong = self.told(group)
        return bool(right) and not wrong

    def has_two_truths(self, group: int) -> bool:
        """Are two camps right, by what was told of rows that show them? Who is asked further is right, too."""
        return self.are_open and len(self.told(group)[0]) > 1
