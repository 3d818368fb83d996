"""The paper's strategy with several providers: most errors first, and for each class those asked who tell most.

Per class the ladders of all are gathered. The cheapest offer that tells about as much as the best is taken, and up to
three more opinions while the belief is weak and the class's allowance lasts. At the end those that were away are tried
once more, and all classes are settled again by what is known then of how reliable each source is: that costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from pacas.client.buying.panel import OpenOrder, PanelPurchaser
from pacas.client.buying.question import Choice, Question, Unbought
from pacas.client.buying.requests import unbought
from pacas.client.classes.check import check_table
from pacas.client.classes.error_counts import ErrorCounts
from pacas.client.classes.generate_eqs import generate_eqs
from pacas.client.outcome.changes import net_changes
from pacas.client.outcome.panel_summary import PanelSummary
from pacas.client.outcome.steps import AWAY, BUDGET_SPENT, NOT_SOLD, BoughtValue, Progress, Repair, Unrepaired
from pacas.client.panel.asked_class import AskedClass, own_opinions
from pacas.client.panel.choosing import PanelOffer, choose_offer, priced
from pacas.client.panel.ground_values import GroundValues
from pacas.client.panel.reliability import Reliabilities
from pacas.client.paper.allocation import Allocation, Turn
from pacas.client.paper.paper_strategy import still_named
from pacas.client.paper.selection import Selection
from pacas.client.strategy import Outcome, Task, spend
from pacas.core.distance import SemanticDistance
from pacas.core.hierarchy import Hierarchy
from pacas.engine.new_cells import NewCells
from pacas.errors import InputError
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Request

MOST_OPINIONS = 4
"""Providers that are asked about a class: one, and three second opinions."""
FIRST_FIT, GROWTH = 16, 1.5
"""After so many answers reliabilities are learnt for the first time; then each time there are so many more."""


class PanelStrategy:
    """The paper's choices, as far as they have a meaning where several are asked."""

    def __init__(self, allocate: Allocation, rounds: int) -> None:
        self.allocate, self.rounds = allocate, rounds

    def clean(self, task: Task) -> Outcome:
        buyer = task.buyer
        if not isinstance(buyer, PanelPurchaser):
            raise InputError("a panel buys from several providers")
        known = _Known(task, buyer)
        named, table = task.named, task.table
        repairs: list[Repair] = []
        violations: list[int] = []
        for number in range(1, self.rounds + 1):
            counts = generate_eqs(task.engine, table, task.used, task.fds, named, task.hierarchies, False)
            violations.append(counts.violations)
            loop = _PanelRound(counts, buyer, known, self.allocate, number, is_last=number == self.rounds)
            spend(loop, buyer)
            found = loop.repairs()
            counts.close()
            repairs += found
            named = still_named(named, found)
            changes = net_changes(found, task.source.columns)
            table = task.engine.changed(table, {a: NewCells(c.rows, c.new) for a, c in changes.items()})
            if not changes or not buyer.remaining or number == self.rounds:
                break
        after = check_table(task.engine, table, task.fds, task.hierarchies, lambda _: None).violations
        return Outcome(repairs, loop.left(), violations[0], after, number, panel=known.summary())


class _Known:
    """What is known of values and of who is right about them, over all rounds."""

    def __init__(self, task: Task, buyer: PanelPurchaser) -> None:
        self._task, self._buyer = task, buyer
        self._values: dict[str, GroundValues] = {}
        self._heard: dict[str, list[AskedClass]] = {}
        self.reliabilities: dict[str, Reliabilities] = {}
        self._answers, self._next_fit = 0, FIRST_FIT

    def values(self, attribute: str, counts: ErrorCounts) -> GroundValues:
        if attribute not in self._values:
            column = counts.current[attribute]
            own = self._task.hierarchies.get(attribute, column.hierarchy)
            self._buyer.admit(attribute, own.ground_labels)
            trees = self._trees(attribute)
            labels = [column.hierarchy.label(code) for code in range(len(column.hierarchy))]
            delta = SemanticDistance.of(own, labels, column.frequency)
            self._values[attribute] = GroundValues(delta, own, trees)
            self.reliabilities[attribute] = Reliabilities(trees)
            self._heard[attribute] = []
        return self._values[attribute]

    def join(self, provider: str) -> dict[str, GroundValues]:
        """One more is there: by attribute that it sells, the values that it may have now."""
        sold = [attribute for attribute in self._values if provider in self._buyer.selling(attribute)]
        for attribute in sold:
            self.reliabilities[attribute].join(provider)
        return {attribute: self._known_now(attribute) for attribute in sold}

    def named(self, bought: BoughtValue) -> GroundValues | None:
        """The values that an attribute may have, where an answer is one that nobody had told; None where it is not."""
        is_told = self._values[bought.attribute].has_node(bought.provider, bought.value)
        return None if is_told else self._known_now(bought.attribute)

    def _known_now(self, attribute: str) -> GroundValues:
        known, has_own = self._values[attribute], attribute in self._task.hierarchies
        self._buyer.admit(attribute, known.labels)
        self._values[attribute] = known.now(self._trees(attribute), has_own=has_own)
        return self._values[attribute]

    def _trees(self, attribute: str) -> dict[str, Hierarchy]:
        buyer = self._buyer
        return {name: buyer.offered(name, attribute).offer.hierarchy for name in buyer.selling(attribute)}

    def heard(self, asked: AskedClass) -> None:
        """An answer has come; now and then all that was said is weighed again."""
        if len(asked.purchases) == 1:
            self._heard[asked.attribute].append(asked)
        self._answers += 1
        if self._answers >= self._next_fit:
            self._next_fit = int(self._answers * GROWTH) + 1
            self.learn()

    def learn(self) -> None:
        for attribute, classes in self._heard.items():
            self.reliabilities[attribute].learn([asked.opinions for asked in classes])

    def summary(self) -> PanelSummary:
        return self._buyer.summary({a: found.as_dict() for a, found in self.reliabilities.items()})


