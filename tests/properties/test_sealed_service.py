"""The gate over HTTP: status, headers and body of every answer are a function of what is public.

Two private relations that fit the same public inputs give the same bytes, whatever two accounts ask and buy. Masked is
what was paid for, and what follows from it in a receipt: the value, the hashes of entries and of the log, signatures,
and when a head was signed. They stay as long as they are, and so does the whole. The paper's quotes do not pass; that
is the control.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from asgi_calls import Called, Reply
from hypothesis import find, given
from hypothesis import strategies as st
from oracles.sealed_cases import CASES, MANY, Case, Inputs, Private, opened
from oracles.sealed_towns import keys, town_examples, towns
from running_service import KEY, with_account
from starlette.responses import Response

import pacas
from pacas.errors import InputError
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.server import routes
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.server.trading import answer_writers
from pacas.wire.shapes.base import ARROW, JSON

PAID = re.compile(rb'"(answer|hash|signature|root)":"(?:[^"\\]|\\.)*"')
PROOF = re.compile(rb'(?<=[\[,])"[0-9a-f]{64}"(?=[,\]])')
"""A hash in a receipt's path."""
SIGNED_AT = re.compile(rb'"time":\d+')
PADDING = re.compile(rb" +(?=[,}])")
Operation = tuple[tuple[str, int, str, int], int]
"""By whom, of which kind, about which attribute and level; and about which key."""
PAYING = 4
"""The first kind of operation that pays."""
KINDS = st.sampled_from([*product("uv", (*range(10), 2, 3, 7, 9), "AB", range(3))])
OPERATIONS = st.lists(st.tuples(KINDS, st.integers(0, 40)), min_size=24, max_size=30)


class Client:
    """Two accounts, and what they ask, one operation after the other."""

    def __init__(self, public: Inputs, called: Called) -> None:
        self._called, self._hierarchies = called, public.hierarchies
        self._keys = keys(public)

    def operate(self, number: int, operation: Operation) -> Reply:
        (who, kind, attribute, level), place = operation
        key = self._keys[place % len(self._keys)]
        one = self._request(attribute, key, level)
        match kind:
            case 0 | 1:
                return self._ask(who, "/v1/quotes", {"requests": [one if kind else self._at_all_levels(one)]})
            case 2:
                many = [self._request(a, k, level) for a in "BA" for k in self._keys]
                return self._ask(who, "/v1/quotes", {"requests": [one, *map(self._at_all_levels, many), *many]})
            case 3:
                tuples = _stream(pa.table({"K": [*self._keys, None]}))
                return self._send(who, "POST", f"/v1/quotes/{attribute}", tuples, ARROW)
            case 4 | 5 | 6:
                ceiling = (0, 10**12, 10**15)[kind - 4]
                body = {"request": one, "ceiling": ceiling}
                return self._ask(who, "/v1/purchases", body, f"{number}")
            case 7:
                some = self._keys[place % 3 :: 3]
                bought = [{"request": self._request(a, k, level), "ceiling": 10**15} for k in some for a in "AB"]
                return self._ask(who, "/v1/purchases", {"purchases": bought}, f"{number}")
            case 9:
                return self._run(who, [self._request(attribute, k, level) for k in self._keys[place % 5 :: 5]], number)
            case _:
                paths = "/v1/account", f"/v1/purchases/{number - 1}", "/v1/catalogue", f"/v1/prices/{attribute}"
                return self._send(who, "GET", paths[(level + place) % 4])

    def _run(self, who: str, wanted: list[dict[str, Any]], number: int) -> Reply:
        """Buy in one step what has a price, for that price."""
        told = self._ask(who, "/v1/quotes", {"requests": wanted})
        orders = [
            {"request": request, "ceiling": quote["price"], "key": f"{number}-{place}"}
            for place, (request, quote) in enumerate(zip(wanted, json.loads(told.body)["quotes"], strict=True))
            if "price" in quote
        ]
        return self._ask(who, "/v1/runs", {"run": orders}) if orders else told

    def _request(self, attribute: str, key: str, level: int) -> dict[str, Any]:
        level = min(level, self._hierarchies[attribute].height)
        return {"tuple": {"K": key}, "attribute": attribute, "level": level}

    def _at_all_levels(self, request: dict[str, Any]) -> dict[str, Any]:
        return {member: value for member, value in request.items() if member != "level"}

    def _ask(self, who: str, path: str, body: Any, key: str = "") -> Reply:
        return self._send(who, "POST", path, json.dumps(body).encode(), JSON, key)

    def _send(self, who: str, method: str, path: str, body: bytes = b"", media: str = "", key: str = "") -> Reply:
        headers = {"content-type": media} | ({"idempotency-key": key} if key else {})
        return self._called.call(method, path, f"token-of-{who}", body, headers)


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


