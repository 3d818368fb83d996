"""Quotes by a provider's price lists: those that it would give, and nobody is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle
from typing import Any
from urllib.request import Request as RequestTo
from urllib.request import urlopen

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from lanes import examples
from oracles.sealed_cases import CASES, Case, opened
from remote_shop import Before, passing
from running_service import app_of, served, service, with_account

import pacas
from pacas import example
from pacas.core.rates.schedule import Schedule
from pacas.errors import InputError, RemoteError
from pacas.protocol.key_digest import KeyDigest
from pacas.protocol.messages import Answer, Quote, Reason, Refusal, Request
from pacas.protocol.price_list import PriceList
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.provider.quoter.declared import Sealing
from pacas.provider.quoter.public_view import Reserve
from pacas.remote.remote_provider import RemoteProvider
from pacas.wire.price_list_stream import HEAD, read_price_list, write_price_list

MATCH = {"MED": "GEN = GEN, AGE = AGE"}
FIRST = Request({"GEN": "male", "AGE": "51"}, "MED", 2)


def sealed(**more: Any) -> pacas.Provider:
    """The running example at sealed quotes: a woman and a man are kept back below a level that hides enough."""
    policy = pacas.Policy(("GEN",), ("MED",), {"MED": 0}, k=2, allow_linkage=True)
    how: dict[str, Any] = {"match": MATCH, "policies": [policy], "hierarchies": example.hierarchies, "total": 6}
    return pacas.Provider(example.provider, **(how | {"sealing": Sealing()} | more))


@contextmanager
def watched(provider: pacas.Provider, **settings: Any) -> Iterator[tuple[RemoteProvider, list[str]]]:
    """The provider as ann sees it, and the paths that are called."""
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    before = Before(app_of(provider, accounts, **settings), passing)
    with served(before) as url, RemoteProvider(url, token) as remote:
        yield remote, before.paths


def asked(paths: list[str]) -> list[str]:
    return [path for path in paths if path.startswith("/v1/quotes")]


def test_terms_of_an_account_count_in_quotes_that_are_worked_out_here() -> None:
    with watched(provider := sealed()) as (remote, paths):
        before = remote.quote(FIRST)
        assert isinstance(before, Quote) and before.price
        provider.till.agree("offer/1", Schedule.parse("0:40"), 0, 9, buyer="ann")
        with RemoteProvider(remote.url, "token-of-ann") as again:
            told = again.quote(FIRST)
            assert told == provider.quote(FIRST, buyer="ann") == Quote(-(-before.price * 40 // 100))
            sold = again.pay(FIRST, told.price, "1")
        assert isinstance(sold, Answer) and sold.price == told.price and not asked(paths)


def test_a_schedule_counts_in_quotes_that_are_worked_out_here() -> None:
    """As the provider quotes, purchase by purchase; also for who comes back, with list credits from before."""
    provider = sealed(schedule=[[0, 100], [1, 80.01], [2, 33.33]], total=7)
    rows = zip(*(example.provider.table[c].to_pylist() for c in ("GEN", "AGE")), strict=True)
    requests = [Request({"GEN": gen, "AGE": age}, "MED", 0) for gen, age in rows]
    accounts = MemoryAccounts()
    token, spent = with_account(accounts, "ann"), 0
    with served(app_of(provider, accounts)) as url:
        for half in (requests[:3], requests[3:]):
            with RemoteProvider(url, token) as remote:
                for request in half:
                    assert [remote.quote(r) for r in requests] == [provider.quote(r, buyer="ann") for r in requests]
                    quoted = remote.quote(request)
                    if isinstance(quoted, Quote):
                        sold = remote.pay(request, quoted.price, f"{request.tuple['AGE']}")
                        assert isinstance(sold, Answer) and sold.price <= quoted.price
                        spent += sold.price
                now = remote.balance()
                assert (now.spent, now.listed) == (spent, provider.till.tab("ann").listed)
                assert now.spent == provider.till.schedule.paid(now.listed)
    assert provider.till.tab("ann").listed > 2 * 10**9, "all three rates have counted"


def test_a_cleaning_asks_for_no_quote() -> None:
    with watched(sealed()) as (remote, paths):
        cleaned = pacas.SafeClean(["GEN, DIAG -> MED"], budget=6, strategy="paper").clean(example.client, remote)
        assert remote.catalogue()["MED"].is_sealed
    assert cleaned.purchases
    assert not asked(paths)
    assert paths.count("/v1/prices/MED") == 1 and paths.count("/v1/account") == 1
    expected = pacas.SafeClean(["GEN, DIAG -> MED"], budget=6, strategy="paper").clean(example.client, sealed())
    assert [(one.value, one.price) for one in cleaned.purchases] == [(o.value, o.price) for o in expected.purchases]


@examples(60, suppress_health_check=[HealthCheck.too_slow])
@given(CASES)
def test_quotes_are_those_that_the_provider_gives(case: Case) -> None:
    public, private, _ = case
    provider = opened(public, private, sealing=public.sealing)
    keys = {"K": [*sorted({row[0] for row in public.rows}), "nobody", None]}
    half = len(public.operations) // 2
    with ExitStack() as stack:
        url, token = stack.enter_context(service(provider, "u"))
        for number, one in enumerate(public.operations):
            request = Request({"K": one.key}, one.attribute, min(one.level, public.hierarchies[one.attribute].height))
            if number == half:  # what was bought before is on the account's statement
                remote = stack.enter_context(RemoteProvider(url, token))
            seller: Any = provider.as_buyer(one.buyer) if number < half or one.buyer == "v" else remote
            if one.pays:
                seller.pay(request, 10**15, f"{number}")
            if number >= half:
                assert remote.quote(request) == provider.quote(request, buyer="u")
                for attribute in "AB":
                    told = provider.quote_batch(attribute, keys, buyer="u").prices
                    assert remote.quote_batch(attribute, keys).prices.tolist() == told.tolist()


def test_what_was_bought_from_elsewhere_makes_it_only_cheaper() -> None:
    provider = sealed()
    with watched(provider) as (remote, _):
        quoted = remote.quote(FIRST)
        assert isinstance(quoted, Quote) and quoted.price > 0
        provider.pay(FIRST, 10**10, "elsewhere", buyer="ann")
        assert remote.quote(FIRST) == quoted
        paid = remote.pay(FIRST, quoted.price, "here")
        assert isinstance(paid, Answer) and paid.price == 0
        assert remote.quote(FIRST) == Quote(0)


def test_tuples_come_as_lists_or_in_arrow_and_numbers_in_any_spelling() -> None:
    with watched(sealed()) as (remote, paths):
        expected = remote.quote_batch("MED", {"GEN": ["male", "female"], "AGE": ["51", "45"]}).prices.tolist()
        spelled = {
            "GEN": pa.array(["male", "female"]).dictionary_encode(),
            "AGE": pa.chunked_array([["51.0"], ["045"]]),
        }
        assert remote.quote_batch("MED", spelled).prices.tolist() == expected
        assert remote.quote_batch("MED", {"GEN": [], "AGE": []}).prices.shape == (0, 4)
        for columns in ({"GEN": ["male"], "AGE": ["51", "45"]}, {"GEN": ["male"], "AGE": [51]}):
            with pytest.raises(InputError):
                remote.quote_batch("MED", columns)
        with pytest.raises(InputError, match="no level 9"):
            remote.quote(Request(FIRST.tuple, "MED", 9))
    assert not asked(paths)


def test_reasons_are_told_as_the_provider_tells_them() -> None:
    nobody = Request({"GEN": "male", "AGE": "1"}, "MED", 1)
    for reasons, reason in ((True, Reason.NO_MATCH), (False, Reason.REFUSED)):
        with watched(sealed(), reasons=reasons) as (remote, paths):
            assert remote.quote(nobody) == Refusal(reason)
            assert remote.quote_batch("MED", {"GEN": ["male"], "AGE": ["1"]})[0] == [Refusal(reason)] * 4
        assert not asked(paths)


@pytest.mark.parametrize(
    ("provider", "settings"),
    [
        pytest.param({}, {"publish_prices": False}, id="not published"),
        pytest.param({"sealing": Sealing(reserve=Reserve.LAST)}, {}, id="quotes follow what others buy"),
        pytest.param({"match": {"MED": "GEN = GEN, AGE ~ AGE within 1"}}, {}, id="found by likeness"),
        pytest.param({"sealing": None, "quotes": "paper"}, {}, id="the paper's quotes"),
    ],
)
def test_where_there_is_no_list_the_provider_is_asked(provider: dict[str, Any], settings: dict[str, Any]) -> None:
    with watched(sealed(**provider), **settings) as (remote, paths):
        offer = remote.catalogue()["MED"]
        assert offer.prices is None or not offer.prices.has_list
        remote.quote(FIRST)
        remote.quote_batch("MED", {"GEN": ["male"], "AGE": ["51"]})
    assert asked(paths) == ["/v1/quotes", "/v1/quotes/MED"]
    assert not any("prices" in path for path in paths)


def test_a_list_that_is_too_long_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacas.remote.local_prices.MOST_KEYS", 5)
    with watched(sealed()) as (remote, paths):
        remote.quote(FIRST)
    assert asked(paths) == ["/v1/quotes"]


# ---- lists that are none ----------------------------------------------------------------------------------------


def good() -> PriceList:
    lists = sealed().shop.price_lists
    assert lists is not None
    return lists.of("MED")


def test_a_list_survives_the_wire() -> None:
    listed = good()
    again = read_price_list(write_price_list(listed), 6)
    assert read_price_list(write_price_list(listed), 5) is None
    assert again is not None
    assert (again.attribute, again.height, again.key.columns) == (listed.attribute, listed.height, listed.key.columns)
    for one, other in ((again.digests, listed.digests), (again.units, listed.units), (again.floors, listed.floors)):
        assert one.tolist() == other.tolist()
    assert write_price_list(again) == write_price_list(listed)


def altered(**parts: Callable[[Any], Any]) -> Callable[[], bytes]:
    """Makes a list of which some parts are not what they should be."""

    def write() -> bytes:
        listed = good()
        for name, change in parts.items():
            place: Any = listed if hasattr(listed, name) else listed.prices
            setattr(place, name, change(getattr(place, name)))
        listed.prices.heights = tuple(levels - 1 for levels in listed.prices.tables.shape[1:])
        return write_price_list(listed)

    return write


def without_head() -> bytes:
    table = pa.ipc.open_stream(write_price_list(good())).read_all().replace_schema_metadata({HEAD: b"{}"})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


WRONG: dict[str, Callable[[], bytes]] = {
    "empty": bytes,
    "cut short": lambda: write_price_list(good())[:-100],
    "without a head": without_head,
    "of another attribute": altered(attributes=lambda _: ("AGE",), attribute=lambda _: "AGE"),
    "of another height": altered(height=lambda height: height + 1, tables=lambda t: np.pad(t, [(0, 0), (0, 1)])),
    "by another column": altered(key=lambda key: KeyDigest(key.salt, key.columns[:1])),
    "not in order": altered(digests=lambda digests: digests[::-1]),
    "a key twice": altered(digests=lambda digests: np.repeat(digests[:1], len(digests))),
    "units out of nowhere": altered(units=lambda units: np.full_like(units, -9)),
    "floors out of reach": altered(floors=lambda floors: floors + 9),
    "not free at the root": altered(tables=lambda tables: tables + 1),
    "dearer when coarser": altered(tables=lambda tables: tables * [0, 1, 1, 1]),
}


@pytest.mark.parametrize("content", WRONG.values(), ids=list(WRONG))
def test_a_list_that_is_none_is_one_error(content: Callable[[], bytes]) -> None:
    told = content()
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    lying = Before(app_of(sealed(), accounts), lambda path: (200, {}, told) if path == "/v1/prices/MED" else None)
    with (
        served(lying) as url,
        RemoteProvider(url, token) as remote,
        pytest.raises(RemoteError, match="publishes a price list of MED that is none"),
    ):
        remote.quote(FIRST)


def catalogue_with(**prices: Any) -> bytes:
    """What the example's service publishes, with something else about its prices."""
    with service(sealed(), "ann") as (url, token):
        head = {"Authorization": f"Bearer {token}"}
        told = json.load(urlopen(RequestTo(f"{url}/v1/catalogue", headers=head)))
    told["attributes"][0]["prices"] |= prices
    return json.dumps(told).encode()


