"""Spending a budget where a credit is expected to remove most error, and weighing again what the answers say."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pacas.client.buying.panel import OpenOrder, PanelPurchaser
from pacas.client.buying.purchaser import Purchaser
from pacas.client.buying.question import Choice, Question
from pacas.client.outcome.steps import BoughtValue, Progress, Unrepaired
from pacas.client.weighed_groups.left_side import LeftSide
from pacas.client.weighed_groups.source_trust import Said
from pacas.client.weighing.decision import decide
from pacas.client.weighing.missing_left import missing_left_cells
from pacas.client.weighing.model import Model
from pacas.client.weighing.rare_values import RareValues, likelier
from pacas.client.weighing.row_order import WeighedRows
from pacas.client.weighing.soft_dependencies import soft_cells
from pacas.client.weighing.wishes import Wish, Wishes
from pacas.core.histogram import Ints
from pacas.engine.codes import CodedColumn
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Request

FIRST_FIT = 16
"""After so many answers all is weighed again for the first time; then each time there are 1.7 times as many."""
GROUPS_A_FIT = 200
"""In a large table not before there is an answer for so many violated groups: so a table that is larger is weighed no
more often, and takes no more time a row."""


class Texts(Sequence[str | None]):
    """A column's texts, each looked up when it is asked for."""

    def __init__(self, coded: CodedColumn) -> None:
        self._coded = coded

    def __len__(self) -> int:
        return len(self._coded.codes)

    def __getitem__(self, place: int) -> str | None:  # type: ignore[override]  # one at a time is all that is asked
        return self._coded.values[int(self._coded.codes[place])]


