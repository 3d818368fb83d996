"""A storm of reconciliation calls: money is exact, what is sent again is charged once, and the policies hold.

The prices, refusals and levels are those of the literal market; the policies are judged by their definition, on all
that is in the ledger. And as over the rest of the wire, two private relations that fit what is public give the same
bytes.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from asgi_calls import Called, Reply
from hypothesis import HealthCheck, find, given
from hypothesis import strategies as st
from lanes import many_examples
from oracles import criteria as literal
from oracles.sealed_cases import CASES, MANY, Case, Inputs, Private, literal_market, opened
from oracles.sealed_market import SealedMarket
from reconcile_schemas import EXTENSION, RESULTS, check
from running_service import KEY, with_account

import pacas
from pacas.protocol.messages import ABSENT
from pacas.provider.ledger.accounts import MemoryAccounts, Role
from pacas.provider.ledger.entry import Purchase
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.server.reconcile import extending

CREDITS = {"u": 10**15, "v": 300 * 10**9}
PAID = re.compile(rb'"str":"(?:[^"\\]|\\.)*"')
PADDING = re.compile(rb" +(?=\])")
FORM = {"content-type": "application/x-www-form-urlencoded"}
STORM = many_examples(400, suppress_health_check=[HealthCheck.too_slow])


class Asked(NamedTuple):
    """A property of some rows: quoted, or bought within a ceiling; sent so many times."""

    who: str
    attribute: str
    level: int | None
    ceiling: int | None
    """In credits; None: not to be bought."""
    rows: list[int]
    times: int


CALLS = st.lists(
    st.builds(
        Asked,
        st.sampled_from("uv"),
        st.sampled_from("AB"),
        st.none() | st.integers(0, 2),
        st.sampled_from([None, 0, 20, 100, 10**4, 10**4]),
        st.lists(st.integers(0, 8), min_size=1, max_size=3),
        st.integers(1, 3),
    ),
    min_size=6,
    max_size=12,
)


class Refine:
    """What a reconciliation client of two accounts sends."""

    def __init__(self, public: Inputs, called: Called) -> None:
        self._called = called
        self.keys = [*sorted({row[0] for row in public.rows}), "nobody"]

    def key(self, place: int) -> str:
        return self.keys[place % len(self.keys)]

    def queries(self, who: str) -> Reply:
        return self._send(who, queries={key: {"query": key, "type": "K"} for key in self.keys})

    def extend(self, asked: Asked, ids: dict[str, str]) -> Reply:
        settings: dict[str, Any] = {"level": "finest" if asked.level is None else str(asked.level)}
        if asked.ceiling is not None:
            settings |= {"pay": "on", "ceiling": str(asked.ceiling)}
        wanted = [ids.get(key, "not-an-id") for key in dict.fromkeys(map(self.key, asked.rows))]
        properties = [{"id": asked.attribute, "settings": settings}]
        return self._send(asked.who, extend={"ids": wanted, "properties": properties})

    def ids(self) -> dict[str, str]:
        told = check(json.loads(self.queries("u").body), RESULTS)
        return {key: found["result"][0]["id"] for key, found in told.items() if found["result"]}

    def _send(self, who: str, **form: Any) -> Reply:
        body = urlencode({name: json.dumps(value) for name, value in form.items()}).encode()
        return self._called.call("POST", f"/reconcile/token-of-{who}", "", body, FORM)


@contextmanager
def called(provider: pacas.Provider) -> Iterator[Called]:
    accounts = MemoryAccounts()
    for name, credit in CREDITS.items():
        with_account(accounts, name, role=Role.RECONCILE, credit=credit)
    app = create_app(provider, accounts, ServiceSettings(reconcile=True), KEY, log=make_log(io.StringIO()))
    with Called(app) as calls:
        yield calls


# ---- money ----------------------------------------------------------------------------------------------------------


class Book:
    """What ought to be in the ledger: every purchase once, at the literal market's price."""

    def __init__(self, public: Inputs) -> None:
        self._market: SealedMarket = literal_market(public)
        self._hierarchies = public.hierarchies
        self._bought: dict[tuple[str, str, str, int | None], tuple[int, int]] = {}
        self.entries: list[tuple[str, str, str, int, int]] = []
        """Buyer, key, attribute, level and price, in their order."""

    def spent(self, who: str) -> int:
        return sum(price for buyer, *_, price in self.entries if buyer == who)

    def buy(self, asked: Asked, key: str) -> bool:
        """Whether a value is told."""
        named = (asked.who, key, asked.attribute, asked.level)
        if named in self._bought:
            return True
        assert asked.ceiling is not None
        most = asked.ceiling * 10**9
        for level in self._levels(asked):
            price = self._market.quote(key, asked.attribute, level, asked.who)
            if isinstance(price, int) and price <= most:
                if price and self.spent(asked.who) + price > CREDITS[asked.who]:
                    return False
                assert self._market.buy(key, asked.attribute, level, asked.who) == price
                self._bought[named] = level, price
                self.entries.append((asked.who, key, asked.attribute, level, price))
                return True
        return False

    def _levels(self, asked: Asked) -> list[int]:
        height = self._hierarchies[asked.attribute].height
        return [level for level in range(height) if asked.level in (None, level)]