@pytest.mark.parametrize(
    "path", ["3/steal", "@elsewhere/x", ".elsewhere/x", "/v1/account", "https://elsewhere/v1/prices/MED"]
)
def test_a_list_is_asked_for_where_lists_are_and_nowhere_else(path: str) -> None:
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    told = catalogue_with(path=path)
    lying = Before(app_of(sealed(), accounts), lambda asked: (200, {}, told) if asked == "/v1/catalogue" else None)
    with served(lying) as url, RemoteProvider(url, token) as remote, pytest.raises(RemoteError):
        remote.quote(FIRST)
    assert lying.paths == ["/v1/catalogue"]


def test_a_catalogue_that_links_an_attribute_to_nothing_is_not_followed() -> None:
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    told = catalogue_with(linked=[])
    lying = Before(app_of(sealed(), accounts), lambda asked: (200, {}, told) if asked == "/v1/catalogue" else None)
    with served(lying) as url, RemoteProvider(url, token) as remote:
        assert isinstance(remote.quote(FIRST), Quote) and asked(lying.paths) == ["/v1/quotes"]


@pytest.mark.parametrize("turn", [["a", "b"], ["a", "a"]])
def test_pages_without_end_are_one_error(turn: list[str]) -> None:
    accounts = MemoryAccounts()
    token = with_account(accounts, "ann")
    page: dict[str, Any] = {
        "account": "ann",
        "role": "client",
        "credit": None,
        "spent": 0,
        "remaining": None,
        "purchases": [],
    }
    turns = cycle(turn)

    def told(path: str) -> tuple[int, dict[str, str], bytes] | None:
        return (200, {}, json.dumps(page | {"next": next(turns)}).encode()) if path.startswith("/v1/account") else None

    lying = Before(app_of(sealed(), accounts), told)
    with served(lying) as url, RemoteProvider(url, token) as remote, pytest.raises(RemoteError):
        remote.quote(FIRST)
