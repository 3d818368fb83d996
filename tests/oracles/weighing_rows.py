"""The client that weighs, to the letter: what is done with each cell of a table, and what each question is worth.

What was learnt is given, as the fractions that the floats are: what is believed of groups follows from that, and how
likely each row's left side is wrong, and should be what. All else is done cell by cell, and row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

from oracles.cleaning import Row
from oracles.tree import Tree, Value
from oracles.weighing import (
    NONE,
    NOTHING,
    ONE,
    Column,
    Decision,
    Groups,
    Least,
    Posterior,
    beside_others,
    decide,
    fit,
    least_between,
    total,
)
from oracles.written_for import written_for

HALF = Fraction(1, 2)
UNLISTED = Fraction(0.05)
OPEN = Fraction(0.01)
Key = tuple[Value, ...]


class Option(NamedTuple):
    """A left value that a row may have had."""

    attribute: str
    value: Value
    hit: Fraction
    """How likely it is true, if the left side is wrong."""


class Suspect(NamedTuple):
    """A row that may stand in the wrong group."""

    wrong: Fraction
    """How likely its left side is wrong."""
    options: Sequence[Option]
    fewest: Fraction
    most: Fraction
    """How much likelier that may be, if fewer errors, or more, are left ones than is believed."""
    if_unlike: Fraction = NONE
    """How likely that is if its value is not its group's; nothing, if it was not weighed."""
    told: bool = False
    """Has an answer about its right side said which of the two is wrong?"""
    bought: frozenset[str] = frozenset()
    """The left attributes that were asked about themselves."""


SURELY_RIGHT = Suspect(NONE, (), ONE, ONE)


class Weighed(NamedTuple):
    """A dependency, and what is believed of its groups."""

    groups: Groups
    posteriors: Mapping[Key, Posterior]
    least: Mapping[Key, Least | None]
    """Per group: of the values of least expected δ the one that is written."""
    likeliest: Mapping[Key, Value]
    unlike: Fraction
    own: Mapping[Value, Fraction]
    """How often right-hand cells that are wrong themselves show each value."""
    stays: Sequence[Fraction]
    """Per row: how likely its left side is right."""
    fits: Sequence[Fraction]
    """Per row: how likely its value is its group's."""
    came: Mapping[int, Fraction]
    """Per row: how likely its left side is right, as it was when its group was weighed."""
    share: Fraction
    """How many of the errors are on the left."""
    tried: bool
    """Could errors be tried out, so that it is known how well strays are told from others?"""
    outvoted: Mapping[Key, Value | None]
    """Per violated group: its most frequent known value."""

    @property
    def name(self) -> str:
        return self.groups.fd.rhs

    @property
    def holds(self) -> bool:
        return self.any.rates.mixed <= HALF

    @property
    def any(self) -> Posterior:
        return next(iter(self.posteriors.values()))

    @property
    def blocks_are_rare(self) -> bool:
        return self.any.rates.overwritten < Fraction(0.05)

    @property
    def tells_strays(self) -> bool:
        """Where blocks are common, a row may be part of one."""
        return self.tried and self.blocks_are_rare

    def fit(self, key: Key, shown: Value) -> Fraction:
        """How likely a row shows a value in a group that it may belong to; if there is none, as any of the column."""
        if not self.holds:
            return ONE
        return fit(self.posteriors.get(key), self.groups.column, shown, self.any.rates.wrong, self.own[shown])

    def fit_here(self, key: Key, shown: Value) -> tuple[Fraction, Fraction]:
        """How likely a row shows what it shows where it is, and how near that is: by an error, if it is unlike."""
        if not self.holds:
            return ONE, ONE
        chance, wrong = self.posteriors[key].chance(shown), self.any.rates.wrong
        outvoted = self.blocks_are_rare and self.outvoted.get(key, shown) not in (shown, None)
        unlike = chance < Fraction(0.95) or outvoted
        return wrong * self.own[shown] if unlike else 1 - wrong, abs(chance - Fraction(0.95))


Choices = Mapping[str, Mapping[int, Decision]]
"""Per attribute and row: what is done with its cell."""


