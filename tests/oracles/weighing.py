"""The client that weighs, to the letter: every explanation of a group, cell by cell, in exact fractions.

What was learnt (rates, and how likely rows stand in the wrong group) is given, as the fractions that the floats are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import exp, factorial, log, prod
from typing import NamedTuple

from oracles import distance as deltas
from oracles.cleaning import Dependency, Row, tree_of
from oracles.tree import Tree, Value

ONE = Fraction(1)
NONE = Fraction(0)
MOST_CANDIDATES = 8
MARGIN = Fraction(0.3)
PAID_MARGIN = Fraction(0.1)
SURE = Fraction(9, 10)
CERTAIN = Fraction(0.995)
SPOILT = Fraction(0.5)
TIE = Fraction(1e-9)


def total(numbers: Iterator[Fraction] | Sequence[Fraction]) -> Fraction:
    return sum(numbers, NONE)


def clip(number: Fraction, low: Fraction, high: Fraction) -> Fraction:
    return min(max(number, low), high)


class Rates(NamedTuple):
    """What was learnt about one dependency."""

    wrong: Fraction
    overwritten: Fraction
    confusion: Mapping[Value, Fraction]
    lean: Fraction
    mixed: Fraction = NONE
    """How likely groups are mixed as a rule, and each is what it is."""

    def confused(self, value: Value) -> Fraction:
        """How often a wrong cell shows a value."""
        return max(self.confusion[value], Fraction(1e-12))

    def block(self, over: int, under: int) -> Fraction:
        """∫ uʷ (1 − u)ᵛ (1 + λ (1 − 2u)) du, term by term."""

        def beta(m: int, n: int) -> Fraction:
            return Fraction(factorial(m) * factorial(n), factorial(m + n + 1))

        return beta(over, under) * (1 + self.lean) - 2 * self.lean * beta(over + 1, under)


class Answer(NamedTuple):
    """Bought about a row of a group, which shows `shown`: it has the value `node`, or one below it."""

    node: Value
    shown: Value
    stray: Fraction
    of_group: bool = False
    """Does it follow from the left side, so that each row of the group would have had it?"""

    @property
    def least(self) -> Fraction:
        """What is left of what it rules out."""
        return Fraction(1e-60) if self.of_group else Fraction(1e-4)


class Story(NamedTuple):
    """One way in which a group came to look as it does, and how likely that is together with what is seen."""

    truth: Value | None
    """The group's value; `OTHER` for one that is none of its candidates."""
    block: Value | None
    """What a block was overwritten with; `SINGLE` if there is none, `UNSEEN` if none of its cells is seen."""
    weight: Fraction


OTHER = "(other)"
EMPTY = "(empty)"
SINGLE = "(single errors)"
UNSEEN = "(a value that no cell shows)"