class Shopping:
    """The questions of a client that weighs. Rows go by their places among those that are weighed."""

    def __init__(
        self,
        modelled: Callable[[], Model],
        buyer: Purchaser,
        weighed: WeighedRows,
        careful: float,
        *,
        look_further: bool = False,
    ) -> None:
        """`modelled` is what the table says of itself."""
        self._modelled, self._buyer, self._careful = modelled, buyer, careful
        self.weighed, self._columns, self._further = weighed, weighed.columns, look_further
        self._told: list[tuple[str, int, int, Said | None]] = []
        """What the model was told."""
        self._believe()
        self._wishes: Wishes | None = None
        self._wished: deque[tuple[Wish, Ints]] = deque()
        """What was asked for and is not answered, with the places of the rows that each answer is about."""
        self._settled: set[tuple[str, int]] = set()
        self._heard: dict[tuple[str, str, int], int] = {}
        """By (provider, attribute, row): the level below which one of several may still be asked; others may at any."""
        self._last_calls: Iterator[OpenOrder] | None = None
        """Since those that were away were called."""
        self._quoted: dict[tuple[str, int], list[int]] = {}
        self._asked = 0
        self._open: list[OpenOrder] = []
        violated = sum(int(belief.violated.sum()) for belief in self.model.beliefs)
        self._next_fit = max(FIRST_FIT, violated // GROUPS_A_FIT)
        self.reasons: dict[tuple[str, int], str] = {}
        """Per (attribute, row) that was asked about in vain: why."""
        self.expected: list[tuple[int, float]] = []
        """(spent, expected δ), whenever all was weighed."""
        self.stages: list[dict[str, tuple[Ints, Ints]]] = []
        """What would have been written each time: by attribute the places and their nodes."""
        self.promised: list[tuple[int, float]] = []
        """(spent, expected δ) as it was foreseen after each purchase; what answers say of other groups comes later."""
        self._record()

    def _believe(self) -> None:
        """Weigh what the table says of itself, and by that all that was told."""
        self.model = self._modelled()
        is_violated = any(belief.violated.any() for belief in self.model.beliefs)
        looks = [*([False] if is_violated or not self._further else []), *([True] if self._further else [])]
        self._rare_values = [RareValues(self.model, further=further) for further in looks]
        self._soft = soft_cells(self.model) if self._further and self.weighed.are_all else {}
        self._texts = {name: Texts(self._columns[name]) for name in self._buyer.columns}
        for told in self._told:
            self.model.tell(*told)

    def next(self) -> Question | None:
        """The wish that is worth most a credit. A run that is continued goes the same way, by the quotes it had."""
        wish = self._wished_next()
        return self._called_again() if wish is None else self._wish_for(wish)

    def _wished_next(self) -> Wish | None:
        buyer = self._buyer
        if buyer.remaining <= 0:
            return None
        if self._wishes is None:
            self._wishes = Wishes(
                self.model,
                buyer,
                self._texts,
                self._careful,
                self._settled,
                self._quoted,
                self.rare,
                self.decided,
                self._heard,
            )
        return self._wishes.best(buyer.remaining)

    def following(self, remaining: int) -> Question | None:
        """The next wish, if it stays the next one whatever is answered to those that were asked before it."""
        if self._wishes is None or self._asked + len(self._wished) >= self._next_fit:
            return None  # then all is weighed again
        if not self._is_last_word(self._wished[-1][0]):
            return None
        wish = self._wishes.best_at_once(remaining)
        if wish is None:
            return None
        if any(wish.attribute == name and wish.row in rows for name, rows in self._wished_rows()):
            self._wishes.put_back(wish)
            return None
        return self._wish_for(wish)

    def withdraw(self, questions: int) -> None:
        for _ in range(questions):
            wish, _ = self._wished.pop()
            self.promised.pop()
            if self._wishes is not None:
                self._wishes.put_back(wish)

    def _wished_rows(self) -> Iterator[tuple[str, Ints]]:
        """What answers may settle: by attribute the places of a class."""
        return ((wish.attribute, places) for wish, places in self._wished)

    def _is_last_word(self, wish: Wish) -> bool:
        """Whether no answer to a wish can make a further question worth its price: what it asks about is then known.

        So it is where all rows of its groups look alike to the provider: whoever has bought the value of one at the
        ground has bought it for all, and what costs nothing more is not asked for.
        """
        beliefs = [belief for belief in self.model.beliefs if belief.fd.rhs == wish.attribute]
        groups = [belief for belief in beliefs if belief.side.group[wish.row] >= 0]
        return not groups or (wish.level == 0 and all(map(self.model.is_by_group, groups)))

    def _wish_for(self, wish: Wish) -> Question:
        spent, left = self.promised[-1]
        self.promised.append((spent + wish.price, max(left - wish.worth[wish.level], 0.0)))
        offer = self._buyer.offered(wish.provider, wish.attribute).offer
        request = Request({c: self._texts[c][wish.row] for c in offer.columns}, wish.attribute, wish.level)
        choice = Choice(request, self._row(wish.row), wish.price)
        question = self._question(wish.attribute, wish.row, choice, wish.provider)
        self._wished.append((wish, self.weighed.places(question.rows)))
        return question

    def _called_again(self) -> Question | None:
        """Those of several providers that were away may be there again: orders that may have been paid come first.

        In the end these are asked about once more.
        """
        buyer = self._buyer
        if not isinstance(buyer, PanelPurchaser):
            return None
        if self._last_calls is None and buyer.is_one_missing:
            self._last_calls, self._wishes = buyer.last_calls(), None
            if buyer.call_back():
                self._believe()
                self.model.fit_again()
                self._record()
            self._open = list(buyer.open)
        while self._open:
            order = self._open.pop(0)
            if buyer.is_there(order.question.provider):
                return buyer.ask_again(order)
        if self._wishes is None and (wish := self._wished_next()) is not None:
            return self._wish_for(wish)
        last = None if self._last_calls is None else next(self._last_calls, None)
        return None if last is None else buyer.ask_again(last)

    def take(self, question: Question, outcome: BoughtValue | Unrepaired) -> Progress:
        """Believe what was bought, and weigh again what it touches."""
        name = outcome.attribute
        self._asked += 1
        if self._wished:
            self._wished.popleft()
        if isinstance(outcome, BoughtValue) and (found := self._meant(outcome)) is not None:
            place = self._place(outcome.row)
            if not self.model.is_about_groups(name):
                self._settled.add((name, place))
            elif outcome.provider is not None:  # it would say the same again
                self._passed_over(outcome.provider, outcome)
            self._told.append((name, place, *found))
            self.model.tell(*self._told[-1])
            if self._wishes is not None:
                self._wishes.renew(name, place)
        elif question.provider is not None:
            if not (isinstance(outcome, Unrepaired) and outcome.is_unsent):
                self._passed_over(question.provider, outcome)
            reason = outcome.reason if isinstance(outcome, Unrepaired) else UNKNOWN_VALUE
            self.reasons |= {(name, row): reason for row in outcome.rows.tolist()}
            if self._wishes is not None:
                self._wishes.renew(name, self._place(int(outcome.rows[-1])))
        else:
            reason = outcome.reason if isinstance(outcome, Unrepaired) else UNKNOWN_VALUE
            for row in outcome.rows.tolist():
                self._settled.add((name, self._place(row)))
                self.reasons[name, row] = reason
        if self._asked >= self._next_fit or self.model.is_overtaken:
            self._next_fit = int(self._asked * 1.7) + 8
            self.model.fit_again()
            self._wishes = None
            self._record()
        return Progress(1, self._asked, self._asked, self._buyer.spent, 0, self.expected[-1][1])

    def quoted(self, attribute: str, rows: Ints) -> Ints:
        """What rows were quoted last, those of them that were asked about: [tuples, levels]."""
        found = [self._quoted.get((attribute, self._place(row))) for row in rows.tolist()]
        return np.array([ladder for ladder in found if ladder is not None], dtype=np.int64)

    def finish(self) -> None:
        """Weigh all once more, with everything that was bought."""
        if self._asked:
            self.model.fit_again()
            self._record()

    def _passed_over(self, provider: str, outcome: BoughtValue | Unrepaired) -> None:
        """One of several providers is not asked again about the rows of a class, but at a finer level."""
        level = outcome.level if isinstance(outcome, BoughtValue) else 0
        self._heard |= {(provider, outcome.attribute, self._place(row)): level for row in outcome.rows.tolist()}

    # ---- what an answer says ----------------------------------------------------------------------------------

    def _meant(self, bought: BoughtValue) -> tuple[int, Said | None] | None:
        """An answer in the client's tree: its node, or the lowest above all that a node of another tree means."""
        tree = self.model.columns[bought.attribute].tree
        if bought.provider is None:
            return (tree.code(bought.value), None) if bought.value in tree else None
        theirs = self._buyer.offered(bought.provider, bought.attribute).offer.hierarchy
        at, ground = theirs.code(bought.value), np.flatnonzero(theirs.is_ground)
        labels = [theirs.label(code) for code in ground[theirs.precedes(ground.astype(np.int32), at)].tolist()]
        known = [tree.code(label) for label in labels if label in tree]
        if not known:
            return None
        node = known[0]
        for code in known[1:]:
            node = int(tree.lca(node, code))
        inside = np.zeros(len(tree), dtype=np.bool_)
        inside[known] = True
        below = tree.is_ground & tree.precedes(np.arange(len(tree), dtype=np.int32), node)
        return node, Said(
            bought.provider, int(theirs.widths[bought.level]), None if np.array_equal(inside, below) else inside
        )

    # ---- questions --------------------------------------------------------------------------------------------

    def _question(self, attribute: str, place: int, choice: Choice, provider: str | None) -> Question:
        def chosen(_: Marketplace) -> Choice:
            return choice

        def supposed(request: Request) -> str:
            found = self.model.supposed(attribute, place)
            return self._buyer.offered(provider, attribute).supposed(found, request.level)

        return Question(attribute, self._class_of(attribute, place), chosen, supposed, provider)

    def _class_of(self, attribute: str, place: int) -> Ints:
        """The rows that an answer is about."""
        for side in self._sides(attribute):
            if (group := int(side.group[place])) >= 0:
                return np.sort(self.weighed.rows[side.members.one(group)])
        return np.array([self._row(place)])

    def _sides(self, attribute: str) -> Iterator[LeftSide]:
        return (belief.side for belief in self.model.beliefs if belief.fd.rhs == attribute)

    def _record(self) -> None:
        slips = (values.cells() for values in self._rare_values)
        self.rare = likelier(*slips, self._soft, missing_left_cells(self.model))
        self.decided = decide(self.model, self._careful, self.rare)
        self.stages.append({name: (w.rows[w.written], w.node[w.written]) for name, w in self.decided.items()})
        self.expected.append((self._buyer.spent, sum(weighed.expected for weighed in self.decided.values())))
        spent, error = self.promised.pop() if self.promised else self.expected[-1]
        self.promised.append((spent, min(error, self.expected[-1][1])))

    def _row(self, place: int) -> int:
        return int(self.weighed.rows[place])

    def _place(self, row: int) -> int:
        place = self.weighed.place(row)
        assert place is not None, "who is asked about is weighed"
        return place


UNKNOWN_VALUE = "unknown_value"
"""What was bought is in no hierarchy of the client's."""
