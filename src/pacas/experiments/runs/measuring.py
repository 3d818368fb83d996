"""One run, measured: how good the repair is, what it cost, what was refused, and where the time went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.client.classes.check import check
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.score import CellCounts, score
from pacas.client.safe_clean import SafeClean
from pacas.core.consistency import GroupedRows
from pacas.core.money import credits_text, in_credits
from pacas.core.relation import Relation
from pacas.engine.contract import Engine
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.new_cells import put
from pacas.experiments.baselines.bounds import no_privacy, no_purchase
from pacas.experiments.baselines.private_repair import private_repair
from pacas.experiments.datasets.dataset import Dataset
from pacas.experiments.datasets.load import load
from pacas.experiments.errors.dirty_relation import CellError
from pacas.experiments.errors.error_generator import ErrorGenerator
from pacas.experiments.runs.partial_sellers import CHEAPER, WRONG, Part, PartialSeller
from pacas.experiments.runs.setting import (
    CHEAP,
    COMPLETE,
    FIRST,
    LINKED,
    NO_PRIVACY,
    NO_PURCHASE,
    OVERWRITTEN,
    PANEL,
    PRIVATE_RHS,
    SECOND,
    STALE,
    STALE_GROUPS,
    WEIGH_FURTHER,
    WEIGHING,
    Setting,
)
from pacas.protocol.marketplace import Columns, Forwarding, Marketplace
from pacas.protocol.messages import Answer, Ladders, Payment, Reason, Refusal, Request, refused
from pacas.provider.provider import Provider
from pacas.provider.quote_mode import QuoteMode

Measured = dict[str, Any]
"""What was measured, by the columns of `results.SCHEMA`."""


class Timed(Forwarding):
    """A marketplace whose calls are timed, in seconds. It is made when the cleaning begins."""

    def __init__(self, marketplace: Marketplace) -> None:
        super().__init__(marketplace)
        self._began = perf_counter()
        self.before_asking = 0.0
        """For finding errors and classes."""
        self.asking = self.paying = 0.0
        self.dearest = 1
        """The most that anything was quoted at, in nanocredits."""

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        start = perf_counter()
        self.before_asking = self.before_asking or start - self._began
        ladders = super().quote_batch(attribute, tuples)
        self.asking += perf_counter() - start
        self.dearest = max(self.dearest, int(ladders.prices.max(initial=0)))
        return ladders

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        start = perf_counter()
        answer = super().pay(request, ceiling, key)
        self.paying += perf_counter() - start
        return answer

    def pay_many(self, payments: Sequence[Payment]) -> list[Answer | Refusal]:
        start = perf_counter()
        answers = super().pay_many(payments)
        self.paying += perf_counter() - start
        return answers

    def modules(self, seconds: float) -> Measured:
        """Where the seconds of a whole cleaning went."""
        rest = seconds - self.before_asking - self.asking - self.paying
        return {
            "seconds": seconds,
            "seconds_detect": self.before_asking,
            "seconds_ask": self.asking,
            "seconds_pay": self.paying,
            "seconds_repair": max(rest, 0.0),
        }


@dataclass(frozen=True, eq=False)
class DirtyDataset:
    """A data set and its dirty version, ready to be cleaned."""

    dataset: Dataset
    dirty: Relation
    classes: Mapping[str, tuple[int, ...]]
    """Per attribute: the last row of each unresolved class, which is asked about if all its tuples look alike."""
    unseen: tuple[CellError, ...]
    """The wrong cells that no dependency sees."""

    def asked(self, attribute: str) -> dict[str, pa.ChunkedArray]:
        """The tuples that the classes of an attribute are asked about by."""
        match = self.dataset.match[attribute]
        rows = self.dirty.table.take(pa.array(self.classes[attribute], pa.int64()))
        return {clause.client: rows.column(clause.client).cast(pa.string()) for clause in match.clauses}


def measure(setting: Setting, data: Path | None) -> Measured:
    """Run a setting. What other settings have in common with it is kept from the last ones."""
    if (known := _known_with_less(setting, data)) is not None:
        return known
    how = (setting.error_rate, setting.side, setting.random_rate)
    given = _dirty_dataset(setting.dataset, data, setting.rows, setting.seed, *how)
    with closing(DuckEngine()) as engine:
        figures = _buy(setting, data, given, engine) if setting.buys else _baseline(setting, given, engine)
    figures |= {"actual_rows": len(given.dirty)}
    if figures.pop("ample", False):
        _AMPLE.clear()
        _AMPLE[replace(setting, budget=0.0), data] = setting.budget, figures
    return figures


# ---- what settings share ----------------------------------------------------------------------------------------

_AMPLE: dict[tuple[Setting, Path | None], tuple[float, Measured]] = {}
"""The last run of a client that weighs that could pay for anything to its end: with more money it is the same run."""


def _known_with_less(setting: Setting, data: Path | None) -> Measured | None:
    budget, figures = _AMPLE.get((replace(setting, budget=0.0), data), (float("inf"), {}))
    return dict(figures) if budget <= setting.budget else None


@lru_cache(maxsize=1)
def _dataset(name: str, data: Path | None, rows: int | None) -> Dataset:
    return load(name, data, rows=rows)


@lru_cache(maxsize=1)
def _dirty_dataset(
    name: str, data: Path | None, rows: int | None, seed: int, rate: float, side: str, random_rate: float
) -> DirtyDataset:
    dataset = _dataset(name, data, rows)
    aimed: dict[str, Any] = {"overwritten": rate} if side == OVERWRITTEN else {"rate": rate, "side": side}
    if side == STALE:
        aimed = {"rate": rate, "stale": STALE_GROUPS}
    generator = ErrorGenerator(
        dataset.fds, **aimed, random_rate=random_rate, hierarchies=dataset.hierarchies, seed=seed
    )
    made = generator.dirty(dataset.truth)
    classes = check(made.relation, dataset.fds, dataset.hierarchies).classes
    last = {a: _last_rows(cells) for a, cells in classes.cells.items()}
    return DirtyDataset(dataset, made.relation, last, tuple(error for error in made.errors if not error.is_seen))


@lru_cache(maxsize=1)
def _unguarded(name: str, data: Path | None, rows: int | None, seed: int, per_cell: int, quotes: str) -> Provider:
    return _dataset(name, data, rows).provider(None, per_cell=per_cell, seed=seed, quotes=QuoteMode(quotes))


def _full_cost(setting: Setting, data: Path | None, given: DirtyDataset) -> int:
    """What every class would cost at level 0, if nothing were refused, in nanocredits."""
    provider = _unguarded(setting.dataset, data, setting.rows, setting.seed, setting.per_cell, setting.quotes)
    total = 0
    for attribute in given.classes:
        prices = provider.quote_batch(attribute, given.asked(attribute)).prices[:, 0]
        total += int(prices[prices >= 0].sum())
    return total


def _last_rows(cells: GroupedRows) -> tuple[int, ...]:
    return tuple(np.maximum.reduceat(cells.rows, cells.offsets[:-1]).tolist()) if len(cells) else ()


# ---- SafeClean --------------------------------------------------------------------------------------------------


def _buy(setting: Setting, data: Path | None, given: DirtyDataset, engine: Engine[Any]) -> Measured:
    full_cost = _full_cost(setting, data, given)
    built = process_time()
    provider = _provider(setting, given.dataset, engine)
    sold = _sold(setting, provider, given.dataset, engine)
    built = process_time() - built
    declined = _declined(provider, given)
    budget = round(full_cost * setting.budget)
    how = SafeClean(
        given.dataset.fds,
        credits_text(budget),
        hierarchies=given.dataset.hierarchies,
        max_level=setting.max_level,
        **_strategy(setting),
    )
    cpu, start = process_time(), perf_counter()
    market = Timed(provider) if sold is None else sold
    cleaning = how.clean(given.dirty, market, engine=engine)
    seconds, cpu = perf_counter() - start, process_time() - cpu
    return {
        **_quality(cleaning.relation, given, engine),
        **_spending(cleaning, full_cost),
        **declined,
        **(market.modules(seconds) if isinstance(market, Timed) else {"seconds": seconds}),
        "cpu_seconds": cpu,
        "cpu_provider": built,
        "ample": isinstance(market, Timed) and _is_ample(setting, budget - cleaning.spent_nanocredits, market.dearest),
    }


def _is_ample(setting: Setting, remaining: int, dearest: int) -> bool:
    """Was money never short? Who weighs looks at it only to see whether a price can be paid; the paper allots it."""
    return setting.method in WEIGHING and remaining >= dearest


def _sold(
    setting: Setting, provider: Provider, dataset: Dataset, engine: Engine[Any]
) -> PartialSeller | dict[str, PartialSeller] | None:
    """What those sell who know a part of the truth, each from a ledger of its own; None of one that knows all."""
    names = {COMPLETE: (), PANEL: (FIRST, SECOND, CHEAP)}.get(setting.sellers, (setting.sellers,))
    sellers = {}
    for number, name in enumerate(names):
        part = Part(f"{name} {setting.seed}")
        part = replace(part, wrong=WRONG, price=CHEAPER) if name == CHEAP else part
        sellers[name] = PartialSeller(provider if number == 0 else _provider(setting, dataset, engine), part)
    return None if not sellers else sellers if setting.sellers == PANEL else next(iter(sellers.values()))


def _strategy(setting: Setting) -> dict[str, Any]:
    """What SafeClean is told: to weigh, or the paper's choices."""
    if setting.method in WEIGHING:
        return {"strategy": "weigh", "look_further": setting.method == WEIGH_FURTHER}
    return {"allocation": setting.allocation, "repair": setting.method}


