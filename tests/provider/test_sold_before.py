"""What was sold from another ledger stays sold: it counts for its buyers, and its rows keep no group's secret."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pytest

import pacas
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, LedgerChangedError
from pacas.protocol.messages import Answer, Refusal
from pacas.provider.audit import audit
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.quoter.declared import DeclaredDependency, EarlierSales, Sealing
from pacas.provider.quoter.public_view import Reserve
from pacas.provider.sealed.shop import SealedShop
from pacas.provider.shop.fingerprint import terms_digests
from pacas.provider.terms import Terms

ENGINE = DuckEngine(threads=1)
A = Hierarchy.from_rows([(f"v{i}", f"f{i % 2}", "*") for i in range(8)])
ROWS = pa.table(
    {
        "K": [f"k{i}" for i in range(8)],
        "X": ["x"] * 4 + ["y"] * 4,
        "A": ["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v1"],
    }
)
POLICY = pacas.Policy(("X",), ("A",), {"A": 0}, 2, allow_linkage=True)


def earlier(bought: list[str], attribute: str = "A", columns: str = "K", level: int = 0) -> EarlierSales:
    """What ann has bought of A from a ledger, by the hierarchy of now."""
    requests = [("ann", pacas.Request({columns: key}, attribute, level)) for key in bought]
    return EarlierSales(requests, terms_digests(Terms(hierarchies={"A": A})))


def provider(bought: list[str], reserve: Reserve = Reserve.FIXED) -> pacas.Provider:
    """A sealed provider; `ann` has bought some rows before, at ground, from another ledger."""
    return pacas.Provider(
        ROWS,
        match={"A": "K = K"},
        policies=[POLICY],
        hierarchies={"A": A},
        total=1,
        sealing=Sealing(sold_before=[earlier(bought)], reserve=reserve),
        engine=ENGINE,
    )


def ground(shop: pacas.Provider, buyer: str = "bob") -> list[bool]:
    """Which rows are sold at ground."""
    return [bool(price >= 0) for price in shop.quote_batch("A", {"K": ROWS["K"].to_pylist()}, buyer=buyer).prices[:, 0]]


def test_a_row_that_was_sold_is_not_the_one_that_is_kept_back() -> None:
    kept = ROWS["K"].to_pylist()[ground(provider([])).index(False)]
    again = provider([kept])
    refused = [key for key, sold in zip(ROWS["K"].to_pylist(), ground(again), strict=True) if not sold]
    assert kept not in refused and len(refused) == 2, "one of each group, and another one"


@pytest.mark.parametrize("reserve", Reserve)
def test_of_a_group_that_was_sold_as_a_whole_nothing_more_is_kept_and_the_audit_says_so(reserve: Reserve) -> None:
    sold_out = provider([f"k{i}" for i in range(4)], reserve)
    assert ground(sold_out)[:4] == [True] * 4
    (policy,) = audit(sold_out).policies
    assert not policy.holds


def test_with_the_last_row_left_the_group_keeps_that() -> None:
    assert ground(provider(["k0", "k1", "k2"], Reserve.LAST))[:4] == [True, True, True, False]
    assert ground(provider(["k0", "k1", "k2"]))[:4] == [True, True, True, False]


def test_its_buyer_pays_nothing_twice_and_others_pay() -> None:
    shop = provider(["k1"])
    request = pacas.Request({"K": "k1"}, "A", 0)
    mine, others = (shop.quote(request, buyer=buyer) for buyer in ("ann", "bob"))
    assert isinstance(mine, pacas.Quote) and mine.price == 0
    assert isinstance(others, pacas.Quote) and others.price > 0
    assert isinstance(shop.pay(request, 0, "again", buyer="ann"), Answer)
    (line,) = audit(shop).buyers.values()
    assert (line.spent, line.due) == (0, 0)


def test_a_request_that_found_several_rows_told_of_each() -> None:
    """The paper's provider sells what several rows agree on."""
    shop = pacas.Provider(
        ROWS,
        match={"A": "X = X"},
        policies=[pacas.Policy(("X",), ("A",), {"A": 0}, 2)],
        hierarchies={"A": A},
        total=1,
        sealing=Sealing(sold_before=[earlier(["x"], columns="X", level=1)]),
        engine=ENGINE,
    )
    assert isinstance(shop.quote(pacas.Request({"X": "x"}, "A", 0)), Refusal)
    assert isinstance(shop.shop, SealedShop)
    assert {one.unit for _, one in shop.shop.quoters.sold_before} == {0, 1, 2, 3}