class Table:
    """All that is weighed together."""

    def __init__(
        self,
        rows: Sequence[Row],
        trees: Mapping[str, Tree],
        weighed: Sequence[Weighed],
        suspects: Mapping[int, Suspect],
        answered: Mapping[tuple[int, str], Value],
        careful: float,
        first: Mapping[tuple[int, str], Value],
    ) -> None:
        """`answered` are cells that were asked about themselves; `first` settles what is as good as another value."""
        self.rows, self.weighed, self.suspects, self.answered = rows, weighed, suspects, answered
        self.careful, self.first = careful, first
        self.columns = {a: Column(a, rows, trees) for a in rows[0]}

    def key(self, of: Weighed, row: int, change: Mapping[str, Value] | None = None) -> Key:
        """The left side of a row, if some of its values were others."""
        return tuple((change or {}).get(a, self.columns[a].cells[row]) for a in of.groups.lhs)

    def in_group(self, of: Weighed, row: int) -> Posterior | None:
        return of.posteriors.get(self.key(of, row))

    # ---- opinions ---------------------------------------------------------------------------------------------------

    def by_right_side(self, of: Weighed) -> dict[int, Decision]:
        """Cells of groups that are violated, or were asked about."""
        found = {}
        for key, posterior in of.posteriors.items():
            if of.groups.is_violated(key) or posterior.answers:
                for row in posterior.rows:
                    most = self.suspects.get(row, SURELY_RIGHT).most if of.tried else None
                    found[row] = decide(posterior, row, of.least[key], of.fits[row], of.stays[row], self.careful, most)
        return found

    def by_left_side(self, name: str) -> dict[int, Decision]:
        """Cells that may be another group's."""
        return {
            row: self._left_cell(row, name, suspect)
            for row, suspect in self.suspects.items()
            if any(option.attribute == name for option in suspect.options)
        }

    def _left_cell(self, row: int, name: str, suspect: Suspect) -> Decision:
        """It is as it should be, or one of the options is true, or something else, from which both are as far as they
        are from each other."""
        column = self.columns[name]
        shown = column.cells[row]
        chances = [(o.value, suspect.wrong * o.hit) for o in suspect.options if o.attribute == name]
        sure = max(chance for _, chance in chances)
        best = [value for value, chance in chances if chance >= sure - Fraction(1e-12)]
        is_settled = len(best) == 1 or self.first.get((row, name)) in best
        node = self.first[row, name] if len(best) > 1 and is_settled else best[0]
        apart = column.distance(node, shown)
        listed = total([chance for _, chance in chances])
        elsewhere = max(suspect.wrong - listed, NONE)
        keep = total([chance * column.distance(shown, value) for value, chance in chances]) + elsewhere * apart
        write = total([chance * column.distance(node, value) for value, chance in chances]) + elsewhere * apart
        write += (1 - suspect.wrong) * apart
        paid = any(
            of.tells_strays and (posterior := self.in_group(of, row)) is not None and bool(posterior.answers)
            for of in self.weighed
            if name in of.groups.lhs
        )
        firmly = sure * suspect.fewest
        nearest = abs(firmly - HALF) if is_settled else NONE
        found = Decision(node, sure, paid, firmly >= HALF, keep, keep - write, False, False, nearest)
        return found.decided(listed, self.careful)

    def by_slip(self, name: str, row: int, meant: Value, chance: Fraction) -> Decision:
        """A cell that may be a slip for what was meant."""
        apart = self.columns[name].distance(meant, self.columns[name].cells[row])
        found = Decision(meant, chance, False, False, chance * apart, (2 * chance - 1) * apart, False, False, ONE)
        return found.decided(chance, self.careful)

    def by_answer(self, row: int, name: str, answer: Value, before: Decision | None) -> Decision:
        """A cell that was asked about: right, if it fits the answer; else the best below the answer is written.

        Where it fits a general answer, something else that does may still be written by what its group holds.
        """
        column = self.columns[name]
        shown = column.cells[row]
        if column.tree.precedes(shown, answer):
            is_open = before is not None and before.written and not column.tree.is_ground(answer)
            if before is not None and is_open and column.tree.precedes(before.node, answer):
                return before
            return Decision(shown, ONE, True, True, NONE, NONE, False, False, ONE)
        written = self._below(row, name, answer)
        mine = [one for one in written if one.node == self.first.get((row, name))]
        best = (mine or written)[0]
        apart = column.distance(best.node, shown)
        return Decision(best.node, best.sure, True, True, apart, apart, True, False, ONE)

    def _below(self, row: int, name: str, answer: Value) -> list[Least]:
        """By the first dependency that lists a value below the answer; what it does not list has a twentieth."""
        column = self.columns[name]
        for of in self.weighed:
            posterior = self.in_group(of, row) if of.name == name else None
            if posterior is None:
                continue
            fitting = [v for v in posterior.candidates if column.tree.precedes(v, answer) and column.is_known(v)]
            if fitting:
                whole = total([posterior.weight[v] for v in fitting]) + UNLISTED
                weight = {v: posterior.weight[v] / whole for v in fitting}
                starts = [v for v in fitting if weight[v] >= max(weight.values()) - Fraction(1e-12)]
                found = [least_between(column, weight, UNLISTED / whole, answer, start) for start in starts]
                return [least for some in found for least in some]
        return [Least(answer, NONE, ONE)]

    # ---- one cell, several opinions ---------------------------------------------------------------------------------

    def decisions(self, slips: Slips) -> Choices:
        """What is done with each cell; `slips` are cells that may be some, what was meant, and how likely."""
        found: dict[str, dict[int, Decision]] = {}
        for name in dict.fromkeys(of.name for of in self.weighed):
            found[name] = {row: self._unless_others_object(row, name, d) for row, d in self._agreed(name).items()}
        lefts = {a: self.by_left_side(a) for a in dict.fromkeys(a for of in self.weighed for a in of.groups.lhs)}
        for decisions in found.values():
            for row, right in decisions.items():  # a row that moves is not in doubt for what it shows
                moves = [left[row] for left in lefts.values() if row in left]
                stays_in_doubt = right.in_doubt and not any(left.written for left in moves)
                nearest = min([right.nearest, *(left.nearest for left in moves)])
                decisions[row] = right._replace(in_doubt=stays_in_doubt, nearest=nearest)
        further = {
            name: {row: self.by_slip(name, row, *slip) for row, slip in cells.items()} for name, cells in slips.items()
        }
        for name, opinions in [*lefts.items(), *further.items()]:
            into = found.setdefault(name, {})
            for row, opinion in opinions.items():
                into[row] = better(into[row], opinion) if row in into else opinion
        for (row, name), answer in self.answered.items():
            into = found.setdefault(name, {})
            into[row] = self.by_answer(row, name, answer, into.get(row))
        return self._in_new_groups({name: dict(cells) for name, cells in self._one_of_each(found).items()})

    def _agreed(self, name: str) -> dict[int, Decision]:
        """Of several dependencies the one that writes, or gains most, decides; unless one to whose group the row
        belongs believes what the cell shows rather than what would be written."""
        about = [of for of in self.weighed if of.name == name]
        found: dict[int, Decision] = {}
        for of in about:
            for row, opinion in self.by_right_side(of).items():
                found[row] = better(found[row], opinion) if row in found else opinion
        if len(about) > 1:
            for row, decision in found.items():
                found[row] = self._unless_one_knows_better(row, decision, about)
        return found

    def _unless_one_knows_better(self, row: int, decision: Decision, about: Sequence[Weighed]) -> Decision:
        for of in about:
            posterior = self.in_group(of, row)
            if not decision.written or posterior is None or len(posterior.rows) < 2 or not of.holds:
                continue
            against = posterior.chance(posterior.column.cells[row]) - posterior.chance(decision.node)
            nearest = min(decision.nearest, abs(against), abs(of.stays[row] - HALF))
            decision = decision._replace(nearest=nearest)
            if against > 0 and of.stays[row] >= HALF:
                decision = decision._replace(written=False, in_doubt=True)
        return decision

    def _unless_others_object(self, row: int, name: str, decision: Decision) -> Decision:
        """A cell on the left side of another dependency: does what the row shows there speak for the cell as it is?"""
        if not decision.written:
            return decision
        odds, nearest = ONE, decision.nearest
        for of in self.weighed:
            here, there = self.key(of, row), self.key(of, row, {name: decision.node})
            if name in of.groups.lhs and here in of.posteriors and there in of.posteriors:
                shown = of.groups.column.cells[row]
                now, near = of.fit_here(here, shown)
                odds *= of.fit(there, shown) / now
                nearest = min(nearest, near, abs(odds - 1) if of.holds else ONE)
        sure = min(max(decision.sure, Fraction(1e-9)), 1 - Fraction(1e-9))
        still = sure * odds / (sure * odds + 1 - sure)
        careful = Fraction(self.careful)
        if odds < 1:
            nearest = min(nearest, abs(still - careful))
        veto = odds < 1 and still < careful
        return decision._replace(written=not veto, in_doubt=decision.in_doubt or veto, nearest=nearest)

    # ---- one row, several changes -----------------------------------------------------------------------------------

    def exchangeable(self, one: str, other: str) -> bool:
        """Does each of two attributes tell the other?"""
        return all(
            any(of.name == told and telling in of.groups.lhs for of in self.weighed)
            for told, telling in ((one, other), (other, one))
        )

    def could_be_written(self, row: int, name: str, decision: Decision) -> bool:
        """Is another known value somewhat likely, for a cell that was not asked about itself?"""
        column = self.columns[name]
        if decision.node == NOTHING or (row, name) in self.answered:
            return False
        return decision.node != column.cells[row] and column.is_known(decision.node) and decision.sure > 0

    def likelier(self, row: int, name: str, node: Value, made: Mapping[str, Value]) -> Fraction:
        """How much likelier a row in which some changes are made is with one more, the error that it takes included."""
        about = [of for of in self.weighed if name in (*of.groups.lhs, of.name) and of.holds]
        ratio = max((of.unlike for of in about), default=ONE)
        ratio *= written_for(self.columns[name], self.columns[name].cells[row], node)
        for of in about:
            for power, change in ((1, {**made, name: node}), (-1, made)):
                shown = change.get(of.name, self.columns[of.name].cells[row])
                ratio *= of.fit(self.key(of, row, change), shown) ** power
        return ratio

    def _one_of_each(self, found: Choices) -> Choices:
        """Where either of two changes of a row would do, one of them at most is made, if it is still sure."""
        return {
            name: {row: self._beside_others(row, name, decision, found) for row, decision in decisions.items()}
            for name, decisions in found.items()
        }

    def _beside_others(self, row: int, name: str, decision: Decision, found: Choices) -> Decision:
        exchanged = [other for other in self.columns if other != name and self.exchangeable(name, other)]
        if not self.could_be_written(row, name, decision) or not (decision.written or (decision.firm and exchanged)):
            return decision
        instead: dict[str, Fraction] = {}
        nearest = decision.nearest
        for other, decisions in found.items():
            together = any({name, other} <= {*of.groups.lhs, of.name} for of in self.weighed)
            change = decisions.get(row)
            if other == name or not together or change is None or not self.could_be_written(row, other, change):
                continue
            ratio = self.likelier(row, name, decision.node, {other: change.node})
            nearest = min(nearest, change.nearest, abs(ratio - 1))
            if ratio < 1:  # it is an error too many
                instead[other] = change.sure
        careful = Fraction(self.careful)
        either = max([NONE, *(p for other, p in instead.items() if other in exchanged)])
        sure = beside_others(decision.sure, [*instead.values()])
        surer = [decision.sure - p for p in instead.values()]
        nearest = min([nearest, *map(abs, surer), abs(decision.sure + total([*instead.values()]) - 1)])
        nearest = min([nearest, abs(sure - careful), abs(either - (1 - careful))])
        is_first, asks_no_more = all(gap >= 0 for gap in surer), either <= 1 - careful
        kept = is_first and (sure >= careful or (sure == decision.sure and asks_no_more))
        return decision._replace(
            written=decision.written and kept,
            firm=decision.firm and asks_no_more,
            in_doubt=decision.in_doubt or (decision.written and not kept and is_first),
            nearest=nearest,
        )

    # ---- rows that come to other groups -----------------------------------------------------------------------------

    def _in_new_groups(self, found: dict[str, dict[int, Decision]]) -> Choices:
        """A row whose left side is written, and whose right side is not, is asked what it should hold in its new group.

        Each once a dependency; what is written there may bring it to a group of another one.
        """
        asked: set[tuple[int, int]] = set()
        for _ in self.weighed:
            for number, of in enumerate(self.weighed):
                for row in range(len(self.rows)):
                    right = found.get(of.name, {}).get(row)
                    lefts = {a: found.get(a, {}).get(row) for a in of.groups.lhs}
                    moves = {a: left for a, left in lefts.items() if left is not None and left.written}
                    there = self.key(of, row, {a: left.node for a, left in moves.items()})
                    is_known = (number, row) in asked or (row, of.name) in self.answered
                    comes = there in of.posteriors and there != self.key(of, row)
                    if is_known or not moves or not comes or (right is not None and right.written):
                        continue
                    asked.add((number, row))
                    sure = prod([left.sure for left in moves.values()], start=ONE)
                    nearest = min(d.nearest for d in [*moves.values(), *([right] if right is not None else [])])
                    cell = self._moved_cell(of, row, there, sure)
                    cell = self._unless_others_object(row, of.name, cell._replace(nearest=min(cell.nearest, nearest)))
                    found.setdefault(of.name, {})[row] = cell
        return found

    def _moved_cell(self, of: Weighed, row: int, there: Key, moved: Fraction) -> Decision:
        """If the row belongs there, its cell is wrong as often as the group says; if not, writing it is an error more.

        A cell that its old group has is not written: that speaks against both.
        """
        posterior, least, old = of.posteriors[there], of.least[there], self.in_group(of, row)
        column, one, paid = posterior.column, posterior.one_value, bool(posterior.answers)
        shown = column.cells[row]
        keep, doubt = moved * one * posterior.expected(shown), moved * one * (1 - posterior.chance(shown))
        if least is None:
            return Decision(NOTHING, NONE, paid, False, keep, NONE, False, False, ONE).decided(doubt, self.careful)
        sure, apart = moved * one * least.sure, column.distance(least.node, shown)
        write = moved * (one * least.risk + (1 - one) * apart) + (1 - moved) * apart
        here = posterior.column.share(shown) if old is None else old.chance(shown)
        may_be = least.node != shown and not posterior.overrules(least) and here < HALF
        nearest = min(abs(sure - HALF), abs(here - HALF), abs(posterior.uncertain(least)))
        gain = keep - write if may_be else NONE
        found = Decision(least.node, sure, paid, sure >= HALF, keep, gain, False, False, nearest)
        return found.decided(doubt, self.careful)

    # ---- what an answer about a row is worth ------------------------------------------------------------------------

    def worth_of_row(self, of: Weighed, row: int) -> Worth | None:
        """Is its right side right, and so its left side wrong? What is decided wrongly now would be known then.

        If its left side is right, its right side is wrong, and is written now if that is sure enough. If not, its best
        left value is written if that is sure enough, and after the answer anyhow.
        """
        suspect, posterior = self.suspects.get(row), self.in_group(of, row)
        if suspect is None or posterior is None or suspect.told or not OPEN < suspect.wrong < 1 - OPEN:
            return None
        shown, should = of.groups.column.cells[row], of.likeliest[posterior.key]
        if shown == should:
            return None
        careful, wrong = Fraction(self.careful), suspect.wrong
        right_now = wrong if 1 - wrong >= careful else 1 - wrong
        best = max((option.hit for option in suspect.options), default=NONE)
        far = [2 * self._top(option.attribute) for option in suspect.options if option.hit == best] or [NONE]
        sure = wrong * best
        left_now = 1 - sure if sure >= careful else wrong
        left_then = wrong * (1 - best)
        worth = right_now * of.groups.column.distance(shown, should) + (left_now - left_then) * far[0]
        nearest = min(abs(1 - wrong - careful), abs(sure - careful), abs(wrong - OPEN), abs(1 - OPEN - wrong))
        return Worth(worth, self.tells_apart(of, shown, should), NONE if len(set(far)) > 1 else nearest)

    def _top(self, attribute: str) -> Fraction:
        return self.columns[attribute].penalty(self.columns[attribute].tree.root)

    def tells_apart(self, of: Weighed, one: Value, other: Value) -> int:
        """The highest level at which two values still differ."""
        tree = of.groups.column.tree
        return max([0, *(at for at in range(tree.height) if tree.generalize(one, at) != tree.generalize(other, at))])

    def worth_of_left_value(self, row: int, name: str) -> Worth | None:
        """What should it be? Now its best value is written if that is sure enough; a wrong one is as far as can be."""
        suspect = self.suspects.get(row, SURELY_RIGHT)
        chances = [suspect.wrong * option.hit for option in suspect.options if option.attribute == name]
        if not chances or name in suspect.bought:
            return None
        best, careful = max(chances), Fraction(self.careful)
        now = 1 - best if best >= careful else total(chances)
        return Worth(now * 2 * self._top(name), 0, abs(best - careful))

    def worth_of_settling(self, of: Weighed, found: Choices, key: Key, level: int) -> tuple[Fraction, Fraction]:
        """What else could be written in the rows of a group if only it were paid for: cells that are firm, and not sure
        enough, at levels where what the row shows and what the group holds differ. And how near that is."""
        posterior, careful = of.posteriors[key], Fraction(self.careful)
        column, should = of.groups.column, of.likeliest[key]
        if posterior.answers or not of.tried or level >= column.tree.height:
            return NONE, ONE
        worth, nearest = NONE, ONE
        for name in dict.fromkeys([of.name, *(of.groups.lhs if of.tells_strays else ())]):
            for row in posterior.rows:
                cell, shown = found.get(name, {}).get(row), column.cells[row]
                if cell is None or shown == should or level > self.tells_apart(of, shown, should):
                    continue
                nearest = min(nearest, cell.nearest)
                if name == of.name:
                    sure = posterior.weight[should]
                    nearest = min(nearest, abs(sure - careful))
                    if sure < careful:  # counted with the group
                        continue
                withheld = cell.helps > 0 and not cell.written and not cell.paid and cell.firm
                if withheld and cell.sure < careful:
                    worth += cell.gain
        return worth, nearest

    # ---- all that may be asked --------------------------------------------------------------------------------------

    def questions(
        self, offers: Offers, found: Choices, slips: Slips, named: Mapping[str, Sequence[int]]
    ) -> list[Question]:
        """All that may be asked for, however little it is worth."""
        asked = []
        for of in self.weighed:
            if of.name not in offers:
                continue
            about_groups = set(offers[of.name]) <= set(of.groups.lhs)
            if any(of.groups.is_violated(key) for key in of.posteriors):
                for key, posterior in of.posteriors.items():
                    if len(posterior.rows) > 1 and len(posterior.answers) < 4:
                        asked.append(self._of_group(of, key, found, about_groups=about_groups))
            if not about_groups and not set(offers[of.name]) & set(of.groups.lhs):
                asked += [self._of_row(of.name, row, self.worth_of_row(of, row)) for row in self.suspects]
        for name, rows in named.items():
            column = self.columns[name]
            for row in rows if name in offers else ():
                levels = range(column.tree.height + 1)
                lost = [column.mean_distance(column.cells[row]) - column.level_penalty(at) for at in levels]
                asked.append(Question(name, {row: [max(HALF * one, NONE) for one in lost]}))
        for name, cells in slips.items():
            for row, (meant, chance) in cells.items():
                if name in offers and name not in offers[name] and not self._goes_with_others(name, row, offers):
                    column, careful = self.columns[name], Fraction(self.careful)
                    unsure = 1 - chance if chance >= careful else chance
                    worth = Worth(unsure * column.distance(meant, column.cells[row]), 0, abs(chance - careful))
                    asked.append(self._of_row(name, row, worth))
        rights = {of.name for of in self.weighed}
        for name in dict.fromkeys(a for of in self.weighed for a in of.groups.lhs):
            if name in offers and name not in rights and name not in offers[name]:
                asked += [self._of_row(name, row, self.worth_of_left_value(row, name)) for row in self.suspects]
        return asked

    def _of_row(self, name: str, row: int, worth: Worth | None) -> Question:
        levels = range(self.columns[name].tree.height + 1)
        if worth is None:
            return Question(name, {})
        return Question(name, {row: [worth.at(level) for level in levels]}, nearest=worth.nearest)

    def _of_group(self, of: Weighed, key: Key, found: Choices, *, about_groups: bool) -> Question:
        """Of a group that is asked about by its left side any row is as good; else those that are likeliest to belong
        to it, by the chance that they do; what shows its likeliest value comes first."""
        posterior, column, careful = of.posteriors[key], of.groups.column, Fraction(self.careful)
        least, one = of.least[key], posterior.one_value
        levels = range(column.tree.height + 1)
        settling = [self.worth_of_settling(of, found, key, level) for level in levels]
        worth = [
            posterior.worth(level, careful, of.came, least, one) + also
            for level, (also, _) in zip(levels, settling, strict=True)
        ]
        nearest = min(near for _, near in settling)
        if least is not None:
            nearest = min(nearest, abs(one * least.sure - careful), abs(posterior.uncertain(least)))
        known = bool(posterior.answers)
        if about_groups:
            return Question(of.name, dict.fromkeys(posterior.rows, worth), known, nearest)

        def belongs(row: int) -> tuple[Fraction, int]:
            if bool(posterior.answers) and posterior.are_but_confirmed:
                return of.stays[row] + 2 * (column.cells[row] == posterior.most_shown), row
            return of.stays[row] + (HALF if column.cells[row] == of.likeliest[key] else NONE), row

        likeliest = sorted(posterior.rows, key=belongs, reverse=True)[:4]
        stays = {row: 1 - self._stray(of, row) for row in likeliest}
        return Question(of.name, {row: [stays[row] * one for one in worth] for row in likeliest}, known, nearest)

    def _stray(self, of: Weighed, row: int) -> Fraction:
        """How likely a row is from elsewhere, if its value is not its group's."""
        if not of.groups.column.is_known(of.groups.column.cells[row]):
            return NONE
        weighed = self.suspects.get(row, SURELY_RIGHT).if_unlike
        return max(weighed or of.share, Fraction(0.05))

    def _goes_with_others(self, name: str, row: int, offers: Offers) -> bool:
        """Would an answer about a row be one about a group of several?"""
        return any(
            len(posterior.rows) > 1
            for of in self.weighed
            if of.name == name and set(offers[name]) <= set(of.groups.lhs)
            if (posterior := self.in_group(of, row)) is not None
        )


Offers = Mapping[str, Sequence[str]]
"""Per attribute that is sold: the columns by which rows are found."""
Slips = Mapping[str, Mapping[int, tuple[Value, Fraction]]]
"""Per attribute: cells that may be slips, what was meant, and how likely that is."""


class Question(NamedTuple):
    """Something to be asked about one of some rows."""

    attribute: str
    worth: Mapping[int, Sequence[Fraction]]
    """Per row and level: the δ that an answer is expected to remove."""
    known: bool = False
    """Is something known already, so that what costs nothing is known, too?"""
    nearest: Fraction = ONE


class Worth(NamedTuple):
    """The δ that an answer about a row is expected to remove, up to a level; and how near that is."""

    worth: Fraction
    level: int
    nearest: Fraction

    def at(self, level: int) -> Fraction:
        return self.worth if level <= self.level else NONE


def better(one: Decision, other: Decision) -> Decision:
    """What is written rather than left, and of two that are the one that gains more; the first, if none does."""
    nearest = min(one.nearest, other.nearest)
    if one.written == other.written and (one.gain or other.gain):
        nearest = min(nearest, abs(one.gain - other.gain))
    first = one.written if one.written != other.written else one.gain >= other.gain
    return (one if first else other)._replace(nearest=nearest)