def _provider(setting: Setting, dataset: Dataset, engine: Engine[Any]) -> Provider:
    if setting.quasi_identifiers is not None:
        dataset = replace(dataset, quasi_identifiers=dataset.quasi_identifiers[: setting.quasi_identifiers])
    return dataset.provider(
        setting.k,
        setting.level,
        per_cell=setting.per_cell,
        seed=setting.seed,
        linked=setting.guard == LINKED,
        quotes=QuoteMode(setting.quotes),
        engine=engine,
    )


def _spending(cleaning: Cleaning, full_cost: int) -> Measured:
    return {
        "purchases": len(cleaning.purchases),
        "unrepaired": len(cleaning.unrepaired),
        "classes": len(cleaning.purchases) + len(cleaning.unrepaired),
        "spent": cleaning.spent,
        "full_cost": in_credits(full_cost),
        "spent_share": cleaning.spent_nanocredits / full_cost if full_cost else None,
    }


def _declined(provider: Provider, given: DirtyDataset) -> Measured:
    """Per level below the root: which share of the classes is refused as unsafe before anything is sold."""
    unsafe = refused(Reason.UNSAFE)
    counts: dict[int, list[int]] = {}
    for attribute in given.classes:
        prices = provider.quote_batch(attribute, given.asked(attribute)).prices
        for level in range(prices.shape[1] - 1):
            counts.setdefault(level, []).extend((prices[:, level] == unsafe).tolist())
    return {f"declined_{level}": float(np.mean(found)) for level, found in counts.items() if found}


