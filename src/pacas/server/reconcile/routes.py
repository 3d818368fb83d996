"""`/reconcile/TOKEN`: its paths, who may call them, and from where.

OpenRefine sends a token nowhere but in the address. So it is a token of its own, which opens nothing else and has a
credit; the log and the metrics know the route, with the token left open; and pages of any origin may call this path,
and no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import parse_qsl

from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pacas.provider.ledger.accounts import Account, Role, token_hash
from pacas.server.authentication import LONGEST_TOKEN
from pacas.server.http.failures import Failure
from pacas.server.http.http_call import MOST_PARAMETERS, HttpCall, read_body
from pacas.server.limits import MEBIBYTE
from pacas.server.openapi import WireRoute
from pacas.server.reconcile.asked import AskedRow, Extension, read_extension, read_queries
from pacas.server.reconcile.candidates import Candidates
from pacas.server.reconcile.extending import Extending
from pacas.server.reconcile.manifest import COLUMNS, PROPERTIES, manifest, proposal, suggested_columns
from pacas.server.reconcile.row_ids import RowIds
from pacas.server.service import Service
from pacas.wire.shapes.base import JSON
from pacas.wire.shapes.failures import ErrorCode

ROOT = "/reconcile/"
PATH = ROOT + "{token}"
FORM = b"application/x-www-form-urlencoded"
OPEN = {
    "Access-Control-Allow-Origin": "*",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
}
LARGEST_FORM = MEBIBYTE
"""Bytes of a form: who reconciles sends a few queries at a time, and one form is read at once."""
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Content-Type",
    "Access-Control-Max-Age": "600",
}


def mount(app: Starlette, service: Service, address: bool | str) -> None:
    """Add the paths to a service; `address` is where clients find it, if its owner says so."""
    app.router.routes += ReconcileRoutes(service, address if isinstance(address, str) else None).routes()
    app.add_middleware(OpenToPages)


class ReconcileRoutes:
    """What each path does."""

    def __init__(self, service: Service, address: str | None) -> None:
        self._service, self._address = service, address
        ids = RowIds(service.signing)
        self._offers = service.provider.catalogue()
        self._candidates, self._extending = Candidates(service, ids), Extending(service, ids)

    def routes(self) -> list[WireRoute]:
        """The paths; an address may be pasted with a slash at its end."""
        here = (PATH, PATH + "/")
        return [
            *(WireRoute("GET", path, self.manifest) for path in here),
            *(WireRoute("POST", path, self.ask) for path in here),
            WireRoute("GET", PATH + PROPERTIES, self.properties),
            WireRoute("GET", PATH + COLUMNS, self.columns),
            *(WireRoute("OPTIONS", path, _preflight) for path in (*here, PATH + PROPERTIES, PATH + COLUMNS)),
        ]

    async def manifest(self, call: HttpCall) -> Response:
        """The manifest; and as the standard has it, queries may come behind a question mark."""
        account = await self._account(call)
        if queries := call.query("queries", ""):
            return await self._queries(call, read_queries(queries, self._service.settings.batch), account, 0)
        types, key_id = self._candidates.types, self._service.signing.key_id
        most = min(self._service.settings.batch, self._service.limit.of(account))
        return _json(to_json(manifest(types, self._offers, key_id, self._own_address(call), most)))

    async def properties(self, call: HttpCall) -> Response:
        await self._account(call)
        limit = call.query("limit", "")
        most = int(limit) if limit.isdecimal() and limit.isascii() and len(limit) < 10 else None
        return _json(to_json(proposal(call.query("type", ""), self._candidates.types, self._offers, most)))

    async def columns(self, call: HttpCall) -> Response:
        await self._account(call)
        typed, type_id = call.query("prefix", ""), call.query("type", "")
        return _json(to_json(suggested_columns(typed, type_id, self._candidates.types, self._offers)))

    async def ask(self, call: HttpCall) -> Response:
        """`queries` or `extend`, in a form."""
        account = await self._account(call)
        counted = partial(self._service.limit.take_body, account)
        body = await read_body(call, FORM, min(self._service.settings.max_body_bytes, LARGEST_FORM), counted)
        asked = await self._service.pools.read(account.name, _asked, body, self._service.settings.batch)
        if not isinstance(asked, Extension):
            return await self._queries(call, asked, account, len(body))
        return _json(await self._extending.answer(call, asked, account, len(body)))

    async def _queries(self, call: HttpCall, asked: Mapping[str, AskedRow], account: Account, size: int) -> Response:
        return _json(await self._service.in_parts(call, account, self._candidates.answer(asked, account, size)))

    async def _account(self, call: HttpCall) -> Account:
        token = call.parameter("token")
        if len(token) > LONGEST_TOKEN:
            raise _not_known()
        try:
            return await self._service.authentication.of(token_hash(token), call, Role.RECONCILE)
        except Failure as failure:
            raise _not_known() if failure.code is ErrorCode.UNAUTHORIZED else failure from None

    def _own_address(self, call: HttpCall) -> str:
        """Where this service is called: where its owner says, or else where the caller has found it."""
        here = self._address or f"{call.scope['scheme']}://{call.header(b'host').decode('latin-1')}"
        return f"{here}{ROOT}{call.parameter('token')}"


class OpenToPages:
    """Lets pages of any origin read what these paths answer, errors too. Plain ASGI."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(ROOT):
            await self._app(scope, receive, send)
            return

        async def opened(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(OPEN)
            await send(message)

        await self._app(scope, receive, opened)


async def _preflight(call: HttpCall) -> Response:
    return Response(status_code=204, headers=PREFLIGHT)


def _asked(body: bytes, most: int) -> dict[str, AskedRow] | Extension:
    """What a form asks."""
    form = _form(body)
    if "queries" in form:
        return read_queries(form["queries"], most)
    if "extend" in form:
        return read_extension(form["extend"], most)
    raise Failure(ErrorCode.BAD_REQUEST, "the form has neither queries nor extend")


def _form(body: bytes) -> dict[str, str]:
    try:
        text = body.decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_PARAMETERS, errors="strict"))
    except ValueError:  # bytes that are no text, or too many fields
        raise Failure(ErrorCode.BAD_REQUEST, "the form cannot be read") from None


def _not_known() -> Failure:
    return Failure(ErrorCode.UNAUTHORIZED, "the address ends with no valid token; ask the provider for another one")


def _json(content: bytes) -> Response:
    return Response(content, media_type=JSON)
