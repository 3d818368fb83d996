"""Purchases that are planned and paid in runs are those that would be made one by one, and so is the table."""

from __future__ import annotations

from typing import Any

from engines import Roomless
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from run_worlds import FDS, MATCHES, SCHEDULES, Counted, OneByOne, RunWorld, sold, told

from pacas.engine.duck.engine import DuckEngine

ENGINE, ROOMLESS = DuckEngine(threads=1), Roomless()

PAPERS = st.fixed_dictionaries(
    {
        "allocation": st.sampled_from(["errors", "harmonic", "uniform"]),
        "repair": st.sampled_from(["refine", "replace", "ground"]),
        "prefer": st.sampled_from(["finest", "finest", "coarsest"]),
        "rounds": st.integers(1, 2),
    }
)


@st.composite
def run_worlds(draw: st.DrawFn) -> RunWorld:
    strategy = draw(st.sampled_from(["paper", "paper", "weigh"]))
    match = draw(st.sampled_from(["by group", *MATCHES]))
    return RunWorld(
        seed=draw(st.integers(0, 10**6)),
        groups=draw(st.integers(2, 30)),
        fds=draw(st.sampled_from([*FDS])),
        match=match,
        quotes=draw(st.sampled_from(["paper", "sealed"] if match != "by repaired" else ["paper"])),
        schedule=draw(st.sampled_from(["list", *SCHEDULES])),
        strategy=strategy,
        budget=draw(st.sampled_from([0, 1, 5, 20, 60, 300, 2000])),
        choices=draw(PAPERS) if strategy == "paper" else {},
    )


def _both(world: RunWorld, engine: Any, theirs: Any) -> Counted:
    together, apart = world.provider(theirs), world.provider(theirs)
    market = Counted(together)
    found = told(world.clean(market, engine))
    assert found == told(world.clean(OneByOne(apart), engine))
    assert sold(together) == sold(apart)
    return market


@examples(64)
@given(run_worlds(), st.booleans())
def test_runs_buy_and_write_what_one_by_one_buys_and_writes(world: RunWorld, is_held: bool) -> None:
    engine = ENGINE if is_held else ROOMLESS
    _both(world, engine, ENGINE)


@examples(8)
@given(run_worlds())
def test_runs_agree_with_a_provider_that_stays_on_its_engine(world: RunWorld) -> None:
    _both(world._replace(groups=min(world.groups, 8)), ENGINE, ROOMLESS)


def _apart(quotes: str, strategy: str) -> RunWorld:
    return RunWorld(5, 40, "apart", "by group", quotes, "list", strategy, 2000, {})


def test_where_nothing_interacts_runs_are_long() -> None:
    for quotes in ("paper", "sealed"):
        for strategy in ("paper", "weigh"):
            market = _both(_apart(quotes, strategy), ENGINE, ENGINE)
            purchases = sum(sold_ for _, sold_ in market.runs)
            assert purchases >= (5 if strategy == "paper" else 2) * len(market.runs) > 0, (quotes, market.runs)


def test_where_a_repair_decides_what_is_asked_next_purchases_are_made_one_by_one() -> None:
    world = RunWorld(5, 30, "chained", "by repaired", "paper", "list", "paper", 300, {})
    market = _both(world, ENGINE, ENGINE)
    assert sum(sold_ for _, sold_ in market.runs) < 30