# ---- baselines --------------------------------------------------------------------------------------------------


def _baseline(setting: Setting, given: DirtyDataset, engine: Engine[Any]) -> Measured:
    cpu, start = process_time(), perf_counter()
    relation = _repaired(setting, given, engine)
    seconds, cpu = perf_counter() - start, process_time() - cpu
    return {**_quality(relation, given, engine), "seconds": seconds, "cpu_seconds": cpu}


def _repaired(setting: Setting, given: DirtyDataset, engine: Engine[Any]) -> Relation:
    dataset = given.dataset
    if setting.method == NO_PURCHASE:
        return no_purchase(given.dirty, dataset.fds, dataset.hierarchies, engine=engine)
    if setting.method == NO_PRIVACY:
        bought = no_privacy(given.dirty, dataset.truth, dataset.fds, dataset.match, dataset.hierarchies, engine=engine)
        return bought.relation
    columns = [fd.rhs for fd in dataset.fds] if setting.method == PRIVATE_RHS else None
    return private_repair(given.dirty, dataset.fds, seed=setting.seed, columns=columns, engine=engine).relation


# ---- quality ----------------------------------------------------------------------------------------------------


def _quality(relation: Relation, given: DirtyDataset, engine: Engine[Any]) -> Measured:
    """Over the attributes of the dependencies, and others that were written: the dirty table is right there."""
    of_fds = {a for fd in given.dataset.fds for a in fd.attributes}
    after, before = relation.table, given.dirty.table
    named = [a for a in before.column_names if a in of_fds or not after.column(a).equals(before.column(a))]
    repaired, truth, dirty = (Relation(r.table.select(named)) for r in (relation, given.dataset.truth, given.dirty))
    total = score(repaired, truth, dirty, given.dataset.hierarchies, engine=engine).total
    counts, error = total.counts or CellCounts(), total.repair_error_before or 0.0
    return {
        "error": total.repair_error,
        "dirty_error": error,
        "relative_error": total.repair_error / error if error else None,
        "wrong": counts.wrong,
        "wrong_after": counts.wrong_after,
        "changed": counts.changed,
        "correct": counts.correct,
        "general": sum(counts.levels[1:]),
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        **_unseen(relation, given, engine, total.repair_error, error),
        **{f"level_{level}": n for level, n in enumerate(counts.levels)},
        **{f"quarter_{number}": n for number, n in enumerate(counts.quarters, start=1)},
    }


