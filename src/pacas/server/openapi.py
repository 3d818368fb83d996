"""Which path does what, as the service's OpenAPI document tells it.

The endpoints read and write bytes themselves; what they take and give is declared here, and tests hold them to it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Response
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from pacas.server.http_call import HttpCall
from pacas.server.routes import DOTS, LARGEST_PAGE, PAGE, Routes
from pacas.wire.shapes import (
    ARROW,
    JSON,
    AccountAnswer,
    AccountLine,
    Catalogue,
    ErrorBody,
    ErrorCode,
    KeyAnswer,
    PastPurchase,
    PurchaseAnswer,
    PurchaseBody,
    PurchasesAnswer,
    PurchasesBody,
    QuotesAnswer,
    QuotesBody,
    Status,
)

Endpoint = Callable[[HttpCall], Coroutine[Any, Any, Response]]
DOCUMENT = "/v1/openapi.json"
REFERENCE = "#/components/schemas/{model}"
BODIES = (QuotesBody, PurchaseBody, PurchasesBody)
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
)
_BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_TEXT: dict[str, Any] = {"schema": {"type": "string"}}


class WireRoute(APIRoute):
    """A path whose endpoint gets the call as it is: nothing is taken apart for it, or validated twice."""

    def __init__(self, path: str, endpoint: Endpoint, **options: Any) -> None:
        super().__init__(path, _declared, **options)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            response = await endpoint(HttpCall(scope, receive))
            await response(scope, receive, send)

        self.app = answer


async def _declared() -> None:
    """What FastAPI sees of an endpoint; `Operation` says what it takes and gives."""


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

    def responses(self) -> dict[int | str, dict[str, Any]]:
        answer: dict[str, Any] = {"content": self.answer} if isinstance(self.answer, dict) else {"model": self.answer}
        failing = (*self.fails, ErrorCode.INTERNAL)
        said: dict[int | str, dict[str, Any]] = {200: {"description": self.summary, **answer}}
        for code in sorted(failing, key=lambda code: code.status):
            said[code.status] = {"model": ErrorBody, "description": code.value}
        if 429 in said:
            said[429]["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait."}}
        return said

    def extra(self) -> dict[str, Any]:
        extra: dict[str, Any] = {"security": [] if self.is_open else [{"token": []}]}
        if self.takes is not None:
            extra["requestBody"] = {"required": True, "content": self.takes}
        if self.parameters:
            extra["parameters"] = list(self.parameters)
        return extra


def _reference(*models: type) -> dict[str, Any]:
    found = [{"$ref": REFERENCE.format(model=model.__name__)} for model in models]
    return {JSON: {"schema": found[0] if len(found) == 1 else {"oneOf": found}}}


def _parameter(name: str, where: str, what: str, required: bool = True, **schema: Any) -> dict[str, Any]:
    given = {"name": name, "in": where, "required": required, "description": what}
    return {**given, "schema": {"type": "string", **schema}}


_ATTRIBUTE = _parameter("attribute", "path", "What is asked about.")
_ID = _parameter("id", "path", "The idempotency key of the purchase.", minLength=1)
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
        (*_WITH_BODY, ErrorCode.RATE_LIMITED),
        _reference(QuotesBody),
    ),
    Operation(
        "POST",
        "/v1/quotes/{attribute:path}",
        "quotes_arrow",
        "What values of many tuples cost at all levels: an int64 column per level, a refusal below 0.",
        {ARROW: _BINARY},
        (*_WITH_BODY, ErrorCode.NOT_FOUND, ErrorCode.RATE_LIMITED),
        {ARROW: _BINARY},
        (_ATTRIBUTE,),
    ),
    Operation(
        "POST",
        "/v1/purchases",
        "buy",
        "Buy one value, or several.",
        PurchaseAnswer | PurchasesAnswer,
        (*_WITH_BODY, ErrorCode.CONFLICT, ErrorCode.RATE_LIMITED),
        _reference(PurchaseBody, PurchasesBody),
        (_IDEMPOTENCY,),
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
        "/v1/account",
        "account",
        "Your account and its purchases.",
        AccountAnswer,
        (*_AUTHENTICATED, ErrorCode.UNPROCESSABLE),
        None,
        (_AFTER, _LIMIT),
    ),
    Operation("GET", "/v1/accounts", "accounts", "All accounts; for operators.", list[AccountLine], _FOR_A_ROLE),
    Operation("GET", "/v1/key", "key", "The key that receipts are verified with.", KeyAnswer),
    Operation("GET", "/v1/health", "health", "The service runs.", Status),
    Operation("GET", "/v1/ready", "ready", "The ledger can be reached.", Status, (ErrorCode.UNAVAILABLE,)),
    Operation(
        "GET", "/metrics", "metrics", "Counts, for Prometheus; for operators.", {"text/plain": _TEXT}, _FOR_A_ROLE
    ),
)


def add_routes(app: FastAPI, routes: Routes) -> None:
    """Give the application its paths and its document."""
    for operation in OPERATIONS:
        app.router.add_api_route(
            operation.path,
            getattr(routes, operation.name),
            methods=[operation.method],
            operation_id=operation.name,
            summary=operation.summary,
            description=operation.summary,
            responses=operation.responses(),
            response_class=Response,
            openapi_extra=operation.extra(),
            route_class_override=WireRoute,
        )
    document = to_json(_document(app))

    async def openapi(call: HttpCall) -> Response:
        return Response(document, media_type=JSON)

    app.router.add_api_route(DOCUMENT, openapi, include_in_schema=False, route_class_override=WireRoute)


def _document(app: FastAPI) -> dict[str, Any]:
    """FastAPI's document, with the bodies that our endpoints read and how a caller is known."""
    document = app.openapi()
    _, bodies = models_json_schema([(model, "validation") for model in BODIES], ref_template=REFERENCE)
    components = document.setdefault("components", {})
    components["schemas"] = dict(sorted({**bodies["$defs"], **components.get("schemas", {})}.items()))
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return document
