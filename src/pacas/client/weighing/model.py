"""What the client believes about its table: beliefs about groups and about rows, fitted in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.block_lean import lean_likelihood, learnt_leans
from pacas.client.weighed_groups.exceptions import told_exceptions
from pacas.client.weighed_groups.few_rows import FewRows, row_by_row
from pacas.client.weighed_groups.learning import Learning
from pacas.client.weighed_groups.left_side import LeftSide
from pacas.client.weighed_groups.source_trust import GroupAnswer, Said, Trusts
from pacas.client.weighed_groups.weighed_column import WeighedColumn
from pacas.client.weighed_rows.misplaced import Misplaced
from pacas.client.weighed_rows.row_options import OptionFinder
from pacas.client.weighed_rows.side_by_side import side_by_side
from pacas.client.weighed_rows.witnesses import Witnesses
from pacas.core.dependency import FunctionalDependency
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn
from pacas.engine.contract import Hierarchies

TAKEN_AS_TOLD = 0.8
"""What one of several providers says of a single row counts as it is if it is right as often as this, or more."""

TRUST_TURNS = 8

ROUNDS = 6
"""Beliefs about groups and about rows are weighed in turn so often at first."""

FIRST = 2
"""For so many rounds it is not learnt yet how often there are blocks: strays look like them."""


SETTLED = 0.02
"""Rates that change by less than this share are settled."""
LEAST_STRAY = 0.05
"""However rare they seem: that one row has its own value must not tell what all others of its group should have."""


class _Settled(NamedTuple):
    """What was believed before anything was bought, and what would follow from that if all were weighed once more."""

    leans: list[float]
    learnt_leans: list[float]
    given: dict[LeftSide, FewRows]
    came: dict[Belief, FewRows]
    """What groups were weighed by."""
    stays: dict[LeftSide, FewRows]
    elsewhere: dict[Belief, FewRows]
    """What they would be weighed by next."""


def _moved(given: FewRows, before: FewRows, now: FewRows, *, least: float, most: float) -> FewRows:
    """What was given, moved as far as what it follows from has moved."""
    return row_by_row(lambda given, before, now: np.clip(given + now - before, least, most), given, before, now)


class Model:
    """Beliefs, and the evidence they come from: the client's own table, its dependencies, and what was bought."""

    def __init__(
        self,
        fds: Sequence[FunctionalDependency],
        columns: Mapping[str, CodedColumn],
        hierarchies: Hierarchies,
        match_columns: Mapping[str, Sequence[str]],
        cells: Mapping[str, Ints] | None = None,
        *,
        further: bool = False,
    ) -> None:
        """`columns` are all that may say something; `match_columns` are those by which each sold attribute is found.

        `cells` are rows by attribute that somebody else has found wrong. Whoever looks `further` weighs all columns.
        """
        named = list(dict.fromkeys([*(a for fd in fds for a in fd.attributes), *(cells or ())]))
        self.columns = {a: WeighedColumn(a, columns[a], hierarchies.get(a)) for a in named}
        self.rows = len(next(iter(self.columns.values())).codes)
        lefts = list(dict.fromkeys(tuple(sorted(fd.lhs)) for fd in fds))
        found = side_by_side(lambda lhs: LeftSide([self.columns[a] for a in lhs]), lefts, self.rows)
        sides = dict(zip(lefts, found, strict=True))
        by_side = [(fd, sides[tuple(sorted(fd.lhs))]) for fd in fds]
        grouped = [(fd, side) for fd, side in by_side if side.count]
        self.beliefs = side_by_side(lambda of: Belief(*of, self.columns[of[0].rhs]), grouped, self.rows)
        """Of the dependencies that have a group: where left sides are all nulls, there is nothing to believe."""
        self._learning = [Learning(belief) for belief in self.beliefs]
        for belief in self.beliefs:
            if not belief.tells:
                outside = (c.codes for name, c in columns.items() if name not in belief.fd.attributes)
                belief.exceptions = told_exceptions(belief, outside)
        others = {a: c for a, c in columns.items() if a not in self.columns}
        finder = OptionFinder(self.columns, self.beliefs, Witnesses(self.columns, others))
        self.cells = {name: np.asarray(rows) for name, rows in (cells or {}).items()}
        self.misplaced = Misplaced(finder, self.rows)
        if further:
            more = {a: WeighedColumn(a, c, hierarchies.get(a)) for a, c in others.items()}
            self.columns = {a: self.columns.get(a) or more[a] for a in columns}
        self._match_columns = match_columns
        self.trust = Trusts()
        """How often each of several providers is right."""
        for belief in self.beliefs:
            belief.answers.trust = self.trust.of(belief.fd.rhs)
        self.answered: dict[tuple[int, str], int] = {}
        """Per (row, attribute) that an answer is about, and not its group: the finest that was bought."""
        self._settled: _Settled | None = None
        if self.beliefs:
            self._fit(ROUNDS, at_first=True)

    @property
    def left_attributes(self) -> list[str]:
        return self.misplaced.finder.attributes

    @property
    def is_overtaken(self) -> bool:
        """Have answers told since all was weighed whether a dependency holds?"""
        return any(belief.answered_camps.is_overtaken(belief.rates.mixed) for belief in self.beliefs)

    def fit_again(self) -> None:
        """Weigh again, with what was bought since."""
        if self.beliefs:
            self._settle()
            self._fit(1)
            self._learn_trust()

    def _learn_trust(self) -> None:
        """Who of several is right how often, and what that makes of the groups they were asked about, in turn."""
        sources = [b for b in self.beliefs if any(found[0].said for found in b.answers.values())]
        for _ in range(TRUST_TURNS if sources else 0):
            for attribute, trust in self.trust.by_attribute.items():
                about = [belief for belief in sources if belief.fd.rhs == attribute]
                trust.learn(
                    (answer.said.source, belief.expected_right(group, answer))
                    for belief in about
                    for group, answers in belief.answers.items()
                    for answer in answers
                    if answer.said is not None
                )
            for belief in sources:
                belief.weigh_some(np.array(sorted(belief.answers), dtype=np.int64))

    def _fit(self, rounds: int, *, at_first: bool = False) -> None:
        before = self._rates()
        for number in range(rounds):
            self._weigh(trying=at_first)
            self._learn(blocks=not at_first or number >= FIRST)
            now = self._rates()
            if number > (FIRST if at_first else 0) and np.allclose(now, before, rtol=SETTLED, atol=1e-4):
                break
            before = now
        self._weigh(trying=at_first)

    def _learn(self, *, blocks: bool) -> None:
        for learning in self._learning:
            learning.learn(blocks=blocks)
        if blocks:
            at = self._settled
            for number, (belief, lean) in enumerate(zip(self.beliefs, self._learnt_leans(), strict=True)):
                moved = lean if at is None else float(np.clip(at.leans[number] + lean - at.learnt_leans[number], -1, 1))
                belief.rates = replace(belief.rates, lean=moved)
        self.misplaced.learn()

    def _learnt_leans(self) -> list[float]:
        return learnt_leans([lean_likelihood(belief.camps(), belief.rates.lean) for belief in self.beliefs])

    def _settle(self) -> None:
        """Before the first answer: what is learnt after it moves as far as answers move it.

        Rounds end before nothing moves any more: without this, answers that say what was believed would move much.
        """
        if self._settled is not None or not self.beliefs:
            return
        misplaced = self.misplaced
        leans = [belief.rates.lean for belief in self.beliefs]
        self._settled = _Settled(
            leans, self._learnt_leans(), *self._given, dict(misplaced.stays), dict(misplaced.from_elsewhere)
        )
        for learning in self._learning:
            learning.settle()
        misplaced.settle()

    def _rates(self) -> list[float]:
        """What is learnt: if it stays, so do beliefs."""
        shares = [self.misplaced.share.get(belief.side, 0.5) for belief in self.beliefs]
        return shares + [rate for b in self.beliefs for rate in (b.rates.wrong, b.rates.overwritten, b.rates.unlike)]

    def _weigh(self, *, trying: bool) -> None:
        stays, came = dict(self.misplaced.stays), dict(self.misplaced.from_elsewhere)
        if (at := self._settled) is not None:
            stays = {
                side: _moved(at.given[side], at.stays[side], now, least=0.001, most=1.0) for side, now in stays.items()
            }
            came = {
                belief: _moved(at.came[belief], at.elsewhere[belief], now, least=-np.inf, most=0.0)
                for belief, now in came.items()
            }
        self._given = stays, came
        side_by_side(lambda belief: belief.weigh(stays[belief.side], came[belief]), self.beliefs, self.rows)
        self.misplaced.weigh(trying=trying)

    # ---- answers ----------------------------------------------------------------------------------------------

    def is_by_group(self, belief: Belief) -> bool:
        """Whether all that an answer follows from is on the left side: then it is about the group, whoever is asked."""
        columns = self._match_columns.get(belief.fd.rhs)
        return columns is not None and set(columns) <= set(belief.side.attributes)

    def is_about_groups(self, attribute: str) -> bool:
        """Whether answers about an attribute are about groups, whichever row is asked about."""
        about = [belief for belief in self.beliefs if belief.fd.rhs == attribute]
        return bool(about) and all(self.is_by_group(belief) for belief in about)

    def _is_of_others(self, attribute: str, row: int) -> bool:
        """Whether an answer about a row is about what it shares with others of a group: they would get the same."""
        about = [belief for belief in self.beliefs if belief.fd.rhs == attribute and self.is_by_group(belief)]
        groups = [(belief, int(belief.side.group[row])) for belief in about]
        return any(group >= 0 and belief.side.size[group] > 1 for belief, group in groups)

    def exchangeable(self, attribute: str) -> set[str]:
        """The attributes that it tells, and that tell it: of two that contradict each other either may be wrong."""
        told = {belief.fd.rhs for belief in self.beliefs if attribute in belief.side.attributes}
        return told & {a for belief in self.beliefs if belief.fd.rhs == attribute for a in belief.side.attributes}

    def supposed(self, attribute: str, row: int) -> str:
        """What may be the true value of a row: any of its group, as often as it is likely."""
        column = self.columns[attribute]
        code = int(column.codes[row])
        for belief in self.beliefs:
            if belief.fd.rhs == attribute and (group := int(belief.side.group[row])) >= 0:
                code = belief.drawn(group)
        if attribute in self.left_attributes:
            code = self.misplaced.likeliest(row, attribute, code)
        return str(column.tree.label(code))

    def stray(self, belief: Belief, row: int) -> float:
        """How likely a row is from elsewhere, if its value is not its group's and an answer is about the row itself."""
        if self.is_by_group(belief) or not belief.column.known[belief.column.codes[row]]:
            return 0.0
        weighed = float(self.misplaced.if_unlike[row])
        return max(weighed if weighed > 0 else self.misplaced.share.get(belief.side, 0.0), LEAST_STRAY)

    def tells_strays(self, belief: Belief) -> bool:
        """Is it known how well strays are told from others? Where blocks are common, a row may be part of one."""
        return self.misplaced.has_tried(belief.side) and belief.rates.blocks_are_rare

    def tell(self, attribute: str, row: int, node: int, said: Said | None = None) -> None:
        """Take in what was bought about a row; of several providers, by whom."""
        self._settle()
        is_of_others = self._is_of_others(attribute, row)
        for belief in self.beliefs:
            group = int(belief.side.group[row])
            if belief.fd.rhs == attribute and group >= 0:
                shown = int(belief.column.codes[row])
                if not (is_of_others or self.is_by_group(belief)):
                    self._tell_row(belief, row, group, shown, node)
                belief.tell(group, GroupAnswer(node, shown, self.stray(belief, row), said, self.is_by_group(belief)))
        if is_of_others or self.is_about_groups(attribute):
            return  # whoever has bought a diagnosis's code does not know whether the row's diagnosis is right
        if said is None or self.trust.of(attribute)[said.source] >= TAKEN_AS_TOLD:
            before = self.answered.get((row, attribute))
            if before is None or self.columns[attribute].tree.precedes(node, before):
                self.answered[row, attribute] = node
        if attribute in self.left_attributes and self.columns[attribute].known[node]:
            self.misplaced.bought[row, attribute] = node

    def _tell_row(self, belief: Belief, row: int, group: int, shown: int, node: int) -> None:
        """Where the answer is about the row: is it its right side that is wrong, or its left?"""
        tree, should = belief.column.tree, int(belief.likeliest[group])
        if not tree.precedes(shown, node):
            self.misplaced.told[row] = False
        elif belief.answered_camps.are_open and shown in belief.answered_camps.of(group):
            return  # it may be right beside others of its group
        elif should >= 0 and not tree.precedes(should, node):
            self.misplaced.told[row] = True
