"""Who may see a page: operators with a session. A form must come from a page of that session.

A cookie is sent by the browser to this path alone, never with what another site asks for (SameSite=Strict), and no
script can read it. A form brings the session's own secret along; of a login, which has no session yet, the browser says
from where it comes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pacas.console.sessions import LONGEST, OperatorSession, Sessions
from pacas.errors import InputError, StorageError
from pacas.pages.answers import PAGE_HEADERS
from pacas.pages.typed_number import typed_number
from pacas.provider.ledger.accounts import Account, Role, token_hash
from pacas.server.http.failures import Failure
from pacas.server.http.http_call import CERTIFICATE, HttpCall, read_body
from pacas.server.limits import MEBIBYTE
from pacas.server.service import Service
from pacas.wire.shapes.failures import ErrorCode

PATH = "/console"
LOGIN = f"{PATH}/login"
FORM = b"application/x-www-form-urlencoded"
MOST_FIELDS = 1000
LARGEST_FORM = MEBIBYTE


@dataclass(frozen=True, eq=False)
class Visit:
    """An operator's call: who it is, and what is asked."""

    request: Request
    operator: Account
    session: OperatorSession
    form: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_part(self) -> bool:
        """Whether htmx asks, for a part of a page."""
        return self.request.headers.get("hx-request") == "true"

    def number(self, name: str, default: int = 0, most: int = 10**12) -> int:
        """A whole number among what is asked for; what is none, or too large, counts as the default."""
        text = self.form.get(name) or self.request.query_params.get(name, "")
        found = typed_number(text.removeprefix("-"))
        if found is None or found > most:
            return default
        return -found if text.startswith("-") else found


Handler = Callable[[Visit], Awaitable[Response]]
Show = Callable[[Request, int, str], Response]
"""A page that says why there is none: the call, the status, and a line."""


class Visits:
    """Lets operators in, and nobody else."""

    def __init__(self, service: Service, sessions: Sessions, show: Show) -> None:
        self._service, self._sessions, self._show = service, sessions, show

    def get(self, path: str, handler: Handler) -> Route:
        return self._route(path, handler, "GET")

    def post(self, path: str, handler: Handler) -> Route:
        return self._route(path, handler, "POST")

    def open(self, path: str, handler: Callable[[Request], Awaitable[Response]]) -> Route:
        """What is there for who has no session yet."""
        return Route(f"{PATH}{path}", self._guarded(handler), methods=["GET", "POST"], include_in_schema=False)

    def _route(self, path: str, handler: Handler, method: str) -> Route:
        async def visited(request: Request) -> Response:
            found = await self._session(request)
            if found is None:
                return _to_login(request)
            session, operator = found
            request.scope["account"] = operator.name
            form: Mapping[str, str] = {}
            if method == "POST":
                form = await self.form(request)
                given = request.headers.get("x-csrf-token") or form.get("csrf", "")
                if not is_from_here(request) or not session.is_own(given):
                    return self._show(request, 403, "This form is not one of this session's. Load the page again.")
            return await handler(Visit(request, operator, session, form))

        return Route(f"{PATH}{path}", self._guarded(visited), methods=[method], include_in_schema=False)

    def _guarded(self, handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """A handler whose errors are pages, too."""

        async def guarded(request: Request) -> Response:
            try:
                return await handler(request)
            except InputError as error:
                return self._show(request, 422, str(error))
            except StorageError as error:
                request.scope["problem"] = str(error)  # for the log
                return self._show(request, 503, "The ledger cannot be used now; try again.")
            except Failure as failure:
                return self._show(request, failure.code.status, failure.message)

        return guarded

    async def form(self, request: Request) -> Mapping[str, str]:
        """The fields of a form; of several with one name the last counts."""
        body = await read_body(HttpCall(request.scope, request.receive), FORM, LARGEST_FORM)
        try:
            fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
        except ValueError:  # too many, or no text
            raise Failure(ErrorCode.UNPROCESSABLE, "the form cannot be read") from None
        return dict(fields)

    async def log_in(self, token: str, request: Request) -> tuple[str, Account] | None:
        """A cookie for who brings an operator's token; None for everybody else, whoever that is."""
        if (operator := await self._operator(token_hash(token.strip()), request)) is None:
            return None
        cookie, _ = self._sessions.begin(operator.token_hash)
        return cookie, operator

    def log_out(self, session: OperatorSession) -> None:
        self._sessions.end(session)

    async def _session(self, request: Request) -> tuple[OperatorSession, Account] | None:
        session = self._sessions.find(_cookies(request).get(cookie_name(request), ""))
        if session is None:
            return None
        operator = await self._operator(session.token_hash, request)
        if operator is None:  # revoked since, or an operator no more
            self._sessions.end(session)
            return None
        return session, operator

    async def _operator(self, digest: str, request: Request) -> Account | None:
        try:
            account = await self._service.pools.store.run(self._service.authentication.now, digest)
        except Failure:
            return None
        is_admitted = account.role is Role.OPERATOR and account.accepts(request.scope.get(CERTIFICATE))
        return account if is_admitted else None


def cookie_name(request: Request) -> str:
    """One for each port: cookies are the host's, and several providers may be served from one."""
    server: Any = request.scope.get("server") or ("", 0)
    return f"pacas-console-{server[1]}"


def set_cookie(response: Response, request: Request, value: str) -> None:
    response.set_cookie(
        cookie_name(request),
        value,
        max_age=int(LONGEST) if value else 0,
        path=PATH,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def is_from_here(request: Request) -> bool:
    """Whether a form was sent by a page of this service, as far as the browser says where it comes from.

    It says so of where it trusts the way; else it may say `null`, as our pages tell it to name no page.
    """
    if (site := request.headers.get("sec-fetch-site")) is not None:
        return site == "same-origin"
    origin = request.headers.get("origin", "null")
    return origin == "null" or origin.partition("://")[2] == request.headers.get("host", "")


def redirect(path: str) -> Response:
    """To another page of the console, after a form has done its work."""
    return RedirectResponse(f"{PATH}{path}", 303, dict(PAGE_HEADERS))


def _to_login(request: Request) -> Response:
    """Where who has no session is sent; back to a page, not to what a form was to do."""
    if request.headers.get("hx-request") == "true":
        return Response(status_code=403, headers={**PAGE_HEADERS, "HX-Redirect": LOGIN})
    if request.method != "GET":
        return redirect("/login")
    where = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return redirect(f"/login?next={quote(where, safe='')}")


def _cookies(request: Request) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(request.headers.get("cookie", "")).items()}
    except CookieError:
        return {}
