"""One of several providers is away when a run begins, and may be there at its end; an order that nobody answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from interrupted_offices import At, Ended
from lanes import share
from panel_shops import FD, JOBS, OTHER_JOBS, JobShop, departments, wrong_cells

import pacas
from pacas.client.buying.absent_market import AbsentMarket
from pacas.client.outcome.cleaning import Cleaning
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import RemoteError
from pacas.formats.journal.journal import Journal, recorded_run
from pacas.protocol.marketplace import Marketplace

ENGINE = DuckEngine(threads=1)
TRUTH, DIRTY = departments(14, seed=15, stale=0.5)
STRATEGIES = ("paper", "weigh")


def shops(**of_c: Any) -> dict[str, JobShop]:
    """Two that know little, and one that knows all and comes late."""
    return {
        "a": JobShop(TRUTH, seed=1, covers=0.3),
        "b": JobShop(TRUTH, seed=2, covers=0.3),
        "c": JobShop(TRUTH, seed=3, **of_c),
    }


def late(shop: JobShop) -> AbsentMarket:
    return AbsentMarket(None, "nobody is there", lambda: shop)


def nobody() -> Marketplace:
    raise RemoteError("nobody is there yet")


def run(path: Path, markets: Mapping[str, Marketplace], c: Marketplace, strategy: str, moment: Any = None) -> Cleaning:
    """A run of a and b, or what is left of it, that c is called in at the end."""
    journal = Journal(path, {"data": "d"}, resume=True, accounts={"c": "ann"})
    for name in ("ordering", "settled", "quoted", "joined"):
        real = getattr(journal, name)

        def between(*what: Any, real: Any = real) -> None:
            (moment or At())()
            real(*what)
            (moment or At())()

        setattr(journal, name, between)
    try:
        there = {name: markets[name] for name in ("a", "b")}
        cleaner = pacas.SafeClean(FD, "0.0001", strategy=strategy, hierarchies={"JOB": JOBS})
        cleaning = cleaner.clean(DIRTY, there, run=journal.run, observer=journal, engine=ENGINE, away={"c": c})
        journal.end(len(cleaning.purchases), cleaning.spent_nanocredits)
        return cleaning
    finally:
        journal.close()


def told(cleaning: Cleaning) -> dict[str, Any]:
    assert cleaning.panel is not None
    return {
        "table": cleaning.to_arrow().to_pylist(),
        "purchases": [(p.provider, p.rows.tolist(), p.value, p.price, p.key[32:]) for p in cleaning.purchases],
        "open": cleaning.panel.open_nanocredits,
        "rates": cleaning.panel.reliabilities,
    }


def kept(path: Path, opened: Callable[[], Marketplace]) -> AbsentMarket:
    """c as the journal knows it, once it has been there."""
    recorded = recorded_run(path)
    assert recorded is not None
    line = recorded.joined.get("c")
    offers = None if line is None or line.catalogues is None else line.catalogues.catalogue("c", path.name)
    return AbsentMarket(offers, "nobody is there", opened)


@pytest.mark.parametrize("tree", [JOBS, OTHER_JOBS])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_who_is_there_at_the_end_sells_what_is_left(tmp_path: Path, strategy: str, tree: Any) -> None:
    markets = shops(tree=tree)
    without = run(tmp_path / "without", shops(), AbsentMarket(None, "nobody is there", nobody), strategy)
    found = run(tmp_path / "with", markets, late(markets["c"]), strategy)
    assert found.panel is not None and not found.panel.away and found.panel.providers == ("a", "b", "c")
    assert sum(p.provider == "c" for p in found.purchases) == len(markets["c"].sold) > 0
    assert found.spent_nanocredits == sum(shop.earned for shop in markets.values())
    assert 0 < found.panel.reliabilities["JOB"]["c"] < 1
    assert wrong_cells(found.to_arrow(), TRUTH) < wrong_cells(without.to_arrow(), TRUTH)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_who_is_not_there_then_either_costs_a_line(tmp_path: Path, strategy: str) -> None:
    markets, path = shops(), tmp_path / "journal"
    found = run(path, markets, AbsentMarket(None, "nobody is there", nobody), strategy)
    assert found.panel is not None and found.panel.away == {"c": "nobody is there yet"}
    assert found.panel.providers == ("a", "b") and {p.provider for p in found.purchases} == {"a", "b"}
    again = run(path, markets, late(markets["c"]), strategy)
    assert told(again) == told(found) and not markets["c"].asked, "a run that is done is done"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_in_python_one_that_does_not_say_what_it_sells_is_asked_at_the_end(strategy: str) -> None:
    markets = shops()
    markets["c"].fails = lambda what: what == "catalogue" and markets["c"].asked.count(what) == 1
    cleaner = pacas.SafeClean(FD, "0.0001", strategy=strategy, hierarchies={"JOB": JOBS})
    found = cleaner.clean(DIRTY, markets, engine=ENGINE)
    assert found.panel is not None and not found.panel.away and markets["c"].sold


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_only_the_late_one_sells_by_columns_that_nobody_else_needs(strategy: str) -> None:
    """The others sell nothing of it, nor has the client a tree: all is taken from who comes."""

    class Elsewhere(JobShop):
        def catalogue(self) -> Any:
            (offer,) = super().catalogue().values()
            return {"OTHER": type(offer)("OTHER", ("DEPT",), JOBS)}

    shop = JobShop(TRUTH)
    markets = {"a": Elsewhere(TRUTH), "b": Elsewhere(TRUTH)}
    table = DIRTY.append_column("OTHER", pa.array(["x"] * len(DIRTY)))
    cleaner = pacas.SafeClean(FD, "0.0001", strategy=strategy)
    found = cleaner.clean(table, markets, engine=ENGINE, away={"c": late(shop)})
    assert shop.sold and wrong_cells(found.to_arrow(), TRUTH) < wrong_cells(DIRTY, TRUTH)
    assert found.spent_nanocredits == shop.earned


@pytest.mark.parametrize("is_back", [True, False])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_wherever_it_is_ended_it_comes_to_the_same_end(tmp_path: Path, strategy: str, is_back: bool) -> None:
    """The late one is there when it is called; when the run is continued it is, or it is away for good."""
    path, at, whole = tmp_path / "journal", At(), shops()
    expected = told(run(path, whole, late(whole["c"]), strategy, at))
    for fatal in np.unique(np.linspace(2, at.count, share(40)).astype(int)).tolist():
        path.unlink()
        markets = shops()
        with pytest.raises(Ended):
            run(path, markets, late(markets["c"]), strategy, At(fatal))
        before = dict(markets["c"].sold)
        c = kept(path, (lambda markets=markets: markets["c"]) if is_back else nobody)  # type: ignore[misc]
        found = run(path, markets, c, strategy)
        assert found.panel is not None
        if is_back:
            assert told(found) == expected
            assert found.spent_nanocredits == sum(shop.earned for shop in markets.values())
            continue
        assert markets["c"].sold == before and {p.key for p in found.purchases if p.provider == "c"} <= {*before}
        unknown = sum(shop.earned for shop in markets.values()) - found.spent_nanocredits
        assert 0 <= unknown <= found.panel.open_nanocredits, "what may have been paid is said"
        settled = run(path, markets, markets["c"], strategy)
        assert settled.panel is not None and not settled.panel.open_nanocredits
        assert settled.spent_nanocredits == sum(shop.earned for shop in markets.values()), "once it is back"


@pytest.mark.parametrize("was_paid", [True, False])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_order_that_was_lost_is_settled_when_the_run_is_looked_at_again(
    tmp_path: Path, strategy: str, was_paid: bool
) -> None:
    """c sells once, and from then on its answers stay away, to the end of the run."""
    path, markets = tmp_path / "journal", shops()
    shop, real = markets["c"], markets["c"].pay

    def lost(*what: Any) -> Any:
        answer = real(*what) if was_paid or len(shop.sold) < 1 else None
        if answer is None or len(shop.sold) > 1:
            raise RemoteError("the connection broke")
        return answer

    shop.pay = lost  # type: ignore[method-assign, assignment]
    found = run(path, markets, late(shop), strategy)
    assert found.panel is not None and found.panel.open_nanocredits
    assert len(shop.sold) == (2 if was_paid else 1)
    still = run(path, markets, kept(path, nobody), strategy)
    assert told(still) == told(found) and len(shop.sold) == (2 if was_paid else 1), "it is away still"
    shop.pay = real  # type: ignore[method-assign]
    settled = run(path, markets, shop, strategy)
    assert settled.panel is not None and not settled.panel.open_nanocredits and not settled.panel.away
    assert settled.spent_nanocredits == sum(one.earned for one in markets.values())
    assert {p.key for p in settled.purchases} == {key for one in markets.values() for key in one.sold}
    assert told(run(path, markets, shop, strategy)) == told(settled), "and nothing is asked once more"
    recorded = recorded_run(path)
    assert recorded is not None and recorded.is_done and not recorded.unanswered