class _PanelRound:
    """The unresolved classes of one round: each in turn, then those again that somebody was away for."""

    def __init__(
        self,
        counts: ErrorCounts,
        buyer: PanelPurchaser,
        known: _Known,
        allocate: Allocation,
        number: int,
        *,
        is_last: bool,
    ) -> None:
        self._counts, self._buyer, self._known = counts, buyer, known
        self._allocate, self._number, self._is_last = allocate, number, is_last
        self._eqs = Selection(counts.errors)
        self._classes: list[AskedClass] = []
        self._left: list[AskedClass] = []
        self._questions = self._ask()
        self._iteration = 0
        self._of: AskedClass | None = None
        self._open: dict[str | None, AskedClass] = {}
        """By the key of an order that may have been paid: the class that it is about."""

    # ---- asking -----------------------------------------------------------------------------------------------

    def next(self) -> Question | None:
        return next(self._questions, None)

    def take(self, question: Question, outcome: BoughtValue | Unrepaired) -> Progress:
        """Hear an answer; a class whose order came to nothing may be asked about elsewhere."""
        asked = self._of
        assert asked is not None
        asked.allowance -= outcome.price
        if isinstance(outcome, BoughtValue):
            if (values := self._known.named(outcome)) is not None:
                for one in self._asked_about(outcome.attribute):
                    one.know(values)
            asked.hear(outcome)
            self._known.heard(asked)
        else:
            asked.reason = outcome.reason
            if outcome.is_unsent:
                asked.miss(str(question.provider))
            elif outcome.reason == AWAY:
                self._open[self._buyer.open[-1].question.key] = asked
        return Progress(self._number, self._iteration, len(self._counts), self._buyer.spent, self._counts.violations)

    def _ask(self) -> Iterator[Question]:
        counts, buyer = self._counts, self._buyer
        while buyer.remaining > 0 and (eq := self._eqs.most_errors()) is not None and counts.errors[eq]:
            self._iteration += 1
            turn = Turn(int(counts.errors[eq]), counts.total, len(self._eqs), self._iteration)
            asked = self._class(eq, self._allocate(buyer.remaining, turn))
            yield from self._opinions(asked)
            self._close(asked)
        if buyer.is_one_missing:
            yield from self._ask_again()
        if self._is_last:
            yield from (self._again(order) for order in buyer.last_calls() if order.question.key in self._open)

    def _class(self, eq: int, allowance: int) -> AskedClass:
        """A class, and its share of the money."""
        counts = self._counts
        attribute, places = counts.attribute(eq), counts.rows(eq)
        values = self._known.values(attribute, counts)
        opinions = own_opinions(counts.current[attribute], places, values)
        asked = AskedClass(eq, attribute, places, values, opinions, allowance)
        self._classes.append(asked)
        return asked

    def _opinions(self, asked: AskedClass) -> Iterator[Question]:
        """One opinion, and up to three more while the belief is weak and the allowance lasts."""
        reliabilities = self._known.reliabilities[asked.attribute]
        asked.quote(self._buyer, self._counts.current)
        while len(asked.asked) < MOST_OPINIONS and (not asked.purchases or asked.is_weak(reliabilities)):
            offer = self._offer(asked, reliabilities)
            if offer is None:
                return
            asked.asked.add(offer.provider)
            self._of = asked
            yield self._question(asked, offer)

    def _offer(self, asked: AskedClass, reliabilities: Reliabilities) -> PanelOffer | None:
        buyer = self._buyer
        there = {n: q for n, q in asked.quoted.items() if n not in asked.asked and buyer.is_there(n)}
        offers = priced(
            {name: quoted.ladders for name, quoted in there.items()},
            {name: buyer.offered(name, asked.attribute).levels for name in there},
            min(asked.allowance, buyer.remaining),
            asked.values,
            asked.believed(reliabilities),
            reliabilities,
        )
        return choose_offer(offers)

    def _question(self, asked: AskedClass, offer: PanelOffer) -> Question:
        quoted, current = asked.quoted[offer.provider], self._counts.current
        values = {name: texts[offer.tuple] for name, texts in quoted.columns.items()}
        request = Request(values, asked.attribute, offer.level)
        choice = Choice(request, current.row(quoted.rows[offer.tuple]), offer.price)

        def chosen(_: Marketplace) -> Choice | Unbought:
            return choice

        def supposed(request: Request) -> str:
            """A dry run supposes that the likeliest value is right."""
            likeliest = asked.believed(self._known.reliabilities[asked.attribute]).argmax()
            found = asked.values.labels[int(likeliest)]
            return self._buyer.offered(offer.provider, asked.attribute).supposed(found, request.level)

        return Question(asked.attribute, current.rows(asked.places), chosen, supposed, offer.provider)

    def _close(self, asked: AskedClass) -> None:
        """Write what is believed now, so that later classes are counted by it, and drop the class."""
        counts, eq = self._counts, asked.number
        self._eqs.drop(eq)
        counts.drop(eq)
        found = asked.settled(self._known.reliabilities[asked.attribute]) if asked.purchases else None
        if found is not None:
            counts.repair(eq, counts.current[asked.attribute].code(found.value))
            if (altered := counts.take_altered()) is not None:
                self._eqs.changed(altered, counts.errors[altered])

    # ---- the end ----------------------------------------------------------------------------------------------

    def _ask_again(self) -> Iterator[Question]:
        """Orders that may have been paid, then weak classes that somebody was away for, each once more."""
        buyer = self._buyer
        for provider in buyer.call_back():
            sold = self._known.join(provider)
            for attribute, values in sold.items():
                for asked in self._asked_about(attribute):
                    asked.know(values)
                    asked.missed.add(provider)
        for order in [order for order in buyer.open if order.question.key in self._open]:
            if buyer.is_there(str(order.question.provider)):
                yield self._again(order)
        for asked in self._classes:
            if asked.missed and (not asked.purchases or asked.is_weak(self._known.reliabilities[asked.attribute])):
                asked.allowance = buyer.remaining
                yield from self._opinions(asked)

    def _asked_about(self, attribute: str) -> Iterator[AskedClass]:
        return (asked for asked in self._classes if asked.attribute == attribute)

    def _again(self, order: OpenOrder) -> Question:
        self._of = self._open[order.question.key]
        return self._buyer.ask_again(order)

    def repairs(self) -> list[Repair]:
        """All classes settled by what is known in the end."""
        self._known.learn()
        found = [(asked, self._repair(asked)) for asked in self._all()]
        self._left = [asked for asked, repair in found if repair is None]
        return [repair for _, repair in found if repair is not None]

    def _all(self) -> Iterator[AskedClass]:
        """Those whose turn has come, and those whose turn never came, as the money was gone."""
        yield from self._classes
        for eq in self._eqs.left():
            if self._counts.errors[eq]:
                yield self._class(eq, 0)

    def _repair(self, asked: AskedClass) -> Repair | None:
        current = self._counts.current
        found = asked.settled(self._known.reliabilities[asked.attribute])
        if found is None:
            return None
        column = current[asked.attribute]
        code = column.code(found.value)
        were = column.hierarchy.encode(column.before.values)[column.before.codes[asked.places]]
        rows = current.rows(asked.places)
        return Repair(
            asked.attribute,
            rows,
            column.before,
            asked.places,
            str(column.hierarchy.label(code)),
            found.why,
            rows[were != code],
            self._number,
            tuple(asked.purchases),
        )

    def left(self) -> list[Unrepaired]:
        """The classes that stay as they are, and why."""
        return [self._unrepaired(asked) for asked in self._left]

    def _unrepaired(self, asked: AskedClass) -> Unrepaired:
        rows, buyer = self._counts.current.rows(asked.places), self._buyer
        if not buyer.selling(asked.attribute):
            return Unrepaired(asked.attribute, rows, NOT_SOLD)
        if asked.reason is not None:
            return Unrepaired(asked.attribute, rows, asked.reason)
        nearest = sorted(asked.quoted.items(), key=lambda one: int(one[1].ladders.min()))
        found = [unbought(quoted.ladders, buyer.offered(name, asked.attribute)) for name, quoted in nearest]
        if asked.missed and all(one.cheapest is None for one in found):  # who was away might have sold it
            return Unrepaired(asked.attribute, rows, AWAY)
        if not found:
            return Unrepaired(asked.attribute, rows, BUDGET_SPENT)
        best = min(found, key=lambda one: (one.cheapest is None, one.cheapest or 0))
        return Unrepaired(asked.attribute, rows, best.reason, cheapest=best.cheapest)