def _unseen(relation: Relation, given: DirtyDataset, engine: Engine[Any], error: float, before: float) -> Measured:
    """What is wrong where no dependency sees it, before and after; and the error of all other cells."""
    held = list(_held(relation, given.unseen, engine))
    was = _error_of([(cell, cell.new) for cell in given.unseen], given, engine)
    left = _error_of(held, given, engine)
    return {
        "unseen": len(held),
        "unseen_after": sum(value != cell.old for cell, value in held),
        "unseen_share": was / before if before else None,
        "seen_error": max(error - left, 0.0) / (before - was) if before > was else None,
    }


HeldCell = tuple[CellError, str | None]
"""A cell that was spoilt, and a value of it."""


def _held(relation: Relation, cells: Sequence[CellError], engine: Engine[Any]) -> Iterator[HeldCell]:
    """What the cells hold in a relation."""
    for attribute in dict.fromkeys(cell.attribute for cell in cells):
        here = [cell for cell in cells if cell.attribute == attribute]
        rows = np.array([cell.row for cell in here], dtype=np.int64)
        values = engine.rows(engine.open(relation, [attribute]), rows, [attribute]).column(0).to_pylist()
        yield from zip(here, values, strict=True)


def _error_of(cells: Sequence[HeldCell], given: DirtyDataset, engine: Engine[Any]) -> float:
    """δ of the truth with nothing but these cells changed."""
    truth, total = given.dataset.truth, 0.0
    for attribute in dict.fromkeys(cell.attribute for cell, _ in cells):
        here = {cell.row: value for cell, value in cells if cell.attribute == attribute}
        rows = np.array(sorted(here), dtype=np.int64)
        column = engine.rows(engine.open(truth, [attribute]), None, [attribute]).column(0)
        changed = put(column, rows, pa.array([here[row] for row in rows.tolist()], pa.string()))
        one, other = (Relation(pa.table({attribute: texts})) for texts in (changed, column))
        total += score(one, other, None, given.dataset.hierarchies, engine=engine).repair_error
    return total