class Column:
    """An attribute: its values, how they are spread, and δ between them."""

    def __init__(self, name: str, rows: Sequence[Row], trees: Mapping[str, Tree]) -> None:
        self.tree = tree_of(name, trees)
        self.has_tree = name in trees
        self.cells = [self.tree.key(row[name]) for row in rows]
        self.count = Counter(self.cells)

    def is_known(self, value: Value) -> bool:
        """May it be the truth? A ground value of the hierarchy may; without one, whatever ground value occurs."""
        if value is None or not self.tree.is_ground(value):
            return False
        return value in self.tree.known if self.has_tree else value in self.count

    def ties(self, value: Value) -> bool:
        """Do rows that share it belong together?"""
        return value is not None and self.tree.is_ground(value)

    def is_strange(self, value: Value) -> bool:
        """Is it a ground value that the hierarchy does not have?"""
        return self.ties(value) and not self.is_known(value)

    @cached_property
    def known(self) -> list[Value]:
        return sorted({v for v in [*self.tree.known, *self.count] if self.is_known(v)}, key=str)

    @cached_property
    def counted(self) -> tuple[Value, ...]:
        """The cells by which δ is measured: where a single value may be the truth, those that are none, too.

        If they are one all the same, an empty cell counts as another value.
        """
        may = self.is_known if sum(self.is_known(v) for v in self.count) > 1 else self.ties
        counted = tuple(v for v in self.cells if may(v))
        return counted if len(set(counted)) != 1 else counted + (EMPTY,) * self.count[None]

    def penalty(self, value: Value) -> Fraction:
        return Fraction(deltas.penalty(self.tree, self.counted, value))

    def distance(self, one: Value, other: Value) -> Fraction:
        return Fraction(deltas.distance(self.tree, self.counted, one, other))

    def share(self, value: Value) -> Fraction:
        """How likely a value is where nothing else is known: as often as it stands here, half a cell more."""
        if not self.is_known(value):
            return NONE
        return Fraction(2 * self.count[value] + 1, sum(2 * self.count[v] + 1 for v in self.known))

    def below(self, value: Value) -> Fraction:
        return total([self.share(v) for v in self.known if self.tree.precedes(v, value)])

    def mean_distance(self, value: Value) -> Fraction:
        """The expected δ to a value drawn by its share."""
        return total([self.share(v) * self.distance(value, v) for v in self.known])

    def level_penalty(self, level: int) -> Fraction:
        """What is still unknown about a drawn value that is known at a level."""
        return total([self.share(v) * self.penalty(self.tree.generalize(v, level)) for v in self.known])


Told = Mapping[tuple[Value, ...], "Value | None"]
"""Per group: the value that it is taken to have when others are judged by it; None if it has none that is known."""


