"""Who may use a review: the browser that was given its key, at a name of this machine, with forms that are ours.

The address that is printed has a key, which becomes a cookie. A browser is not started with that address, as all users
of a machine see what programs are started with, but with a file that leads to it and that only its owner reads. What
changes anything needs a second secret, which only our own pages know; so another page in the same browser can do
nothing, nor another user of the machine.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from hmac import compare_digest
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pacas.pages.answers import PAGE_HEADERS, said

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
FIRST = "/table"
"""The page that a review begins with."""


class Doorkeeper:
    """Lets in who has the key."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.key = secrets.token_urlsafe(24)
        self.csrf = secrets.token_urlsafe(24)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Request(scope))
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        host = Headers(scope=request.scope).get("host", "")
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]"):
            name, port = host, "80"
        if name not in LOOPBACK:
            return said("a review answers on this machine only", 421)
        cookie = f"pacas-review-{port}"
        given = request.query_params.get("key")
        if request.url.path == "/" and given is not None and compare_digest(given.encode(), self.key.encode()):
            # no redirection: a browser that comes from elsewhere would not send a strict cookie along with it
            answer = HTMLResponse(_leading_to(FIRST), headers=dict(PAGE_HEADERS))
            answer.set_cookie(cookie, self.key, httponly=True, samesite="strict", path="/")
            return answer
        if not compare_digest(request.cookies.get(cookie, "").encode(), self.key.encode()):
            return said("open the address that `pacas review` has printed: it has the key", 403)
        if request.method == "POST" and not _is_from_here(request.headers, host):
            return said("this form is not one of the review's own", 403)
        return None

    def is_ours(self, token: str | None) -> bool:
        """Whether a form came from one of our pages."""
        return token is not None and compare_digest(token.encode(), self.csrf.encode())


@contextmanager
def entrance(url: str) -> Iterator[Path]:
    """A file that leads to a review, for a while and for its owner's eyes only: what a browser is started with."""
    with TemporaryDirectory(prefix="pacas-review-") as folder:
        page = Path(folder) / "review.html"
        with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as made:
            made.write(_leading_to(url))
        yield page


def _leading_to(address: str) -> str:
    """A page that goes on to another one by itself."""
    to = escape(address)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<link rel="icon" href="data:,">\n'
        f'<meta http-equiv="refresh" content="0; url={to}">\n<title>PACAS review</title>\n</head>\n'
        f'<body><p><a href="{to}">Go on to the review</a></p></body>\n</html>\n'
    )


def _is_from_here(headers: Headers, host: str) -> bool:
    """What a browser says of where a form stood; pages that send no referrer have their forms come from "null"."""
    origin, site = headers.get("origin", "null"), headers.get("sec-fetch-site", "same-origin")
    return origin in ("null", f"http://{host}") and site == "same-origin"
