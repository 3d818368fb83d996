"""Which path does what, as the service's OpenAPI document tells it.

The endpoints read and write bytes themselves; what they take and give is declared here, and tests hold them to it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from pacas.server.http.http_call import HttpCall
from pacas.server.routes import LARGEST_PAGE, PAGE, Routes
from pacas.wire.shapes.accounts import AccountAnswer, AccountLine, OfferAnswer, OfferBody, OffersAnswer
from pacas.wire.shapes.base import ARROW, DOTS, JSON
from pacas.wire.shapes.catalogue import Catalogue
from pacas.wire.shapes.circle import CircleAnswer, CircleBody
from pacas.wire.shapes.failures import ErrorBody, ErrorCode, Status
from pacas.wire.shapes.purchases import (
    PastPurchase,
    PurchaseAnswer,
    PurchaseBody,
    PurchasesAnswer,
    PurchasesBody,
    RunAnswer,
    RunBody,
)
from pacas.wire.shapes.quotes import QuotesAnswer, QuotesBody
from pacas.wire.shapes.receipts import KeyAnswer, ProofsAnswer, ProofsBody, TreeHeadDocument

Endpoint = Callable[[HttpCall], Coroutine[Any, Any, Response]]
DOCUMENT = "/v1/openapi.json"
REFERENCE = "#/components/schemas/{model}"
BODIES = (QuotesBody, PurchaseBody, PurchasesBody, RunBody, OfferBody, ProofsBody, CircleBody)
DESCRIPTION = """\
A provider of curated values: ask what a value costs, and buy it. All money is whole nanocredits (10⁻⁹ credit). Every
error has the one shape {"error": {"code", "message"}}."""

_AUTHENTICATED = (ErrorCode.UNAUTHORIZED, ErrorCode.UNAVAILABLE)
_FOR_A_ROLE = (*_AUTHENTICATED, ErrorCode.FORBIDDEN)
_WITH_BODY = (
    *_FOR_A_ROLE,
    ErrorCode.BAD_REQUEST,
    ErrorCode.TOO_LARGE,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.UNPROCESSABLE,
    ErrorCode.RATE_LIMITED,
)
_BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_TEXT: dict[str, Any] = {"schema": {"type": "string"}}
_SCHEMA = {
    member: place
    for place, member in enumerate(
        (
            *("$ref", "properties", "anyOf", "items", "additionalProperties", "propertyNames", "type", "const", "enum"),
            *("maxLength", "maxProperties", "maximum", "minimum", "required", "title", "description", "default"),
        )
    )
}
"""An answer's schema has its members in this order, and operations with parameters have others than those without: the
document is the same, byte for byte, from the first release on."""


class WireRoute(Route):
    """A path whose endpoint gets the call as it is, and the one method that it takes."""

    def __init__(self, method: str, path: str, endpoint: Endpoint) -> None:
        super().__init__(path, endpoint)
        self.methods = {method}  # GET, and not HEAD with it

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            response = await endpoint(HttpCall(scope, receive))
            await response(scope, receive, send)

        self.app = answer

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        return match, {**found, "route": self}  # for the log


@dataclass(frozen=True, slots=True)
class Operation:
    """A path, its method, and what it takes and gives."""

    method: str
    path: str
    name: str
    """The endpoint's name in `Routes`, and the operation's id."""
    summary: str
    answer: Any
    """A model, or the content of an answer that is not JSON."""
    fails: tuple[ErrorCode, ...] = ()
    takes: dict[str, Any] | None = None
    parameters: tuple[dict[str, Any], ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it needs no token."""
        return ErrorCode.UNAUTHORIZED not in self.fails

    def document(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The operation as OpenAPI has it; `answer` is the content of what it gives."""
        named = {"summary": self.summary, "description": self.summary, "operationId": self.name}
        security: list[Any] = [] if self.is_open else [{"token": []}]
        said = {"responses": self._responses(answer), "security": security}
        if not self.parameters:
            body = {} if self.takes is None else {"requestBody": {"content": self.takes, "required": True}}
            return named | body | said
        body = {} if self.takes is None else {"requestBody": {"required": True, "content": self.takes}}
        return named | said | body | {"parameters": self.parameters}

    def _responses(self, answer: dict[str, Any]) -> dict[str, Any]:
        said: dict[str, Any] = {"200": {"description": self.summary, "content": answer}}
        for code in sorted((*self.fails, ErrorCode.INTERNAL), key=lambda code: code.status):
            said[str(code.status)] = {"description": code.value, "content": _reference(ErrorBody)}
        if "429" in said:
            wait = {"schema": {"type": "integer"}, "description": "Seconds to wait."}
            header = wait if self.parameters else dict(reversed(wait.items()))
            content = said["429"].pop("content")
            said["429"] |= {"headers": {"Retry-After": header}, "content": content}
        return said


def _reference(*models: type) -> dict[str, Any]:
    found = [{"$ref": REFERENCE.format(model=model.__name__)} for model in models]
    return {JSON: {"schema": found[0] if len(found) == 1 else {"oneOf": found}}}


def _parameter(name: str, where: str, what: str, required: bool = True, **schema: Any) -> dict[str, Any]:
    given = {"name": name, "in": where, "required": required, "description": what}
    return {**given, "schema": {"type": "string", **schema}}


_ATTRIBUTE = _parameter("attribute", "path", "What is asked about.")
_VERSION = _parameter("version", "query", "As the catalogue names it: such a list never changes.", False)
_ID = _parameter("id", "path", "The idempotency key of the purchase.", minLength=1)
_KEY = _parameter("key", "path", "Whom lines are about: an HMAC, in hex.", pattern="^[0-9a-f]{64}$")
_OFFER = _parameter("id", "path", "The offer's name.", minLength=1)
_IDEMPOTENCY = _parameter(
    "Idempotency-Key",
    "header",
    "A key of your own for this call: sent again with the same key, it is charged once. Neither `.` nor `..`.",
    minLength=1,
    maxLength=256,
    pattern="^[!-~]([ -~]*[!-~])?$",
)
_IDEMPOTENCY["schema"]["not"] = {"enum": list(DOTS)}
_AFTER = _parameter("after", "query", "`next` of the page before.", False, pattern="^[0-9]{1,18}$")
_LIMIT = _parameter(
    "limit",
    "query",
    f"Purchases on a page, {PAGE} by default; a page of large ones has fewer.",
    False,
    type="integer",
    minimum=1,
    maximum=LARGEST_PAGE,
)

OPERATIONS = (
    Operation("GET", "/v1/catalogue", "catalogue", "What is for sale.", Catalogue, _AUTHENTICATED),
    Operation(
        "POST",
        "/v1/quotes",
        "quotes",
        "What values cost now.",
        QuotesAnswer,
        _WITH_BODY,
        _reference(QuotesBody),
    ),
    Operation(
        "POST",
        "/v1/quotes/{attribute:path}",
        "quotes_arrow",
        "What values of many tuples cost at all levels: an int64 column per level, a refusal below 0.",
        {ARROW: _BINARY},
        (*_WITH_BODY, ErrorCode.NOT_FOUND),
        {ARROW: _BINARY},
        (_ATTRIBUTE,),
    ),
    Operation(
        "GET",
        "/v1/prices/{attribute:path}",
        "prices",
        "The price list of an attribute, by which clients quote themselves: a row for each key.",
        {ARROW: _BINARY},
        (*_FOR_A_ROLE, ErrorCode.NOT_FOUND),
        None,
        (_ATTRIBUTE, _VERSION),
    ),
    Operation(
        "POST",
        "/v1/purchases",
        "buy",
        "Buy one value, or several.",
        PurchaseAnswer | PurchasesAnswer,
        (*_WITH_BODY, ErrorCode.CONFLICT),
        _reference(PurchaseBody, PurchasesBody),
        (_IDEMPOTENCY,),
    ),
    Operation(
        "POST",
        "/v1/runs",
        "run",
        "Buy several values in one step, up to the first surprise.",
        RunAnswer,
        (*_WITH_BODY, ErrorCode.CONFLICT),
        _reference(RunBody),
    ),
    Operation(
        "GET",
        "/v1/purchases/{id:path}",
        "purchase",
        "A purchase of your own.",
        PastPurchase,
        (*_FOR_A_ROLE, ErrorCode.NOT_FOUND),
        None,
        (_ID,),
    ),
    Operation(
        "GET",
        "/v1/offers",
        "offers",
        "The offers to your account.",
        OffersAnswer,
        (*_FOR_A_ROLE, ErrorCode.RATE_LIMITED),
    ),
    Operation(
        "POST", "/v1/offers", "ask_offer", "Ask for other terms.", OfferAnswer, _WITH_BODY, _reference(OfferBody)
    ),
    Operation(
        "POST",
        "/v1/offers/{id}/accept",
        "accept_offer",
        "Accept an offer: its terms are in the ledger when this is answered.",
        OfferAnswer,
        (*_FOR_A_ROLE, ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.RATE_LIMITED),
        None,
        (_OFFER,),
    ),
    Operation(
        "POST",
        "/v1/offers/{id}/withdraw",
        "withdraw_offer",
        "Decline an offer, or take back what you asked for.",
        OfferAnswer,
        (*_FOR_A_ROLE, ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.RATE_LIMITED),
        None,
        (_OFFER,),
    ),
    Operation(
        "GET",
        "/v1/circle/{key}",
        "circle_lines",
        "What members of a circle have sold of somebody; for members.",
        CircleAnswer,
        (*_FOR_A_ROLE, ErrorCode.NOT_FOUND, ErrorCode.UNPROCESSABLE, ErrorCode.RATE_LIMITED),
        None,
        (_KEY,),
    ),
    Operation(
        "PUT",
        "/v1/circle/{key}",
        "circle_reserve",
        "Say that you are about to sell; for members.",
        CircleAnswer,
        (*_WITH_BODY, ErrorCode.NOT_FOUND, ErrorCode.CONFLICT),
        _reference(CircleBody),
        (_KEY,),
    ),
    Operation(
        "GET",
        "/v1/account",
        "account",
        "Your account and its purchases.",
        AccountAnswer,
        (*_AUTHENTICATED, ErrorCode.UNPROCESSABLE, ErrorCode.RATE_LIMITED),
        None,
        (_AFTER, _LIMIT),
    ),
    Operation("GET", "/v1/accounts", "accounts", "All accounts; for operators.", list[AccountLine], _FOR_A_ROLE),
    Operation(
        "GET", "/v1/log", "log_head", "The head of the log of all entries, signed.", TreeHeadDocument, _FOR_A_ROLE
    ),
    Operation(
        "POST",
        "/v1/log/proofs",
        "log_proofs",
        "Proofs that the log has forgotten nothing, and that entries are in it.",
        ProofsAnswer,
        _WITH_BODY,
        _reference(ProofsBody),
    ),
    Operation("GET", "/v1/key", "key", "The key that receipts are verified with.", KeyAnswer),
    Operation("GET", "/v1/health", "health", "The service runs.", Status),
    Operation("GET", "/v1/ready", "ready", "The ledger can be reached.", Status, (ErrorCode.UNAVAILABLE,)),
    Operation(
        "GET", "/metrics", "metrics", "Counts, for Prometheus; for operators.", {"text/plain": _TEXT}, _FOR_A_ROLE
    ),
)


def routes_of(routes: Routes, version: str) -> list[WireRoute]:
    """The service's paths, and the one of the document that describes them."""
    document = _document(version)

    async def openapi(call: HttpCall) -> Response:
        return Response(document, media_type=JSON)

    found = [WireRoute(one.method, one.path, getattr(routes, one.name)) for one in OPERATIONS]
    return [*found, WireRoute("GET", DOCUMENT, openapi)]


@cache
def _document(version: str) -> bytes:
    """The OpenAPI document: what each operation takes and gives, by the shapes that both sides know."""
    answers = {one.name: TypeAdapter(one.answer) for one in OPERATIONS if not isinstance(one.answer, dict)}
    asked: list[tuple[str, Any, TypeAdapter[Any]]] = [(name, "serialization", answers[name]) for name in answers]
    asked.append(("", "serialization", TypeAdapter(ErrorBody)))
    found, answered = TypeAdapter.json_schemas(asked, ref_template=REFERENCE)
    _, bodies = models_json_schema([(model, "validation") for model in BODIES], ref_template=REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        content = one.answer
        if one.name in answers:
            schema = found[one.name, "serialization"]
            titled = schema if "$ref" in schema else schema | {"title": f"Response 200 {one.name.title()}"}
            content = {JSON: {"schema": _in_order(titled)}}
        paths.setdefault(one.path.replace(":path}", "}"), {})[one.method.lower()] = one.document(content)
    schemas = bodies["$defs"] | {name: _in_order(schema) for name, schema in answered["$defs"].items()}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "PACAS", "description": DESCRIPTION, "version": version},
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return to_json(document)


def _in_order(schema: Any, name: str = "") -> Any:
    """An answer's schema with its members in the order of `_SCHEMA`, and its bounds as floats; `name` is its own."""
    match schema:
        case list():
            return [_in_order(one) for one in schema]
        case dict():
            names = schema if name == "properties" else sorted(schema, key=lambda one: _SCHEMA.get(one, len(_SCHEMA)))
            return {member: _in_order(schema[member], member) for member in names}
        case int() if name in ("maximum", "minimum"):
            return float(schema)
    return schema