class Groups:
    """The groups of X → B: the rows that agree on ground values in all of X."""

    def __init__(self, rows: Sequence[Row], fd: Dependency, trees: Mapping[str, Tree]) -> None:
        self.fd, self.trees = fd, trees
        self.lhs = tuple(sorted(fd.lhs))
        self.left = {a: Column(a, rows, trees) for a in self.lhs}
        self.column = Column(fd.rhs, rows, trees)
        self.members: dict[tuple[Value, ...], list[int]] = {}
        for row in range(len(rows)):
            if (key := self.key(row)) is not None:
                self.members.setdefault(key, []).append(row)

    def key(self, row: int) -> tuple[Value, ...] | None:
        values = tuple(self.left[a].cells[row] for a in self.lhs)
        return values if all(self.left[a].ties(v) for a, v in zip(self.lhs, values, strict=True)) else None

    def shown(self, key: tuple[Value, ...]) -> Counter[Value]:
        return Counter(self.column.cells[row] for row in self.members[key])

    def is_violated(self, key: tuple[Value, ...]) -> bool:
        """Do some of its values exclude each other?"""
        return any(not self.column.tree.comparable(v, w) for v, w in combinations(self.shown(key), 2))

    # ---- the prior ------------------------------------------------------------------------------------------------

    def most_frequent(self, key: tuple[Value, ...], order: Mapping[Value, int]) -> Value | None:
        """Its most frequent known value, the first of two in the given order; None if it has none."""
        known = [(-n, order[v], v) for v, n in self.shown(key).items() if self.column.is_known(v)]
        return min(known)[2] if known else None

    def by_groups(self, key: tuple[Value, ...], value: Value, told: Told) -> Fraction:
        """How likely a value is by what other groups have.

        From each value that some have, a part of a group is taken, and all of it kept for values that none has.
        """
        column = self.column
        others: list[Value] = [v for k, v in told.items() if k != key and v is not None]
        occur = [v for v in column.known if column.count[v]]
        absent = [v for v in column.known if not column.count[v]]
        counts = Counter(v for v in told.values() if v is not None)
        once, twice = (list(counts.values()).count(n) for n in (1, 2))
        taken = Fraction(once + 1, once + 2 * twice + 2)
        if value in others:
            return (others.count(value) - taken) / len(others)
        kept = taken * len(set(others)) / len(others) if others else ONE
        chance = kept / (len([v for v in occur if v not in others]) + 1)
        return chance if value in occur else chance / max(len(absent), 1)

    def prior(self, key: tuple[Value, ...], value: Value, part: Sequence[str], told: Told) -> Fraction:
        """How likely a value is by what other groups have; where a part of X tells, by those that share the part."""
        chance = self.by_groups(key, value, told)
        if part:
            places = [self.lhs.index(a) for a in part]
            near: list[Value] = [
                v for k, v in told.items() if k != key and v is not None and all(k[at] == key[at] for at in places)
            ]
            pairs = Counter((tuple(k[at] for at in places), v) for k, v in told.items() if v is not None)
            once, twice = (list(pairs.values()).count(n) for n in (1, 2))
            taken = Fraction(once + 1, once + 2 * twice + 2)
            if near:
                seen = max(near.count(value) - taken, NONE)
                chance = (seen + taken * len(set(near)) * chance) / len(near)
        column = self.column
        if column.is_known(value):
            return max(chance, Fraction(1e-9))
        strange = sum(n for v, n in column.count.items() if column.is_strange(v))
        seen = Fraction(column.count[value], strange) if column.is_strange(value) else NONE
        return max(self.uncovered * seen, Fraction(1e-15))

    @cached_property
    def uncovered(self) -> Fraction:
        """Of groups of which nine in ten rows agree, and ten more that seldom do: how many on a value unheard of."""
        agree = []
        for key, rows in self.members.items():
            for value, count in self.shown(key).items():
                if len(rows) > 1 and count >= 0.9 * len(rows) and self.column.ties(value):
                    agree.append(value)
        strange = [v for v in agree if self.column.is_strange(v)]
        return (len(strange) + Fraction(0.001 * 10)) / (len(agree) + 10)

    def part_scores(self, order: Mapping[Value, int]) -> dict[tuple[str, ...], float]:
        """How well each part of X tells a group's most frequent value, in nats a row; that of no part is ()."""
        likeliest = {k: v for k in self.members if (v := self.most_frequent(k, order)) is not None}
        rows = sum(len(self.members[k]) for k in likeliest)
        share = {v: max(float(self.column.share(v)), 1e-9) for v in likeliest.values()}

        def score(part: tuple[str, ...]) -> float:
            places = [self.lhs.index(a) for a in part]
            found = 0.0
            for key, value in likeliest.items():
                near = [v for k, v in likeliest.items() if all(k[at] == key[at] for at in places)]
                found += len(self.members[key]) / rows * log((near.count(value) - 1 + share[value]) / len(near))
            return found

        parts: list[tuple[str, ...]] = [(a,) for a in self.lhs]
        if len(self.lhs) > 2:
            parts += [tuple(b for b in self.lhs if b != a) for a in self.lhs]
        if len(self.lhs) < 2 or not likeliest:
            parts = []
        nothing = sum(len(self.members[k]) / rows * log(share[v]) for k, v in likeliest.items()) if likeliest else 0.0
        return {(): nothing + 0.1, **{part: score(part) for part in parts}}