@contextmanager
def called(provider: pacas.Provider) -> Iterator[Called]:
    accounts = MemoryAccounts()
    with_account(accounts, "u")
    with_account(accounts, "v", credit=10**11)
    app = create_app(provider, accounts, ServiceSettings(), KEY, log=make_log(io.StringIO()))
    with Called(app) as calls:
        yield calls


def masked(reply: Reply) -> tuple[int, tuple[tuple[bytes, bytes], ...], int, bytes]:
    """All that is seen of a reply but what was paid for; the white space that makes up for it counts by its length."""
    told = PADDING.sub(b"", SIGNED_AT.sub(b'"time":0', PROOF.sub(b'""', PAID.sub(rb'"\1":""', reply.body))))
    return reply.status, reply.headers, len(reply.body), told


def is_told_apart(public: Inputs, one: Private, other: Private, operations: list[Operation], **how: Any) -> bool:
    """Does some answer differ between two relations that fit what is public?"""
    with (
        called(opened(public, one, **how)) as first,
        called(opened(public, other, **how)) as second,
    ):
        clients = [Client(public, calls) for calls in (first, second)]
        for number, operation in enumerate(operations):
            seen = [masked(client.operate(number, operation)) for client in clients]
            if seen[0] != seen[1]:
                return True
    return False


@town_examples(16)
@given(towns(16), OPERATIONS)
def test_every_answer_is_a_function_of_what_is_public(case: Case, operations: list[Operation]) -> None:
    assert not is_told_apart(*case, operations, sealing=case[0].sealing)


# ---- mutants, and the control ---------------------------------------------------------------------------------------


def _answers_are_as_long_as_they_are(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(answer_writers, "padded", lambda document, length: document)


def _a_header_looks_at_the_answer(patch: pytest.MonkeyPatch) -> None:
    def telling(content: bytes) -> Response:
        return Response(content, media_type=JSON, headers={"etag": f"{sum(content) % 16}"})

    patch.setattr(routes, "_json", telling)


@pytest.mark.parametrize("mutate", [_answers_are_as_long_as_they_are, _a_header_looks_at_the_answer])
def test_a_mutant_is_caught(mutate: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)

    def told_apart(drawn: tuple[Case, list[Operation]]) -> bool:
        (public, one, other), operations = drawn
        return is_told_apart(public, one, other, operations, sealing=public.sealing)

    assert find(st.tuples(CASES, OPERATIONS), told_apart, settings=MANY)


def test_the_papers_quotes_do_not_pass() -> None:
    """The control: what is free tells two relations apart."""

    def told_apart(drawn: tuple[Case, list[Operation]]) -> bool:
        (public, one, other), operations = drawn
        if public.dictionaries or public.tied or len({row[0] for row in public.rows}) < len(public.rows):
            return False
        free = [operation for operation in operations if operation[0][1] < PAYING]
        try:
            return is_told_apart(public, one, other, free, seed=7)
        except InputError:
            return False

    assert find(st.tuples(CASES, OPERATIONS), told_apart, settings=MANY)
