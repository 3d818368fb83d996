"""Several providers that do not tell which values an attribute may have, as one at a URL does that has no hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from panel_shops import FD, JOBS, JobShop, departments, wrong_cells

import pacas
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import RemoteError
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Offer, Refusal, Request

ENGINE = DuckEngine(threads=1)
STRATEGIES = ("paper", "weigh")


class UntoldShop(JobShop):
    """Sells jobs at the ground, and publishes no tree of them."""

    def catalogue(self) -> dict[str, Offer]:
        return {"JOB": Offer("JOB", ("DEPT",), Hierarchy.flat([]))}

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return Ladders(super().quote_batch(attribute, tuples).prices[:, :2])


def shops(truth: pa.Table, kind: type[JobShop] = UntoldShop) -> dict[str, JobShop]:
    tree = Hierarchy.flat(dict.fromkeys([*JOBS.ground_labels, *truth["JOB"].to_pylist()]))
    known: dict[str, Any] = {"covers": 0.6, "tree": tree}
    return {
        "a": kind(truth, seed=1, **known),
        "b": kind(truth, seed=2, **known),
        "c": kind(truth, seed=3, wrong=0.15, price=70, **known),
    }


def cleaned(dirty: pa.Table, markets: Any, strategy: str, dry_run: bool = False, **how: Any) -> Any:
    return pacas.SafeClean(FD, "0.0001", strategy=strategy, **how).clean(dirty, markets, engine=ENGINE, dry_run=dry_run)


class Told(UntoldShop):
    """The same, with all values told."""

    catalogue = JobShop.catalogue


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_they_are_bought_from_as_if_the_values_were_told(strategy: str) -> None:
    """All values stand in the client's column, so nothing is left to be told."""
    truth, dirty = departments(60, seed=3, stale=0.3)
    found = {kind: shops(truth, kind) for kind in (UntoldShop, Told)}
    untold, told = (cleaned(dirty, markets, strategy) for markets in found.values())
    assert untold.panel is not None and not untold.panel.away and untold.purchases
    assert untold.spent_nanocredits == sum(shop.earned for shop in found[UntoldShop].values())
    assert wrong_cells(untold.to_arrow(), truth) <= 0.2 * wrong_cells(dirty, truth)
    if strategy == "paper":
        assert [p.price for p in untold.purchases] == [p.price for p in told.purchases]
        assert untold.to_arrow().to_pylist() == told.to_arrow().to_pylist()


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_value_that_nobody_had_named_is_written(rounds: int) -> None:
    truth, dirty = departments(60, seed=3)
    jobs = truth["JOB"].to_pylist()
    jobs[25:30] = jobs[45:50] = ["new"] * 5
    truth = truth.set_column(1, "JOB", pa.array(jobs))
    known = shops(truth)
    known["c"] = Told(truth, seed=4, tree=Hierarchy.flat(JOBS.ground_labels))
    for dept in ("d0005", "d0009"):
        del known["c"].job[dept]
    cleaning = cleaned(_disagreeing(dirty), known, "paper", rounds=rounds)
    told = {p.value for p in cleaning.purchases if int(p.rows[0]) // 5 in (5, 9)}
    assert told == {"new"} and cleaning.panel is not None and not cleaning.panel.away
    written = cleaning.to_arrow()["JOB"].to_pylist()
    assert written[25:30] == written[45:50] == ["new"] * 5


def test_a_client_that_weighs_says_that_it_was_told_a_value_that_stands_nowhere() -> None:
    truth, dirty = departments(60, seed=3)
    jobs = truth["JOB"].to_pylist()
    jobs[25:30] = ["new"] * 5
    tree = Hierarchy.flat([*JOBS.ground_labels, "new"])
    known = truth.set_column(1, "JOB", pa.array(jobs))
    cleaning = cleaned(_disagreeing(dirty), {name: UntoldShop(known, tree=tree) for name in "ab"}, "weigh")
    assert {p.value for p in cleaning.purchases if 25 <= int(p.rows[0]) < 30} == {"new"}
    assert {u.reason for u in cleaning.unrepaired if 25 in u.rows} == {"unknown_value"}


def _disagreeing(table: pa.Table) -> pa.Table:
    """Two departments in which no two cells are alike, none of which holds what only the providers know."""
    jobs = table["JOB"].to_pylist()
    jobs[25:30] = jobs[45:50] = JOBS.ground_labels[:5]
    return table.set_column(1, "JOB", pa.array(jobs))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_dry_run_supposes_what_they_could_answer(strategy: str) -> None:
    truth, dirty = departments(40, seed=3, stale=0.3)
    markets = shops(truth)
    assert cleaned(dirty, markets, strategy, dry_run=True).purchases
    one = cleaned(dirty, markets["a"], strategy, dry_run=True)  # one alone is asked what several are
    assert one.purchases and not any(shop.sold for shop in markets.values())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_name_of_a_family_where_a_job_was_bought_is_no_answer(strategy: str) -> None:
    truth, dirty = departments(40, seed=3, stale=0.3)
    markets = {name: JobShop(truth, seed=n) for n, name in enumerate("ab")}
    real = markets["a"].pay

    def coarser(request: Request, ceiling: int, key: str) -> Answer | Refusal:
        answer = real(request, ceiling, key)
        assert isinstance(answer, Answer)
        return Answer(str(JOBS.generalize_value(answer.value, 1)), answer.level, answer.price)

    markets["a"].pay = coarser  # type: ignore[method-assign]
    cleaning = cleaned(dirty, markets, strategy, max_level=0)
    assert cleaning.panel is not None and cleaning.panel.away["a"] == "it answered with what it does not sell"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_quotes_that_are_none_and_a_catalogue_that_is_told_once_end_no_run(strategy: str) -> None:
    truth, dirty = departments(40, seed=3, stale=0.3)
    markets = {name: JobShop(truth, seed=n) for n, name in enumerate("abcd")}
    quotes, asked = markets["a"].quote_batch, []

    def unknown_refusal(attribute: str, tuples: Columns) -> Ladders:
        return Ladders(np.full_like(quotes(attribute, tuples).prices, -77))

    def half_credits(attribute: str, tuples: Columns) -> Ladders:
        return Ladders(quotes(attribute, tuples).prices + 0.5)  # type: ignore[arg-type]

    def told_once() -> dict[str, Offer]:
        asked.append("catalogue")
        if len(asked) > 2:
            raise RemoteError("the provider does not answer; try again later")
        return JobShop.catalogue(markets["c"])

    markets["a"].quote_batch, markets["b"].quote_batch = unknown_refusal, half_credits  # type: ignore[method-assign]
    markets["c"].catalogue = told_once  # type: ignore[method-assign]
    cleaning = cleaned(dirty, markets, strategy)
    assert cleaning.panel is not None and {*cleaning.panel.away} == {"a", "b"}
    assert cleaning.purchases and {p.provider for p in cleaning.purchases} <= {"c", "d"}
