"""A client that weighs, interrupted at any moment: continued, it buys what it would have bought, and ends the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines import ENGINES
from interrupted_offices import ENGINE, PARTS, SHOPS, At, Ended, Watched, dirty, told
from lanes import share

import pacas
from pacas.client.outcome.cleaning import Cleaning
from pacas.engine.contract import Engine
from pacas.formats.journal.journal import Journal


def cleaned(path: Path, shop: Watched, moment: Callable[[], None], engine: Engine[Any] = ENGINE) -> Cleaning:
    shop.moment = moment
    journal = Journal(path, PARTS, resume=True)
    for name in ("ordering", "settled"):
        told_ = getattr(journal, name)

        def between(*what: Any, told_: Any = told_) -> None:
            moment()
            told_(*what)
            moment()

        setattr(journal, name, between)
    try:
        return pacas.SafeClean("OFFICE -> JOB", 20, strategy="weigh").clean(
            dirty(), shop, run=journal.run, observer=journal, engine=engine
        )
    finally:
        journal.close()


@pytest.mark.parametrize("name", SHOPS)
def test_a_run_that_ends_at_any_moment_is_continued_to_the_same_end(tmp_path: Path, name: str) -> None:
    path, at = tmp_path / "out.csv.journal", At()
    expected = told(cleaned(path, Watched(name), at))
    assert len(expected["purchases"]) > 5 and len(expected["promised"]) > 5
    fatal = np.unique(np.linspace(1, at.count, share(32)).astype(int)).tolist()
    for moment in fatal:
        path.unlink()
        shop = Watched(name)
        with pytest.raises(Ended):
            cleaned(path, shop, At(moment))
        assert told(cleaned(path, shop, At())) == expected


def test_a_run_that_is_ended_over_and_over_comes_to_the_same_end(tmp_path: Path) -> None:
    path = tmp_path / "out.csv.journal"
    expected = told(cleaned(path, Watched("falling"), At()))
    path.unlink()
    shop, ends = Watched("falling"), 0
    while True:
        try:
            found = told(cleaned(path, shop, At(9)))
            break
        except Ended:
            ends += 1
    assert ends > 5 and found == expected


def test_a_run_that_is_done_is_looked_at_again_without_a_question(tmp_path: Path) -> None:
    path, shop = tmp_path / "out.csv.journal", Watched("falling")
    expected = told(cleaned(path, shop, At()))

    def nobody(*_: Any) -> Any:
        raise AssertionError("somebody was asked")

    shop.shop.quote_batch = shop.shop.quote = shop.shop.pay = nobody
    assert told(cleaned(path, shop, At())) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_buy_and_write_the_same(tmp_path: Path, engine: Any, request: pytest.FixtureRequest) -> None:
    expected = told(cleaned(tmp_path / "one.journal", Watched("paper"), At()))
    found = told(cleaned(tmp_path / "other.journal", Watched("paper"), At(), engine(request)))
    assert found == expected
