"""The service is tried with what its OpenAPI document allows and with what it does not: thousands of calls.

The application is called in process, as its published document says, by a client, an operator, a stranger and nobody.
Half of the calls come from somebody who knows what is for sale, so that they get past the first checks and buy.
"""

from __future__ import annotations

import copy
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from arrow_streams import any_stream
from example_shop import example_provider
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from lanes import examples, share
from running_service import KEY, with_account
from schemathesis import GenerationMode
from schemathesis.python.asgi import shutdown_lifespans
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from pacas.protocol.messages import Request
from pacas.provider.ledger.accounts import MemoryAccounts, Role
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.server.openapi import DOCUMENT, OPERATIONS
from pacas.wire.shapes.base import ARROW
from pacas.wire.shapes.failures import ErrorCode

pytestmark = pytest.mark.slow

CASES = {
    ("POST", "/v1/quotes"): (150, 150, 150, 150),
    ("POST", "/v1/quotes/{attribute}"): (350, 0, 350, 0),
    ("POST", "/v1/purchases"): (150, 150, 150, 150),
    ("GET", "/v1/purchases/{id}"): (60, 0, 10, 0),
    ("GET", "/v1/account"): (30, 30, 30, 30),
}
"""How many calls of each of the four `kinds`. Any text is an id or an attribute, and any bytes a body in Arrow."""
NO_INPUT = 4
"""Calls of a path that takes nothing; only who calls can differ."""
WHO = ("ann", "ann", "ann", "ann", "olga", "nobody", None)


@dataclass
class Tried:
    """A service, what its document says, and what came of the calls."""

    published: Any
    open: Any
    """The document without a word about tokens: who calls is then chosen here alone."""
    informed: Any
    """The same, if it said what is for sale."""
    log: io.StringIO
    answers: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    bought: int = 0

    def take(self, case: Any, who: str | None, *excluded: Any) -> None:
        """Make a call; its answer is documented in every respect, and a failure has the one shape."""
        headers = {} if who is None else {"Authorization": f"Bearer token-of-{who}"}
        response = case.call_and_validate(headers=headers, excluded_checks=list(excluded))
        self.answers[case.method, case.path, response.status_code] += 1
        if response.status_code != 200:
            document = json.loads(response.content)
            assert list(document) == ["error"] and sorted(document["error"]) == ["code", "message"]
            assert ErrorCode(document["error"]["code"]).status == response.status_code < 500
            assert document["error"]["message"].isprintable() and len(document["error"]["message"]) <= 200
        elif case.method == "POST":
            self.bought += response.content.count(b'"receipt"')

    def count(self, method: str, path: str) -> int:
        return sum(n for (m, p, _), n in self.answers.items() if (m, p) == (method, path))


@pytest.fixture
def tried() -> Iterator[Tried]:
    accounts, log = MemoryAccounts(), io.StringIO()
    with_account(accounts, "ann")
    with_account(accounts, "olga", role=Role.OPERATOR)
    provider = example_provider()
    provider.sell(Request({"GEN": "male", "AGE": "51"}, "MED", 1), 10**10, "known/0", buyer="ann")
    app = create_app(provider, accounts, ServiceSettings(quotes_per_minute=10**9), KEY, log=make_log(log))
    schemathesis.openapi.media_type(ARROW, any_stream)
    published = schemathesis.openapi.from_asgi(DOCUMENT, app)
    without = silent_on_tokens(published.raw_schema)
    documents = [schemathesis.openapi.from_dict(told) for told in (without, told_what_is_for_sale(without))]
    for document in documents:
        document.app = app
    yield Tried(published, documents[0], documents[1], log)
    shutdown_lifespans()


def silent_on_tokens(document: dict[str, Any]) -> dict[str, Any]:
    told = copy.deepcopy(document)
    for operations in told["paths"].values():
        for operation in operations.values():
            del operation["security"]
    return told


def told_what_is_for_sale(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the attribute, its levels and the match columns filled in, and sensible ceilings."""
    told = copy.deepcopy(document)
    told["components"]["schemas"]["PurchaseBody"]["properties"]["ceiling"] = {"enum": [0, 10**9, 10**10]}
    for model in ("QuoteRequest", "PurchaseRequest"):
        members = told["components"]["schemas"][model]["properties"]
        members["attribute"] = {"enum": ["MED"]}
        members["level"] = {"enum": [0, 1, 2, 3]}
        members["tuple"] |= {
            "properties": {"GEN": {"enum": ["male", "female", None]}, "AGE": {"enum": ["51", "45", "38", "79", "x"]}},
            "required": ["GEN", "AGE"],
            "additionalProperties": False,
        }
    for path, name, known in (("/v1/quotes/{attribute}", "post", "MED"), ("/v1/purchases/{id}", "get", "known/0")):
        told["paths"][path][name]["parameters"][0]["schema"]["enum"] = [known, "other"]
    told["paths"]["/v1/purchases"]["post"]["parameters"][0]["schema"] = {"enum": ["known", "c d", *map(str, range(10))]}
    return told


def kinds(tried: Tried) -> list[tuple[Any, GenerationMode, tuple[Any, ...]]]:
    """What is allowed and what is not, by the document and by one who knows more; and what cannot be asked of each.

    No document says what is for sale, so that what it allows may be refused; what only the informed one forbids may
    be allowed.
    """
    return [
        (tried.published, GenerationMode.POSITIVE, (positive_data_acceptance,)),
        (tried.open, GenerationMode.NEGATIVE, ()),
        (tried.informed, GenerationMode.POSITIVE, ()),
        (tried.informed, GenerationMode.NEGATIVE, (negative_data_rejection,)),
    ]


def try_all(tried: Tried, calls: st.SearchStrategy[tuple[Any, str | None]], cases: int, excluded: Any) -> None:
    @examples(
        cases,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(calls)
    def call(made: tuple[Any, str | None]) -> None:
        tried.take(*made, *excluded)

    call()


@pytest.mark.parametrize(("method", "path"), CASES)
def test_whatever_is_sent_is_answered_as_the_document_says(tried: Tried, method: str, path: str) -> None:
    for (document, mode, excluded), cases in zip(kinds(tried), CASES[method, path], strict=True):
        if cases:
            operation = document[path][method.lower()].as_strategy(generation_mode=mode)
            in_arrow = (positive_data_acceptance,) if path == "/v1/quotes/{attribute}" else ()
            try_all(tried, st.tuples(operation, st.sampled_from(WHO)), cases, (*excluded, *in_arrow))
    assert tried.count(method, path) >= sum(map(share, CASES[method, path]))
    assert {200, 401} <= {status for m, p, status in tried.answers if (m, p) == (method, path)}
    assert "failed" not in tried.log.getvalue()
    if path == "/v1/purchases":
        assert tried.bought >= share(5), "some were bought, and some were bought again"


def test_paths_that_take_nothing(tried: Tried) -> None:
    rest = [(o.method, o.path) for o in OPERATIONS if o.method == "GET" and ":" not in o.path and not o.parameters]
    assert len(rest) == 8
    for method, path in rest:
        for who in ("ann", "olga", "nobody", None):
            tried.take(tried.published[path][method.lower()].Case(), who)
        assert tried.count(method, path) == NO_INPUT


def test_there_are_enough_of_them() -> None:
    assert sum(sum(cases) for cases in CASES.values()) + 8 * NO_INPUT >= 2000