class Posterior:
    """What is believed about one group, given rates, how each of its rows may have come here, and answers."""

    def __init__(
        self,
        groups: Groups,
        key: tuple[Value, ...],
        rates: Rates,
        elsewhere: Mapping[int, Fraction],
        answers: Sequence[Answer],
        part: Sequence[str],
        told: Told,
        order: Mapping[Value, int],
    ) -> None:
        """`elsewhere` is, per row, the chance that it came by an error of its left side; `order` settles ties."""
        self.groups, self.key, self.column = groups, key, groups.column
        self.rates, self.elsewhere, self.answers, self.told = rates, elsewhere, answers, told
        self.rows = groups.members[key]
        self.shown = groups.shown(key)
        is_known = self.column.is_known
        self.candidates = sorted(self.shown, key=lambda v: (not is_known(v), -self.shown[v], order[v]))[
            :MOST_CANDIDATES
        ]
        for answer in answers:
            if is_known(answer.node) and answer.node not in self.candidates:
                assert len(self.candidates) < MOST_CANDIDATES, "tiny tables only"
                self.candidates.append(answer.node)
        prior = {v: groups.prior(key, v, part, told) for v in self.candidates}
        if sum(prior.values()) > Fraction(0.999):
            whole = sum(prior.values())
            prior = {v: p * Fraction(0.999) / whole for v, p in prior.items()}
        self.prior = prior

    # ---- stories --------------------------------------------------------------------------------------------------

    def as_error(self, row: int) -> Fraction:
        """The chance of a cell that is wrong: by itself, or because its row came from elsewhere."""
        return self.rates.wrong * self.rates.confused(self.column.cells[row]) + self.elsewhere[row]

    def cells(self, *right: Value | None) -> Fraction:
        """The chance of all cells if those that show one of these values are no errors, and all others are."""
        chance = ONE
        for row in self.rows:
            if (shown := self.column.cells[row]) in right:
                chance *= 1 - self.rates.wrong
            elif shown is not None:  # what is missing says nothing of what it should be
                chance *= self.as_error(row)
        return chance

    def chance_of_truth(self, truth: Value) -> Fraction:
        """Before any cell is looked at, but with all answers."""
        column = self.column
        if truth == OTHER:
            chance = max(1 - total([*self.prior.values()]), Fraction(1e-6))
            for answer in self.answers:
                fitting = [v for v in self.candidates if column.tree.precedes(v, answer.node)]
                left = max(column.below(answer.node) - total([column.share(v) for v in fitting]), Fraction(1e-9))
                left /= max(1 - total([column.share(v) for v in self.candidates]), Fraction(1e-6))
                own = column.tree.precedes(answer.shown, answer.node)
                chance *= max(
                    answer.stray * own + (1 - answer.stray) * min(left, ONE), min(answer.least, Fraction(1e-6))
                )
            return chance
        chance = max(self.prior[truth], Fraction(1e-30))
        for answer in self.answers:
            fits = column.tree.precedes(truth, answer.node)
            own = column.tree.precedes(answer.shown, answer.node)
            of_row = Fraction(fits) if truth == answer.shown else answer.stray * own + (1 - answer.stray) * fits
            chance *= max(of_row, answer.least)
        return chance

    @cached_property
    def stories(self) -> list[Story]:
        rates, seen = self.rates, self.shown
        unseen = max(1 - total([rates.confusion[v] for v in self.candidates]), Fraction(1e-9))
        found = []
        for truth in [*self.candidates, OTHER]:
            chance, right = self.chance_of_truth(truth), () if truth == OTHER else (truth,)
            under = 0 if truth == OTHER else seen[truth]
            found.append(Story(truth, SINGLE, chance * (1 - rates.overwritten) * self.cells(*right)))
            of_block = chance * rates.overwritten
            for value in self.candidates:
                if value not in (truth, None) and seen[value]:
                    block = rates.confused(value) * rates.block(seen[value], under)
                    found.append(Story(truth, value, of_block * block * self.cells(*right, value)))
            found.append(Story(truth, UNSEEN, of_block * unseen * rates.block(0, under) * self.cells(*right)))
        return found

    # ---- what follows ---------------------------------------------------------------------------------------------

    @cached_property
    def _whole(self) -> Fraction:
        return total([story.weight for story in self.stories])

    @cached_property
    def weight(self) -> dict[Value, Fraction]:
        """Per candidate, and for `OTHER`: how likely it is the truth."""
        return {
            v: total([s.weight for s in self.stories if s.truth == v]) / self._whole for v in [*self.candidates, OTHER]
        }

    def block(self, truth: Value, value: Value) -> Fraction:
        """Given the truth, how likely the cells of a value are a block."""
        all_ = total([s.weight for s in self.stories if s.truth == truth])
        return total([s.weight for s in self.stories if s.truth == truth and s.block == value]) / all_

    @property
    def one_value(self) -> Fraction:
        """How likely the group should have one value: where the dependency does not hold, it is what it is."""
        return 1 - self.rates.mixed

    def chance(self, value: Value) -> Fraction:
        """How likely a value is the truth."""
        listed = value in self.candidates
        return self.weight[value] if listed else self.weight[OTHER] * self.column.share(value)

    def expected(self, value: Value) -> Fraction:
        """The expected δ of a cell that holds a value."""
        near = total([self.weight[v] * self.column.distance(value, v) for v in self.candidates])
        return near + self.weight[OTHER] * self.column.mean_distance(value)

    # ---- what would be written ------------------------------------------------------------------------------------

    def least(self) -> list[Least]:
        """The candidates of least expected δ, several if it is the same; after an answer maybe a general value."""
        written = [Least(v, self.expected(v), self.weight[v]) for v in self.candidates if self.column.ties(v)]
        best = min((one.risk for one in written), default=None)
        found = [one for one in written if best is not None and one.risk <= best + TIE]
        if not self.answers:
            return found
        starts: list[Least | None] = [*found] or [None]
        return [least for start in starts for least in self._with_answer(start)]

    def _with_answer(self, start: Least | None) -> list[Least]:
        """Of what was told, and what lies between it and a candidate, what is as good."""
        answer = self.was_told
        weight = {v: self.weight[v] for v in self.candidates}
        nearest = self.candidates[0] if start is None else start.node  # where none may be the truth: what most show
        found = least_between(self.column, weight, self.weight[OTHER], answer, nearest)
        lowest = min(one.risk for one in found)
        if start is None or lowest < start.risk:
            return found
        return [*found, start] if lowest < start.risk + 2 * TIE else [start]

    def overrules(self, least: Least | None) -> bool:
        """Is it another value than the majority's, not certain, where blocks are rare and nothing was bought?

        So they are taken to be where there are few groups. Or, where two thirds agree, was nothing told but that rows
        of the group show what they should?
        """
        if least is None or self.shown[least.node] >= self.majority:
            return False
        if self.answers:
            return self.are_but_confirmed
        return (self.rates.overwritten < Fraction(0.05) or self.are_few) and self.uncertain(least) > 0

    @property
    def are_few(self) -> bool:
        """Has the dependency fewer than ten groups of several rows?"""
        return sum(len(rows) > 1 for rows in self.groups.members.values()) < 10

    @property
    def are_but_confirmed(self) -> bool:
        """Is each answer about a row that shows it, where two thirds of the group agree?"""
        tree = self.column.tree
        if any(answer.of_group or not tree.precedes(answer.shown, answer.node) for answer in self.answers):
            return False
        return 3 * self.majority >= 2 * len(self.rows)

    @property
    def most_shown(self) -> Value:
        return next(v for v, n in self.shown.items() if self.column.ties(v) and n == self.majority)

    @property
    def majority(self) -> int:
        """How many cells show the most frequent value that may be the truth."""
        return max((n for v, n in self.shown.items() if self.column.ties(v)), default=0)

    def uncertain(self, least: Least) -> Fraction:
        """By how much it is not certain enough: too many right cells may be spoilt, or single errors be likelier."""
        if self.rates.overwritten > self.rates.wrong and not self.are_few:
            return (1 - least.sure) * self.majority - SPOILT
        return CERTAIN - least.sure

    # ---- what an answer is worth ----------------------------------------------------------------------------------

    def now(self, careful: Fraction, least: Least | None, one: Fraction) -> Fraction:
        """A cell's expected δ as it would be decided without an answer."""
        kept = total([self.expected(self.column.cells[row]) for row in self.rows]) / len(self.rows)
        sure = least is not None and one * least.sure >= careful and not self.overrules(least)
        writes = least is not None and (sure or (bool(self.answers) and not self.overrules(least)))
        return min(kept, least.risk) if writes and least is not None else kept

    def after(self, level: int) -> Fraction:
        """A cell's expected δ after an answer at a level, over all that the answer may be."""
        column = self.column
        tree, told = column.tree, self.was_told
        usable = [v for v in self.candidates if column.is_known(v)]
        listed = total([column.share(v) for v in usable if tree.precedes(v, told)])
        other = self.weight[OTHER]
        expected, covered = NONE, NONE
        for node in dict.fromkeys(tree.generalize(v, level) for v in usable):
            below = [v for v in usable if tree.generalize(v, level) == node]
            inside, finest = NONE, node
            if tree.precedes(told, node):
                inside, finest = other, told
            elif tree.precedes(node, told):
                unlisted = column.below(node) - total([column.share(v) for v in below])
                inside = clip(unlisted / max(column.below(told) - listed, Fraction(1e-6)), NONE, ONE) * other
            covered += inside
            guesses = [
                total([self.weight[w] * column.distance(v, w) for w in below])
                + Fraction(1.6) * inside * column.penalty(finest)
                for v in below
            ]
            itself = total([self.weight[v] for v in below]) * column.penalty(node) + inside * column.penalty(finest)
            expected += min([*guesses, itself])
        is_news = level < tree.level(told)
        unknown = min(column.level_penalty(level), column.penalty(told)) if is_news else column.penalty(told)
        return expected + max(other - covered, NONE) * unknown

    @property
    def was_told(self) -> Value:
        """What the answer that is least in doubt says; without one, the root."""
        tree = self.column.tree
        return min(self.answers, key=lambda a: (a.stray, tree.level(a.node))).node if self.answers else tree.root

    def worth(
        self, level: int, careful: Fraction, stays: Mapping[int, Fraction], least: Least | None, one: Fraction
    ) -> Fraction:
        """The δ that an answer at a level is expected to remove, in all cells that belong here; none at the root."""
        if level >= self.column.tree.height:
            return NONE
        size = total([stays[row] for row in self.rows])
        return max(self.now(careful, least, one) - self.after(level), NONE) * size * one


