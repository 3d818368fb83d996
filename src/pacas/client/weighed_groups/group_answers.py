"""What was bought about the groups of a dependency, and what it says of the values that may be their truth."""

from __future__ import annotations

import numpy as np

from pacas.client.weighed_groups.source_trust import GroupAnswer, SourceTrust
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints

LEAST_OF_ROW, LEAST_OF_GROUP = 1e-4, 1e-60
"""What is left of a value that an answer rules out: if it is about a row of the group, and if about the group itself,
whoever of it is asked. Then all its cells may be wrong, however many agree."""


class GroupAnswers(dict[int, list[GroupAnswer]]):
    """By group: what was bought about it."""

    def __init__(self, column: WeighedColumn) -> None:
        super().__init__()
        self._column = column
        self.trust = SourceTrust()
        """How often each of several providers is right."""

    def add(self, group: int, answer: GroupAnswer) -> None:
        """What one of several providers says at a finer level is in the place of what it said before."""
        self[group] = [*(one for one in self.get(group, ()) if not answer.is_by_the_same(one)), answer]

    def told(self, group: int) -> int:
        """What the answer says that is least in doubt, the finest of several; without one, the root."""
        tree, answers = self._column.tree, self.get(group)
        return min(answers, key=lambda a: (a.stray, int(tree.level[a.node]))).node if answers else int(tree.root)

    def fits(self, answer: GroupAnswer, codes: Ints | int) -> Mask:
        """Whether codes are among what an answer means."""
        if answer.said is not None and answer.said.inside is not None:
            return np.asarray(answer.said.inside[codes])
        return self._column.tree.precedes(np.asarray(codes, dtype=np.int32), answer.node)

    def of_others(self, answer: GroupAnswer, candidates: Ints) -> float:
        """How likely a value that is no candidate (−1: none) is among what an answer means."""
        share = self._column.share
        if answer.said is not None and answer.said.inside is not None:
            meant = float(share[answer.said.inside].sum())
        else:
            meant = float(self._column.below[answer.node])
        listed = candidates[candidates >= 0]
        left = max(meant - float(share[listed[self.fits(answer, listed)]].sum()), 1e-9)
        return min(left / max(1 - float(share[listed].sum()), 1e-6), 1.0)

    def log_chances(self, group: int, candidates: Ints) -> tuple[Floats, float]:
        """The log chance of what was told of a group, for each candidate (−1: none) as its truth, and for any other.

        An answer is about the row that was asked, and so about its group.
        """
        here, code = candidates >= 0, np.maximum(candidates, 0)
        log_each, log_others = np.zeros(len(candidates)), 0.0
        for answer in self[group]:
            fits = self.fits(answer, code) & here
            own = answer.stray * float(self.fits(answer, answer.shown))
            of_each = np.where(candidates == answer.shown, fits, own + (1 - answer.stray) * fits)
            of_others = own + (1 - answer.stray) * self.of_others(answer, candidates)
            if answer.said is not None:
                of_each, of_others = self.trust.doubted(answer, of_each), float(self.trust.doubted(answer, of_others))
            least = LEAST_OF_GROUP if answer.of_group else LEAST_OF_ROW
            log_each += np.where(here, np.log(np.maximum(of_each, least)), 0)
            log_others += float(np.log(max(of_others, min(least, 1e-6))))
        return log_each, log_others