def loses_money(case: Case, calls: list[Asked]) -> bool:
    """Does the ledger hold anything but what was asked to be bought, once each, at the literal prices?"""
    public, private, _ = case
    provider, book = opened(public, private, sealing=public.sealing), Book(public)
    with called(provider) as open_calls:
        refine = Refine(public, open_calls)
        ids = refine.ids()
        for asked in calls:
            keys = list(dict.fromkeys(map(refine.key, asked.rows)))
            for _ in range(asked.times):
                told = check(json.loads(refine.extend(asked, ids).body), EXTENSION)
                if asked.ceiling is not None:
                    expected = [book.buy(asked, key) if key in ids else False for key in keys]
                    rows = [told["rows"][ids.get(key, "not-an-id")][asked.attribute] for key in keys]
                    if [row != [{}] for row in rows] != expected:
                        return True
    made = [entry.purchase for entry in provider.ledger.entries(1)]
    told_entries = [(p.buyer, p.request.tuple["K"], p.request.attribute, p.request.level, p.price) for p in made]
    sums = {who: provider.ledger.total(who).spent for who in CREDITS}
    return told_entries != book.entries or any(sums[who] != book.spent(who) for who in CREDITS)


@STORM
@given(CASES, CALLS)
def test_money_is_exact_and_what_is_sent_again_is_charged_once(case: Case, calls: list[Asked]) -> None:
    assert not loses_money(case, calls)


# ---- policies -------------------------------------------------------------------------------------------------------


def breaks_a_policy(public: Inputs, private: Private, calls: list[Asked]) -> bool:
    """By the literal definition, of all that was sold to both accounts together."""
    provider = opened(public, private, sealing=public.sealing)
    with called(provider) as open_calls:
        refine = Refine(public, open_calls)
        ids = refine.ids()
        for asked in [*calls, *_everything(calls)]:
            refine.extend(asked, ids)
    ties = [row[2] if public.tied else str(number) for number, row in enumerate(public.rows)]
    before = {tie: public.domain(row[2]) for row, tie in zip(public.rows, ties, strict=True)}
    possible = {tie: set(domain) for tie, domain in before.items()}
    for purchase in (entry.purchase for entry in provider.ledger.entries(1)):
        for row, tie in zip(public.rows, ties, strict=True):
            if row[0] == purchase.request.tuple["K"]:
                possible[tie] = {values for values in possible[tie] if _fits(public, values, purchase)}
    for policy in public.policies:
        (y,), must = policy.y, policy.must_hold
        for x in {row[1] for row in public.rows}:
            of_group = [tie for row, tie in zip(public.rows, ties, strict=True) if row[1] == x]
            left = [(public.weigh(possible[tie], y), public.weigh(before[tie], y)) for tie in of_group]
            kept = sum(bool(now) and literal.holds(must.name, must.parameters, now, all_) for now, all_ in left)
            if kept < (len(left) if policy.scope == "row" else min(policy.keep, len(left))):
                return True
    return False