class Least(NamedTuple):
    """A value that may be written, its expected δ, and how likely it is right."""

    node: Value
    risk: Fraction
    sure: Fraction


def least_between(
    column: Column, weight: Mapping[Value, Fraction], other: Fraction, answer: Value, start: Value
) -> list[Least]:
    """Of an answer, and of what lies between it and a candidate, what is of least risk, several if it is the same:
    the finest that is sure, or else the surest. `other` is the weight of what is below the answer, and not listed."""
    tree = column.tree
    nodes = [answer]
    if start is not None and tree.precedes(start, answer):
        nodes += [tree.generalize(start, at) for at in range(tree.level(answer))]
    found = [
        Least(
            node,
            total([p * column.distance(node, v) for v, p in weight.items()]) + other * column.penalty(answer),
            total([p for v, p in weight.items() if tree.precedes(v, node)])
            + other * column.below(node) / max(column.below(answer), Fraction(1e-12)),
        )
        for node in nodes
    ]
    lowest = min(one.risk for one in found)
    as_good = [one for one in found if one.risk <= lowest + 2 * TIE]
    surest = max(one.sure for one in found if one.risk <= lowest + TIE)
    sure = [one for one in as_good if one.sure >= SURE + TIE]
    finest = min((tree.level(one.node) for one in sure), default=None)
    return [
        one
        for one in as_good
        if (tree.level(one.node) == finest if one in sure else finest is None and one.sure >= surest - TIE)
        or abs(one.sure - SURE) <= TIE
    ]


