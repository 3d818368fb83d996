"""SafeClean: repair a relation with values bought under a budget, the class with most errors first.

Paper: Alg. 3. Differs from the paper: what is written may be the client's own evidence (D11, `repair`); a class whose
errors are gone is not bought for; and the loop may run again on what it has repaired (`rounds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np

from pacas.client.allocation import ALLOCATIONS, Turn
from pacas.client.buying.offers import (
    PREFERENCES,
    MaxLevel,
    all_hierarchies,
    check_marketplace,
    check_max_level,
    find_offers,
    is_whole,
)
from pacas.client.buying.purchaser import Purchaser
from pacas.client.buying.requests import classes_of_one_tuple
from pacas.client.classes.error_counts import ErrorCounts
from pacas.client.classes.generate_eqs import generate_eqs
from pacas.client.classes.named_cells import Cell, check_attributes, check_cells
from pacas.client.outcome.changes import net_changes
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import BUDGET_SPENT, NOT_SOLD, BoughtValue, Observer, Progress, Repair, Unrepaired
from pacas.client.repair import REPAIRS, Repairs, ground
from pacas.client.selection import Selection
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.core.money import nanocredits
from pacas.engine.contract import Engine, RelationFile, Source
from pacas.engine.new_cells import NewCells
from pacas.engine.questions import Data, as_source, engine_for
from pacas.errors import InputError
from pacas.protocol.marketplace import Marketplace

T = TypeVar("T")


class SafeClean:
    """How to clean: the dependencies, the money, and the choices that the paper leaves open.

    `budget` is in credits. `hierarchies` are the client's own; for other attributes those of the provider count.
    `max_level` is the coarsest level that may be bought, for all attributes or by attribute. `cells` are (row,
    attribute) pairs that another error detector has named.
    """

    def __init__(
        self,
        fds: str | Iterable[str | FunctionalDependency],
        budget: int | float | str,
        *,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        max_level: MaxLevel = None,
        allocation: str = "errors",
        prefer: str = "finest",
        repair: str = "refine",
        rounds: int = 1,
        cells: Iterable[Cell] | None = None,
    ) -> None:
        self.fds = FunctionalDependency.parse_all([fds] if isinstance(fds, str) else fds)
        self.cells = tuple(cells or ())
        self.budget = nanocredits(budget, "the budget")
        self.hierarchies = dict(hierarchies or {})
        self.max_level = max_level
        self.allocate = _one_of(ALLOCATIONS, allocation, "allocation")
        self.prefer = _one_of({p: p for p in PREFERENCES}, prefer, "preference")
        self.rule = _one_of(REPAIRS, repair, "way to repair")
        self.rounds = rounds
        check_max_level(max_level)
        if not self.fds and not self.cells:
            raise InputError("nothing to repair by; give at least one dependency, such as 'GEN, DIAG -> MED', or cells")
        if self.budget < 0:
            raise InputError(f"the budget must not be negative, and {budget!r} is")
        if not is_whole(rounds) or rounds < 1:
            raise InputError(f"at least one round is needed, a whole number of them, not {rounds!r}")

    def clean(
        self,
        data: Data,
        marketplace: Marketplace,
        *,
        run: str | None = None,
        observer: Observer | None = None,
        engine: Engine[Any] | None = None,
    ) -> Cleaning:
        """Repair a table in memory, or a file's (`pacas.scan_relation`), with what the marketplace sells.

        Purchases are paid under idempotency keys made from `run`, which must be a name of this run and of no other.
        """
        check_marketplace(marketplace)
        engine, source = engine_for(data, engine), as_source(data)
        for fd in self.fds:
            fd.check(source.columns, source.name)
        catalogue = marketplace.catalogue()
        wanted = {fd.rhs for fd in self.fds} | check_attributes(self.cells, source)
        offers = find_offers(catalogue, wanted, source, self.max_level, self.prefer)
        hierarchies = all_hierarchies(catalogue, self.hierarchies, source)
        buyer = Purchaser(marketplace, offers, self.budget, run or uuid4().hex, observer or Observer())
        named_in = {a for fd in self.fds for a in fd.attributes} | wanted | buyer.columns
        used = [c for c in source.columns if c in named_in]
        given = table = engine.open(source, None if _is_read_at_once(source, engine) else used)
        named = check_cells(self.cells, table)
        repairs = Repairs(self.rule)
        violations: list[int] = []
        for number in range(1, self.rounds + 1):
            counts = generate_eqs(engine, table, used, self.fds, named, hierarchies, self.rule is ground)
            violations.append(counts.violations)
            done_before = len(repairs)
            unrepaired = self._spend(counts, buyer, repairs, number)
            counts.close()
            named = _still_named(named, repairs[done_before:])
            if len(repairs) == done_before or not buyer.remaining or number == self.rounds:
                break
            changes = net_changes(repairs[done_before:], source.columns)
            table = engine.changed(table, {a: NewCells(c.rows, c.new) for a, c in changes.items()})
        return Cleaning(
            source=source,
            table=given,
            fds=self.fds,
            hierarchies=hierarchies,
            purchases=tuple(buyer.purchases),
            repairs=tuple(repairs),
            unrepaired=tuple(unrepaired),
            budget_nanocredits=self.budget,
            spent_nanocredits=self.budget - buyer.remaining,
            violations_before=violations[0],
            violations_after=counts.violations,
            rounds=number,
            engine=engine,
        )

    def _spend(self, counts: ErrorCounts, buyer: Purchaser, repairs: Repairs, number: int) -> list[Unrepaired]:
        """The loop of Alg. 3, on the unresolved classes of one round; the classes that it leaves as they are."""
        unrepaired: list[Unrepaired] = []
        eqs = Selection(counts.errors)
        is_alike = classes_of_one_tuple(counts, buyer.offers)
        iteration = 0
        while buyer.remaining > 0 and (eq := eqs.most_errors()) is not None:
            if not counts.errors[eq]:
                break  # nor has any other class: all are dropped
            iteration += 1
            turn = Turn(int(counts.errors[eq]), counts.total, len(eqs), iteration)
            allowance = self.allocate(buyer.remaining, turn)
            outcome = buyer.buy(counts.attribute(eq), counts.rows(eq), allowance, counts.current, bool(is_alike[eq]))
            eqs.drop(eq)
            counts.drop(eq)
            if isinstance(outcome, BoughtValue):
                repairs.apply(eq, outcome, counts, number)
                if (altered := counts.take_altered()) is not None:
                    eqs.changed(altered, counts.errors[altered])
            else:
                unrepaired.append(outcome)
            spent = self.budget - buyer.remaining
            buyer.observer.progressed(Progress(number, iteration, len(counts), spent, counts.violations))
        return unrepaired + _left_over(eqs, counts, buyer)


def _still_named(named: Mapping[str, Ints], repairs: Iterable[Repair]) -> dict[str, Ints]:
    """The named cells that no repair has reached."""
    left = dict(named)
    for repair in repairs:
        if repair.attribute in left:
            left[repair.attribute] = np.setdiff1d(left[repair.attribute], repair.rows)
    return {a: rows for a, rows in left.items() if len(rows)}


def _left_over(eqs: Selection, counts: ErrorCounts, buyer: Purchaser) -> list[Unrepaired]:
    """The classes with errors whose turn never came, as the money was gone."""
    return [
        Unrepaired(a, counts.current.rows(counts.rows(eq)), BUDGET_SPENT if a in buyer.offers else NOT_SOLD)
        for eq in eqs.left()
        if counts.errors[eq] and (a := counts.attribute(eq))
    ]


def _is_read_at_once(source: Source, engine: Engine[Any]) -> bool:
    """Whether all columns are read in the same go: a text has to be read as a whole, and will be written so."""
    if not isinstance(source, RelationFile) or source.format != "csv":
        return False
    return source.path.stat().st_size * TEXT <= engine.holdable_bytes


TEXT = 4
"""What a byte of a text file takes in memory, at most."""


def _one_of(known: Mapping[str, T], name: str, what: str) -> T:
    if not isinstance(name, str) or name not in known:
        raise InputError.unknown(what, name, known)
    return known[name]
