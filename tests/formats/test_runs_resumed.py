"""Runs of purchases, interrupted at any moment: continued, nothing else is bought, and it ends the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines import Roomless
from interrupted_offices import PARTS, At, Ended
from lanes import share
from run_worlds import Counted, OneByOne, RunWorld, sold, told

import pacas
from pacas.client.outcome.cleaning import Cleaning
from pacas.engine.duck.engine import DuckEngine
from pacas.formats.journal.journal import Journal

ENGINE, ROOMLESS = DuckEngine(threads=1), Roomless()
RUN = "0" * 32
WORLDS = {
    f"{strategy}, {quotes}, {schedule}, {budget}": RunWorld(
        4, 25, fds, "by group", quotes, schedule, strategy, budget, {}
    )
    for strategy, quotes, schedule, budget, fds in [
        ("paper", "paper", "list", 300, "apart"),
        ("paper", "sealed", "falling", 300, "apart"),
        ("paper", "paper", "list", 20, "apart"),
        ("paper", "paper", "falling", 300, "chained"),
        ("weigh", "sealed", "list", 300, "apart"),
        ("weigh", "paper", "falling", 300, "apart"),
    ]
}


def cleaned(path: Path, market: Counted, world: RunWorld, moment: Callable[[], None], engine: Any = ENGINE) -> Cleaning:
    market.moment = moment
    journal = Journal(path, PARTS, resume=True)
    for name in ("ordering", "settled", "withdrawn"):
        told_ = getattr(journal, name)

        def between(*what: Any, told_: Any = told_) -> None:
            moment()
            told_(*what)
            moment()

        setattr(journal, name, between)
    try:
        return world.clean(market, engine, run=RUN, observer=journal)
    finally:
        journal.close()


@pytest.mark.parametrize("name", WORLDS)
def test_a_run_that_ends_at_any_moment_is_continued_to_what_one_by_one_buys(tmp_path: Path, name: str) -> None:
    world, path, at = WORLDS[name], tmp_path / "out.journal", At()
    alone = world.provider(ENGINE)
    expected = told(world.clean(OneByOne(alone), ENGINE, run=RUN))
    whole = Counted(world.provider(ENGINE))
    assert told(cleaned(path, whole, world, at)) == expected
    assert world.fds == "chained" or any(sold_ > 1 for _, sold_ in whole.runs)
    for moment in np.unique(np.linspace(1, at.count, share(24)).astype(int)).tolist():
        path.unlink()
        provider = world.provider(ENGINE)
        market = Counted(provider)
        with pytest.raises(Ended):
            cleaned(path, market, world, At(moment))
        assert told(cleaned(path, market, world, At(), ROOMLESS if moment % 2 else ENGINE)) == expected
        assert sold(provider) == sold(alone)


@pytest.mark.parametrize("name", WORLDS)
def test_a_journal_that_is_cut_off_anywhere_is_continued_to_the_same(tmp_path: Path, name: str) -> None:
    """What is on disk after a crash is the journal up to some line, and all that was sold."""
    world, path = WORLDS[name], tmp_path / "out.journal"
    provider = world.provider(ENGINE)
    expected = told(cleaned(path, Counted(provider), world, At()))
    before = sold(provider)
    lines = path.read_bytes().splitlines(keepends=True)
    ordered = [number for number, line in enumerate(lines) if b'"ordering"' in line]
    for cut in np.unique(np.linspace(ordered[-1] + 1, len(lines), share(8)).astype(int)).tolist():
        path.write_bytes(b"".join(lines[:cut]))
        assert told(cleaned(path, Counted(provider), world, At())) == expected
        assert sold(provider) == before


def test_a_journal_names_all_orders_of_a_run_before_they_are_sent(tmp_path: Path) -> None:
    path = tmp_path / "out.journal"
    named: list[bool] = []

    class Looking(Counted):
        def pay_many(self, payments: Any) -> Any:
            content = path.read_text("utf-8")
            named.extend(f'"key":"{payment.key}"' in content for payment in payments)
            return super().pay_many(payments)

    world = next(iter(WORLDS.values()))
    cleaned(path, Looking(world.provider(ENGINE)), world, At())
    assert len(named) > 10 and all(named)


@pytest.mark.attack
def test_what_a_provider_sells_beyond_a_surprise_ends_the_cleaning(tmp_path: Path) -> None:
    class Eager(Counted):
        def pay_many(self, payments: Any) -> Any:
            return [self.pay(one.request, one.ceiling, one.key) for one in payments]

    world = RunWorld(4, 25, "apart", "by group", "paper", "falling", "paper", 300, {})
    with pytest.raises(pacas.errors.PacasError, match="sold more than was asked for"):
        world.clean(Eager(world.provider(ENGINE)), ENGINE)