class Decision(NamedTuple):
    """What is done with a cell, why, and how near that is to being decided otherwise."""

    node: Value
    """The value of least expected δ; `NOTHING` if there is none."""
    sure: Fraction
    paid: bool
    firm: bool
    keep: Fraction
    """The expected δ if it is left."""
    gain: Fraction
    """By how much writing lowers that."""
    written: bool
    in_doubt: bool
    nearest: Fraction
    """The least distance of a number to the threshold it is compared with."""

    @property
    def helps(self) -> Fraction:
        """By how much the risk falls by more than it must: three tenths of leaving the cell, a tenth if it is paid."""
        return self.gain - max((PAID_MARGIN if self.paid else MARGIN) * self.keep, TIE)

    def decided(self, doubt: Fraction, careful: float) -> Decision:
        """What is written helps, and is sure, or paid for and firm. Else, if it may be wrong, the cell is in doubt."""
        written = self.helps > 0 and (self.sure >= Fraction(careful) or (self.paid and self.firm))
        doubted = Fraction(min(1 - careful, 0.5))
        nearest = min(map(abs, [self.nearest, self.helps, self.sure - Fraction(careful), doubt - doubted]))
        return self._replace(written=written, in_doubt=not written and doubt > doubted, nearest=nearest)


NOTHING = "(nothing)"


