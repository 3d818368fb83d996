"""A client that weighs: its own evidence first and free, then money where a credit is expected to remove most error.

D14. It writes nothing whose expected error is above that of leaving the cell, and repairs left sides, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from pacas.client.buying.panel import PanelPurchaser
from pacas.client.buying.question import Unbought
from pacas.client.buying.requests import unbought
from pacas.client.classes.check import Check, check_table
from pacas.client.outcome.changes import Changes, net_changes
from pacas.client.outcome.judgement import DoubtfulCell, Judgement, LearntRates, WeighedExplanation
from pacas.client.outcome.panel_summary import PanelSummary
from pacas.client.outcome.steps import (
    BUDGET_SPENT,
    IN_DOUBT,
    NOT_SOLD,
    NOT_WORTH_IT,
    BoughtValue,
    Repair,
    Unrepaired,
    Why,
)
from pacas.client.strategy import Outcome, Task, spend
from pacas.client.weighing.decision import Weighed
from pacas.client.weighing.explaining import explanations
from pacas.client.weighing.model import Model
from pacas.client.weighing.row_order import WeighedRows
from pacas.client.weighing.shopping import Shopping
from pacas.core.histogram import NO_ROWS, Ints
from pacas.engine.codes import coded_texts
from pacas.engine.contract import Hierarchies
from pacas.engine.new_cells import NewCells

BYTES = 24
"""What a cell takes while it is weighed."""

SMALL = 1 << 24
"""A relation that takes so many bytes is weighed whole, wherever it is: so it is weighed alike on all engines."""


class WeighStrategy:
    """How careful to be: the least probability of a repair that nothing was bought for."""

    def __init__(self, careful: float, *, look_further: bool = False) -> None:
        """`look_further`: weigh also what no dependency contradicts: rare values, and what its row makes improbable."""
        self.careful, self.look_further = careful, look_further

    def clean(self, task: Task) -> Outcome:
        found = check_table(task.engine, task.table, task.fds, task.hierarchies, lambda _: None)
        if not found.violations and not task.named and not self.look_further:
            nothing = Judgement(self.careful, (), 0, 0, {}, (), (), lambda point: {}, (), lambda row, attribute: ())
            panel = task.buyer.summary({}) if isinstance(task.buyer, PanelPurchaser) else None
            return Outcome((), (), 0, 0, weighing=nothing, panel=panel)
        weighed = _weighed_rows(task, found, further=self.look_further)
        modelled = partial(_modelled, task, weighed, further=self.look_further)
        shopping = Shopping(modelled, task.buyer, weighed, self.careful, look_further=self.look_further)
        spend(shopping, task.buyer)
        shopping.finish()
        return _Outcome(task, shopping, weighed, self.careful).told(found)


def _modelled(task: Task, weighed: WeighedRows, *, further: bool) -> Model:
    """What is believed before anybody is asked, by what is offered now: somebody may come later."""
    match_columns = {name: offered.offer.columns for name, offered in task.buyer.offers.items()}
    named = {name: weighed.places(rows) for name, rows in task.named.items()}
    model = Model(task.fds, weighed.columns, _trees(task), match_columns, named, further=further)
    for name in task.buyer.offers:
        task.buyer.admit(name, model.columns[name].tree.ground_labels)
    return model


def _trees(task: Task) -> Hierarchies:
    offers = {name: offered.offer for name, offered in task.buyer.offers.items()}
    return {**{name: offer.hierarchy for name, offer in offers.items() if offer.tells_values}, **task.hierarchies}


def _weighed_rows(task: Task, found: Check, *, further: bool) -> WeighedRows:
    """All columns of all rows; of a relation that is not held, those that matter of the rows that violate something."""
    engine, table = task.engine, task.table
    in_doubt = list(dict.fromkeys([*(a for fd in task.fds for a in fd.attributes), *task.named]))
    if further:
        in_doubt = list(dict.fromkeys([*in_doubt, *task.used]))
    if len(table) * len(table.columns) * BYTES <= max(engine.holdable_bytes, SMALL):
        columns = engine.columns(table, table.columns)
        return WeighedRows.of(columns, len(table), in_doubt, _trees(task))
    parts = [dependency.violating.rows for dependency in found.dependencies]
    held = np.unique(np.concatenate([NO_ROWS, *parts, *task.named.values()]))
    texts = engine.rows(table, held, task.used)
    columns = {name: coded_texts(texts.column(name)) for name in task.used}
    return WeighedRows.of(columns, held, in_doubt, _trees(task))


class _Outcome:
    """What was decided, as repairs, classes that stay, and cells in doubt."""

    def __init__(
        self,
        task: Task,
        shopping: Shopping,
        weighed: WeighedRows,
        careful: float,
    ) -> None:
        self._task, self._model, self._shopping = task, shopping.model, shopping
        self._columns, self._places, self._careful = weighed.columns, weighed, careful
        self._decided = shopping.decided
        self._bought: dict[tuple[str, int], list[BoughtValue]] = {}
        for purchase in task.buyer.purchases:
            for row in purchase.rows.tolist():
                self._bought.setdefault((purchase.attribute, row), []).append(purchase)

    def told(self, found: Check) -> Outcome:
        task = self._task
        repairs = [repair for name in task.source.columns if name in self._decided for repair in self._repairs(name)]
        changes = net_changes(repairs, task.source.columns)
        cells = {a: NewCells(c.rows, c.new) for a, c in changes.items()}
        after = found
        if cells:
            table = task.engine.changed(task.table, cells)
            after = check_table(task.engine, table, task.fds, task.hierarchies, lambda _: None)
        left = [*self._unresolved(after), *self._named(repairs)]
        weighing = self._weighing(repairs)
        return Outcome(
            repairs,
            left,
            found.violations,
            after.violations,
            weighing=weighing,
            panel=self._panel(),
            changes=changes,
        )

    def _panel(self) -> PanelSummary | None:
        buyer, trusts = self._task.buyer, self._model.trust.by_attribute
        if not isinstance(buyer, PanelPurchaser):
            return None
        rates: dict[str, dict[str | None, float]]
        rates = {a: {name: trust[name] for name in buyer.selling(a)} for a, trust in trusts.items()}
        return buyer.summary(rates)

    # ---- repairs ----------------------------------------------------------------------------------------------

    def _repairs(self, name: str) -> list[Repair]:
        """The cells of a class that get one value are one repair."""
        weighed = self._decided[name]
        at = np.flatnonzero(weighed.written)
        if not len(at):
            return []
        classes, nodes = self._class_numbers(name, weighed.rows[at]), weighed.node[at]
        order = np.lexsort((self._rows(weighed.rows[at]), nodes, classes))
        cut = np.flatnonzero((np.diff(classes[order]) != 0) | (np.diff(nodes[order]) != 0)) + 1
        parts = np.split(at[order], cut)
        return [
            self._repair(name, weighed, part)
            for part in sorted(parts, key=lambda part: int(self._rows(weighed.rows[part[0]])))
        ]

    def _repair(self, name: str, weighed: Weighed, part: Ints) -> Repair:
        places = weighed.rows[part]
        rows = self._rows(places)
        new = str(self._model.columns[name].tree.label(int(weighed.node[part[0]])))
        bought = self._bought.get((name, int(rows[0])), []) if weighed.paid[part].any() else []
        why = Why.OWN if not bought else Why.BOUGHT if any(b.value == new for b in bought) else Why.WEIGHED
        return Repair(name, rows, self._columns[name], places, new, why, rows, 1, tuple(bought))

    def _class_numbers(self, name: str, places: Ints) -> Ints:
        """Per cell: the number of its class; cells of the left side alone are told apart by what they hold."""
        for belief in self._model.beliefs:
            if belief.fd.rhs == name:
                return belief.side.group[places]
        return self._columns[name].codes[places].astype(np.int64)

    def _unresolved(self, after: Check) -> Iterator[Unrepaired]:
        """The classes whose values still exclude each other."""
        for name, cells in after.classes.cells.items():
            for number in range(len(cells)):
                rows = cells.group(number)
                yield self._left(name, rows)

    def _named(self, repairs: list[Repair]) -> Iterator[Unrepaired]:
        """Named cells that nothing was bought for."""
        if not self._task.named:
            return
        written = {(repair.attribute, row) for repair in repairs for row in repair.written.tolist()}
        for name, rows in self._task.named.items():
            for row in rows.tolist():
                if (name, row) not in written and (name, row) not in self._bought:
                    yield self._left(name, np.array([row]))

    def _left(self, name: str, rows: Ints) -> Unrepaired:
        found = self._reason(name, rows)
        return Unrepaired(name, rows, found.reason, cheapest=found.cheapest)

    def _reason(self, name: str, rows: Ints) -> Unbought:
        """Why nothing was made of a class."""
        for row in rows.tolist():
            if (reason := self._shopping.reasons.get((name, row))) is not None:
                return Unbought(reason)
        if name not in self._task.buyer.offers:
            return Unbought(NOT_SOLD)
        if any((name, row) in self._bought for row in rows.tolist()):
            return Unbought(IN_DOUBT)
        remaining = self._task.buyer.remaining
        found = Unbought(NOT_WORTH_IT)
        if len(quoted := self._shopping.quoted(name, rows)):
            found = unbought(quoted, self._task.buyer.offers[name])
        if found.cheapest is None and found.reason != NOT_WORTH_IT:
            return found  # it was refused, whatever money is left
        if not remaining:
            return Unbought(BUDGET_SPENT)
        return found if found.cheapest is not None and found.cheapest > remaining else Unbought(NOT_WORTH_IT)

    # ---- what was believed ------------------------------------------------------------------------------------

    def _weighing(self, repairs: list[Repair]) -> Judgement:
        paid = sum(len(repair.written) for repair in repairs if repair.purchases)
        written = sum(len(repair.written) for repair in repairs)
        misplaced = self._model.misplaced
        rates = tuple(
            LearntRates(b.fd, b.rates.wrong, b.rates.overwritten, misplaced.share.get(b.side, 0.0), b.rates.mixed)
            for b in self._model.beliefs
        )
        return Judgement(
            self._careful,
            rates,
            written - paid,
            paid,
            self._vote(),
            tuple(self._doubtful()),
            tuple(self._shopping.expected),
            self._stage,
            tuple(self._shopping.promised),
            partial(_explained, self._shopping),
        )

    def _vote(self) -> dict[str, Changes]:
        """What the most frequent value of each violated group would change; of several dependencies the first votes."""
        found: dict[str, Changes] = {}
        for belief in self._model.beliefs:
            places, nodes = belief.outvoted()
            if belief.fd.rhs not in found and len(places):
                found[belief.fd.rhs] = self._changes(belief.fd.rhs, places, nodes)
        return found

    def _stage(self, point: int) -> dict[str, Changes]:
        """What was to be written when all was weighed for the so-manieth time."""
        stage = self._shopping.stages[point]
        return {name: self._changes(name, *cells) for name, cells in stage.items() if len(cells[0])}

    def _changes(self, name: str, places: Ints, nodes: Ints) -> Changes:
        coded, order = self._columns[name], np.argsort(self._rows(places))
        places, nodes = places[order], nodes[order]
        old = [coded.values[code] for code in coded.codes[places].tolist()]
        return Changes(self._rows(places), old, self._model.columns[name].labels(nodes.tolist()))

    def _doubtful(self) -> list[DoubtfulCell]:
        found = []
        for name, weighed in self._decided.items():
            unsure = (weighed.written & (weighed.sure < self._careful)) | weighed.in_doubt
            coded, tree = self._columns[name], self._model.columns[name].tree
            for at in np.flatnonzero(unsure & (weighed.node >= 0)).tolist():
                place = int(weighed.rows[at])
                found.append(
                    DoubtfulCell(
                        int(self._rows(np.array([place]))[0]),
                        name,
                        coded.values[int(coded.codes[place])],
                        str(tree.label(int(weighed.node[at]))),
                        float(weighed.sure[at]),
                        bool(weighed.written[at]),
                    )
                )
        return sorted(found, key=lambda cell: (not cell.written, cell.sure, cell.row, cell.attribute))

    def _rows(self, places: Ints) -> Ints:
        return self._places.rows[places]


def _explained(shopping: Shopping, row: int, attribute: str) -> list[WeighedExplanation]:
    place = shopping.weighed.place(row) if attribute in shopping.model.columns else None
    return [] if place is None else explanations(shopping.model, shopping.rare, place, attribute)