def _everything(calls: list[Asked]) -> list[Asked]:
    """What is still for sale after a storm, bought by one account."""
    return [Asked("u", attribute, None, 10**5, [*range(9)], 1) for attribute in "AB"]


def _fits(public: Inputs, values: tuple[str, ...], purchase: Purchase) -> bool:
    attribute, level = purchase.request.attribute, purchase.request.level
    if purchase.answer == ABSENT:
        return False
    return public.hierarchies[attribute].generalize_value(values["AB".index(attribute)], level) == purchase.answer


@STORM
@given(CASES, CALLS)
def test_the_policies_hold_by_their_definition_after_a_storm(case: Case, calls: list[Asked]) -> None:
    public, private, _ = case
    assert not breaks_a_policy(public, private, calls)


# ---- what is told ---------------------------------------------------------------------------------------------------


def seen(reply: Reply, is_paid: bool) -> tuple[Any, ...]:
    """All that is seen of a reply but what was paid for; the white space that makes up for it counts by its length."""
    body = PADDING.sub(b"", PAID.sub(b'"str":""', reply.body)) if is_paid else reply.body
    return reply.status, reply.headers, len(reply.body), body


def is_told_apart(case: Case, calls: list[Asked]) -> bool:
    public, one, other = case
    with (
        called(opened(public, one, sealing=public.sealing)) as first,
        called(opened(public, other, sealing=public.sealing)) as second,
    ):
        clients = [Refine(public, calls) for calls in (first, second)]
        if seen(clients[0].queries("u"), False) != seen(clients[1].queries("u"), False):
            return True
        ids = clients[0].ids()
        for asked in calls:
            told = [seen(client.extend(asked, ids), asked.ceiling is not None) for client in clients]
            if told[0] != told[1]:
                return True
    return False


@STORM
@given(CASES, CALLS)
def test_every_answer_is_a_function_of_what_is_public(case: Case, calls: list[Asked]) -> None:
    assert not is_told_apart(case, calls)


# ---- mutants --------------------------------------------------------------------------------------------------------


def _every_call_has_a_key_of_its_own(patch: pytest.MonkeyPatch) -> None:
    numbers = count()
    patch.setattr(extending.Wanted, "key", lambda self, account: f"{next(numbers)}")


def _what_is_finest_is_found_anew(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(extending.Extending, "_bought_before", lambda self, wanted, account: {})
    honest = extending.Wanted.key
    numbers = count()
    patch.setattr(
        extending.Wanted,
        "key",
        lambda self, account: honest(self, account) if self.asked.level is not None else f"finest-{next(numbers)}",
    )


def _a_preview_buys(patch: pytest.MonkeyPatch) -> None:
    honest = extending.Extending._wanted

    def wanted(self: Any, extension: Any) -> Iterator[Any]:
        for one in honest(self, extension):
            request = pacas.Request(one.tuple, one.asked.attribute, one.offer.hierarchy.height)
            self._service.provider.pay(request, 10**18, f"{one.asked.attribute}{one.id}", buyer="u")
            yield one

    patch.setattr(extending.Extending, "_wanted", wanted)


@pytest.mark.parametrize("mutate", [_every_call_has_a_key_of_its_own, _what_is_finest_is_found_anew, _a_preview_buys])
def test_a_mutant_loses_money(mutate: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    assert find(st.tuples(CASES, CALLS), lambda drawn: loses_money(*drawn), settings=MANY)


def test_answers_as_long_as_they_are_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extending, "padded", lambda document, length: document)
    assert find(st.tuples(CASES, CALLS), lambda drawn: is_told_apart(*drawn), settings=MANY)