def decide(
    posterior: Posterior,
    row: int,
    least: Least | None,
    fits: Fraction,
    stays: Fraction,
    careful: float,
    most: Fraction | None,
) -> Decision:
    """A right-hand cell of a group that is violated, or was asked about.

    What a wrong left side explains is right as it is: `stays` is how likely the left side is right, `fits` how likely
    the cell's value is its group's. So is every cell of a group that is what it is. What was paid for must be firm:
    likelier right than not if its left side is `most` times as likely wrong; where no errors could be tried (None), the
    row hardly be from elsewhere.
    """
    column, one = posterior.column, posterior.one_value
    shown = column.cells[row]
    astray, miss = 1 - stays, max(1 - fits, Fraction(1e-9))
    here = clip(1 - astray / miss, NONE, ONE)
    keep, paid, half = one * here * posterior.expected(shown), bool(posterior.answers), Fraction(1, 2)
    if least is None:
        return Decision(NOTHING, NONE, paid, False, keep, NONE, False, False, ONE).decided(one * miss, careful)
    gain, nearest = NONE, abs(posterior.uncertain(least))
    if least.node != shown and not posterior.overrules(least):
        gain = keep - one * here * least.risk - (one * astray + 1 - one) * column.distance(least.node, shown)
    if most is None:
        firm = astray < Fraction(0.2) and one >= half
        nearest = min(nearest, abs(astray - Fraction(0.2)), abs(one - half))
    else:
        firmly = one * least.sure * (1 - astray * most)
        firm, nearest = firmly >= half, min(nearest, abs(firmly - half))
    sure = one * least.sure * (1 - astray)
    return Decision(least.node, sure, paid, firm, keep, gain, False, False, nearest).decided(one * miss, careful)


def lean_likelihoods(posteriors: Sequence[Posterior]) -> list[float]:
    """Per λ from −1 to 1 in steps of a tenth: the log chance of the groups in which a block is seen.

    Each counts as far as it is a block. It is the camp that is likelier right, or the other one, that is right; and as
    likely as each was before λ is turned, times what λ says of blocks of such a share over what it said before.
    """
    found = []
    for lean in [Fraction(step, 10) for step in range(-10, 11)]:
        chance = 0.0
        for posterior in posteriors:
            first, *_ = sorted(posterior.candidates, key=lambda v: -posterior.weight[v])
            second, *_ = sorted(posterior.candidates, key=lambda v: -posterior.block(first, v))
            if posterior.block(first, second) <= Fraction(1, 2):
                continue
            over, under = posterior.shown[second], posterior.shown[first]
            now = posterior.rates.lean
            turn = 1 - 2 * Fraction(over + 1, over + under + 2)
            right = posterior.weight[first] * (1 + lean * turn) / (1 + now * turn)
            other = posterior.weight[second] * (1 - lean * turn) / (1 - now * turn)
            chance += float(posterior.block(first, second)) * log(right + other)
        found.append(chance)
    return found


def left_options(
    groups: Groups, row: int, believed: Mapping[tuple[Value, ...], Value], most: int = 6
) -> set[tuple[str, Value]]:
    """What else a row's left side may be: of the groups that differ in one attribute and are believed to hold what the
    row shows, the largest. `believed` are the groups that hold a value with more than half a chance."""
    key, found = groups.key(row), set()
    assert key is not None
    for at, attribute in enumerate(groups.lhs):
        near = [
            other
            for other, value in believed.items()
            if value == groups.column.cells[row]
            and other[at] != key[at]
            and all(other[i] == key[i] for i in range(len(key)) if i != at)
        ]
        near.sort(key=lambda other: (-len(groups.members[other]), groups.members[other][0]))
        found |= {(attribute, other[at]) for other in near[:most]}
    return found