def opened(ledger: MemoryLedger, *before: EarlierSales) -> pacas.Provider:
    sealing = Sealing(sold_before=before)
    return pacas.Provider(ROWS, match={"A": "K = K"}, hierarchies={"A": A}, total=1, sealing=sealing, ledger=ledger)


def test_the_ledger_remembers_what_was_counted() -> None:
    ledger = MemoryLedger()
    opened(ledger, earlier(["k1"]))
    opened(ledger, earlier(["k1"]))
    with pytest.raises(pacas.PacasError, match="sold before"):
        opened(ledger, earlier(["k1", "k2"]))


@pytest.mark.parametrize(
    ("before", "says"),
    [
        (earlier(["k1"], attribute="B"), "'B' was sold and is not for sale now"),
        (earlier(["k9"]), "what was sold finds nobody now"),
        (earlier(["k1"])._replace(fingerprint={"hierarchy of A": "another"}), "'A' was sold by another hierarchy"),
    ],
)
def test_what_cannot_be_counted_is_said(before: EarlierSales, says: str) -> None:
    with pytest.raises(InputError, match=says):
        opened(MemoryLedger(), before)


def test_a_ledger_that_counted_another_is_counted_with_it() -> None:
    first, second = MemoryLedger(), MemoryLedger()
    shop = opened(first)
    shop.pay(pacas.Request({"K": "k1"}, "A", 0), 10**9, "one", buyer="ann")
    sales = [EarlierSales(first.requests(), _fingerprint(first))]
    opened(second, *sales).pay(pacas.Request({"K": "k2"}, "A", 0), 10**9, "two", buyer="ann")
    alone = EarlierSales(second.requests(), _fingerprint(second))
    with pytest.raises(InputError, match="ledger 1 was opened with the sales of others before it"):
        opened(MemoryLedger(), alone)
    third = opened(MemoryLedger(), *sales, alone)
    prices = third.quote_batch("A", {"K": ["k1", "k2", "k3"]}, buyer="ann").prices[:, 0]
    assert (prices == 0).tolist() == [True, True, False]


TIED = pa.table({"K": list("aabbbc"), "X": ["x"] * 6, "A": ["v1", "v1", "v2", "v2", "v2", "v3"]})


def tied(ledger: MemoryLedger, *before: EarlierSales) -> pacas.Provider:
    """Three units of one X-group: two rows, three, and one."""
    return pacas.Provider(
        TIED,
        match={"A": "K = K"},
        policies=[POLICY],
        hierarchies={"A": A},
        total=1,
        sealing=Sealing([DeclaredDependency(FunctionalDependency(("K",), "A"))], sold_before=before),
        ledger=ledger,
        engine=ENGINE,
    )


def test_a_ledger_from_before_another_draw_is_refused_and_its_sales_can_be_brought_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was sold by the old draw may be what the new one would keep back."""
    old = MemoryLedger()
    with monkeypatch.context() as patch:
        patch.setattr("pacas.provider.quoter.public_view.DRAW", "an older rule")
        before = tied(old)
        kept = next(k for k in "abc" if isinstance(before.quote(pacas.Request({"K": k}, "A", 0)), Refusal))
        sold = next(k for k in "abc" if k != kept)
        assert isinstance(before.pay(pacas.Request({"K": sold}, "A", 0), 10**9, "one", buyer="ann"), Answer)
        tied(old)
    with pytest.raises(LedgerChangedError, match="draw"):
        tied(old)
    after = tied(MemoryLedger(), EarlierSales(old.requests(), _fingerprint(old)))
    assert isinstance(after.quote(pacas.Request({"K": sold}, "A", 0)), pacas.Quote)
    assert all(policy.holds for policy in audit(after).policies)


def _fingerprint(ledger: MemoryLedger) -> Mapping[str, str]:
    opening = ledger.opening()
    assert opening is not None
    return opening.fingerprint
