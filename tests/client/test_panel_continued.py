"""A run with several providers is ended anywhere and continued while one of them is away: it comes to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interrupted_offices import At, Ended
from lanes import share
from panel_shops import FD, JOBS, JobShop, departments

import pacas
from pacas.client.buying.absent_market import AbsentMarket
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import AWAY, Unrepaired
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import RemoteError
from pacas.formats.journal.journal import Journal, recorded_run
from pacas.protocol.marketplace import Marketplace
from pacas.protocol.messages import Offer

ENGINE = DuckEngine(threads=1)
TRUTH, DIRTY = departments(14, seed=15, stale=0.5)
NAMES = ("a", "b", "c")
OFFERS = {name: {"JOB": Offer("JOB", ("DEPT",), JOBS)} for name in NAMES}


def shops(covers: float = 0.6) -> dict[str, JobShop]:
    """Two that know some, and one that is cheap and often wrong."""
    return {
        "a": JobShop(TRUTH, seed=1, covers=covers),
        "b": JobShop(TRUTH, seed=2, covers=covers),
        "c": JobShop(TRUTH, seed=3, covers=0.6, wrong=0.4, price=70),
    }


def run(path: Path, markets: Mapping[str, Marketplace], strategy: str, moment: Callable[[], None]) -> Cleaning:
    """A run, or what is left of it, with a moment around all that is recorded."""
    for market in markets.values():
        if isinstance(market, JobShop):
            market.moment = moment
    journal = Journal(path, {"data": "d"}, resume=True, catalogues=OFFERS)
    for name in ("ordering", "settled", "quoted"):
        real = getattr(journal, name)

        def between(*what: Any, real: Any = real) -> None:
            moment()
            real(*what)
            moment()

        setattr(journal, name, between)
    try:
        cleaner = pacas.SafeClean(FD, "0.0001", strategy=strategy, hierarchies={"JOB": JOBS})
        return cleaner.clean(DIRTY, markets, run=journal.run, observer=journal, engine=ENGINE)
    finally:
        journal.close()


def told(cleaning: Cleaning) -> dict[str, Any]:
    return {
        "table": cleaning.to_arrow().to_pylist(),
        "purchases": [(p.provider, p.rows.tolist(), p.value, p.price, p.key) for p in cleaning.purchases],
        "spent": cleaning.spent_nanocredits,
        "open": cleaning.panel and cleaning.panel.open_nanocredits,
        "rates": cleaning.panel and cleaning.panel.reliabilities,
    }


def absent(path: Path, name: str, opened: Callable[[], Marketplace]) -> AbsentMarket:
    """One that is away, as the journal knows it."""
    recorded = recorded_run(path)
    assert recorded is not None and recorded.header.catalogues is not None
    return AbsentMarket(recorded.header.catalogues.catalogue(name, path.name), "nobody is there", opened)


def nobody() -> Marketplace:
    raise RemoteError("nobody is there yet")


def ends(path: Path, strategy: str, number: int) -> list[int]:
    """The moments at which a run is ended: some of all that a whole run has."""
    at = At()
    assert len({p.provider for p in run(path, shops(), strategy, at).purchases}) == 3
    found: list[int] = np.unique(np.linspace(2, at.count, share(number)).astype(int)).tolist()
    return found


@pytest.mark.parametrize("away", NAMES)
@pytest.mark.parametrize("strategy", ["paper", "weigh"])
def test_wherever_it_is_ended_the_rest_goes_on_without_one_for_good(tmp_path: Path, strategy: str, away: str) -> None:
    path, called = tmp_path / "journal", list[int]()
    for fatal in ends(path, strategy, 20):
        path.unlink()
        markets = shops()
        with pytest.raises(Ended):
            run(path, markets, strategy, At(fatal))
        gone = markets[away]
        before, asked = dict(gone.sold), len(gone.asked)

        def opened(calls: list[int] = called, at: int = fatal) -> Marketplace:
            calls.append(at)
            return nobody()

        found = run(path, markets | {away: absent(path, away, opened)}, strategy, At())
        assert gone.sold == before and len(gone.asked) == asked, "it was away"
        assert called.count(fatal) <= 3, "an order on its way, and at the end that order, or a quote"
        assert found.panel is not None
        paid = {p.key: p.price for p in found.purchases}
        for name, shop in markets.items():
            known = {p.key for p in found.purchases if p.provider == name}
            assert len(known) == sum(p.provider == name for p in found.purchases), "nothing is bought twice"
            assert known <= {*shop.sold} and (name == away or known == {*shop.sold})
        earned = {key: answer.price for shop in markets.values() for key, answer in shop.sold.items()}
        assert paid.items() <= earned.items() and found.spent_nanocredits == sum(paid.values())
        unknown = sum(earned.values()) - found.spent_nanocredits
        assert 0 <= unknown <= found.panel.open_nanocredits, "what may have been paid is said"
        again = run(path, markets, strategy, At())
        now = {key: a.price for shop in markets.values() for key, a in shop.sold.items()}
        assert again.panel is not None and not again.panel.open_nanocredits
        assert again.spent_nanocredits == sum(now.values()), "what was open is settled when it is back"
        if not found.panel.open_nanocredits:
            assert told(again) == told(found) and now == earned, "else whoever looks again sees the same"


@pytest.mark.parametrize("strategy", ["paper", "weigh"])
def test_who_is_back_at_the_end_is_asked_again_and_the_money_is_exact(tmp_path: Path, strategy: str) -> None:
    path = tmp_path / "journal"
    for fatal in ends(path, strategy, 30):
        path.unlink()
        markets = shops()
        with pytest.raises(Ended):
            run(path, markets, strategy, At(fatal))
        away = absent(path, "c", lambda markets=markets: markets["c"])  # type: ignore[misc]
        found = run(path, markets | {"c": away}, strategy, At())
        assert found.panel is not None and not found.panel.open_nanocredits
        assert [*found.panel.away] == (["c"] if away.away else []), "asked again where that is of use, and said if not"
        assert found.spent_nanocredits == sum(shop.earned for shop in markets.values())
        assert {p.key for p in found.purchases} == {key for shop in markets.values() for key in shop.sold}
        assert told(run(path, markets, strategy, At())) == told(found)


def ended_before_an_order(path: Path, markets: dict[str, JobShop], strategy: str, orders: int) -> None:
    """End a run when it is about to write that it orders from c, after so many orders from it."""
    journal, left = Journal(path, {"data": "d"}, catalogues=OFFERS), orders
    ordering = journal.ordering

    def until(*steps: Any) -> None:
        nonlocal left
        left -= steps[0].provider == "c"
        if left < 0:
            raise Ended
        ordering(*steps)

    journal.ordering = until  # type: ignore[method-assign]
    cleaner = pacas.SafeClean(FD, "0.0001", strategy=strategy, hierarchies={"JOB": JOBS})
    with pytest.raises(Ended):
        cleaner.clean(DIRTY, markets, run=journal.run, observer=journal, engine=ENGINE)
    journal.close()


@pytest.mark.parametrize("is_back", [False, True])
@pytest.mark.parametrize("strategy", ["paper", "weigh"])
def test_who_is_known_to_be_away_is_sent_no_order(tmp_path: Path, strategy: str, is_back: bool) -> None:
    """Ended with quotes of c in hand: it would be ordered there next, and its money kept aside for nothing."""
    path, markets = tmp_path / "journal", shops(0.3)
    ended_before_an_order(path, markets, strategy, 2)
    assert len(markets["c"].sold) == 2
    away = absent(path, "c", (lambda: markets["c"]) if is_back else nobody)
    found = run(path, markets | {"c": away}, strategy, At())
    recorded = recorded_run(path)
    assert recorded is not None and not recorded.unanswered
    outcomes = [one for one in recorded.outcomes if isinstance(one, Unrepaired) and one.reason == AWAY]
    assert [one.is_unsent for one in outcomes] == [True]
    assert found.panel is not None and not found.panel.open_nanocredits
    assert found.spent_nanocredits == sum(shop.earned for shop in markets.values())
    if is_back:
        assert len(markets["c"].sold) > 2 and away.away is None and not found.panel.away
    else:
        assert len(markets["c"].sold) == 2 and found.panel.away == {"c": "nobody is there yet"}
    assert told(run(path, markets, strategy, At())) == told(found), "and it is recalled so"


@pytest.mark.parametrize("is_back", [False, True])
@pytest.mark.parametrize("strategy", ["paper", "weigh"])
def test_an_order_on_its_way_stays_open_and_is_paid_once(tmp_path: Path, strategy: str, is_back: bool) -> None:
    """c has sold, and the run ends before the answer is there."""
    path, markets = tmp_path / "journal", shops()

    def sold() -> None:
        if len(markets["c"].sold) == 3:
            raise Ended

    with pytest.raises(Ended):
        run(path, markets, strategy, sold)
    markets["c"].moment = At()
    (last,) = [*markets["c"].sold.values()][2:]
    away = absent(path, "c", (lambda: markets["c"]) if is_back else nobody)
    found = run(path, markets | {"c": away}, strategy, At())
    assert found.panel is not None
    assert found.panel.open_nanocredits == (0 if is_back else last.price)
    assert found.spent_nanocredits + found.panel.open_nanocredits == sum(shop.earned for shop in markets.values())
    assert sum(p.provider == "c" for p in found.purchases) == (len(markets["c"].sold) if is_back else 2)


def test_a_journal_without_what_is_kept_is_the_one_of_before(tmp_path: Path) -> None:
    """Not a byte more, where nothing is to be kept."""
    Journal(tmp_path / "one", {"data": "d"}).close()
    Journal(tmp_path / "other", {"data": "d"}, catalogues={}).close()
    for name in ("one", "other"):
        assert "catalogues" not in (tmp_path / name).read_text()


def test_what_is_kept_is_chained(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with pytest.raises(Ended):
        run(path, shops(), "paper", At(30))
    path.write_bytes(path.read_bytes().replace(b'"labels":["v0"', b'"labels":["v9"', 1))
    with pytest.raises(pacas.PacasError, match="line 2 does not follow"):
        recorded_run(path)