def option_odds(
    here: Posterior,
    there: Posterior,
    row: int,
    column: Column,
    share: Fraction,
    own: Mapping[Value, Fraction],
    *,
    unlike: bool,
) -> Fraction:
    """How much likelier a row is if its left value is wrong and it belongs `there`, where it is `here`.

    `share` is how often it is this attribute that is wrong, `column` the attribute's, and `own` how often right-hand
    cells that are wrong show each value. `unlike`: is what the row shows not what its group holds?
    """
    shown, wrong = here.column.cells[row], here.rates.wrong
    written = max(Fraction(column.count[column.cells[row]]), Fraction(1, 2)) / len(column.cells)
    sizes = (len(there.rows) + Fraction(0.1)) / max(len(here.rows) - 1 + Fraction(0.1), Fraction(0.1))
    as_error = wrong * own[shown]
    fits = there.chance(shown)
    then = fits * (1 - wrong) + (1 - fits) * as_error
    return share * written * sizes * then / (as_error if unlike else 1 - wrong)


def fit(posterior: Posterior | None, column: Column, shown: Value, wrong: Fraction, own: Fraction) -> Fraction:
    """How likely a row shows a value in a group; without one (None), as any value of the column."""
    chance = column.share(shown) if posterior is None else posterior.chance(shown)
    return chance * (1 - wrong) + (1 - chance) * wrong * own


def beside_others(sure: Fraction, others: Sequence[Fraction]) -> Fraction:
    """How likely a change is right where each of some others would do instead: one of them at most is, or none.

    Where they are sure by one together, or by less, that is so already.
    """
    if sure + sum(others) <= 1:
        return sure
    every = [sure, *others]
    ways = [prod((p if i == right else 1 - p for i, p in enumerate(every)), start=ONE) for right in range(len(every))]
    return ways[0] / (total(ways) + prod((1 - p for p in every), start=ONE))


def rising(values: Sequence[Fraction], weights: Sequence[Fraction]) -> list[Fraction]:
    """The nearest sequence that never falls: at each place the greatest, over where a stretch begins, of the least mean
    over where it ends."""

    def mean(start: int, end: int) -> Fraction:
        part = range(start, end + 1)
        return total([values[i] * weights[i] for i in part]) / total([weights[i] for i in part])

    places = range(len(values))
    return [max(min(mean(a, b) for b in places if b >= i) for a in places if a <= i) for i in places]


def calibrated(
    cuts: Sequence[float],
    left: Sequence[float],
    right: Sequence[float],
    rows: Sequence[tuple[float, float]],
    elsewhere: Sequence[float],
) -> tuple[float, list[float]]:
    """The share of left errors, and each row's log odds of one, by the scores of errors that were tried out.

    `rows` are scores and weights of rows in conflict, `elsewhere` the log chance of each share by other left sides.
    """

    def place(score: float) -> int:
        return sum(cut <= score for cut in cuts)

    def spread(scores: Sequence[float]) -> list[Fraction]:
        count = Counter(map(place, scores))
        size = len(cuts) + 1
        return [(count[i] + Fraction(1, 2)) / (len(scores) + Fraction(size, 2)) for i in range(size)]

    lefts, rights = spread(left), spread(right)
    shares = [0.0005, *(0.02 + 0.02 * step for step in range(49)), 0.9995]
    at_first = [0.3, *([0.4 / 49] * 49), 0.3]
    seen = [
        sum(w * log(s * lefts[place(score)] + (1 - s) * rights[place(score)]) for score, w in rows) + other / 2
        for s, other in zip(shares, elsewhere, strict=True)
    ]
    believed = [exp(one - max(seen)) * first for one, first in zip(seen, at_first, strict=True)]
    odds = sum(b * log(s / (1 - s)) for b, s in zip(believed, shares, strict=True)) / sum(believed)
    ratios = [Fraction(log(a / b)) for a, b in zip(lefts, rights, strict=True)]
    ratio = rising(ratios, [a + b for a, b in zip(lefts, rights, strict=True)])
    return 1 / (1 + exp(-odds)), [min(max(float(ratio[place(score)]) + odds, -12.0), 12.0) for score, _ in rows]
