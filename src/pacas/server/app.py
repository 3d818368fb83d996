"""The service as an ASGI application, and what every call passes on its way through it."""

from __future__ import annotations

from asyncio import CancelledError
from importlib.metadata import version
from time import perf_counter
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from pacas.provider.ledger.accounts import Accounts
from pacas.provider.provider import Provider
from pacas.server.failures import Failure, handle_failures
from pacas.server.limits import ServiceSettings
from pacas.server.logs import make_log, place
from pacas.server.metrics import Metrics
from pacas.server.openapi import routes_of
from pacas.server.routes import Routes
from pacas.server.service import Service
from pacas.server.signing_key import SigningKey

LEFT = 499
"""The status in log and metrics of a call whose client went away."""
METHODS = frozenset(("GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"))


def create_app(
    provider: Provider,
    accounts: Accounts,
    settings: ServiceSettings,
    signing: SigningKey,
    *,
    log: FilteringBoundLogger | None = None,
) -> Starlette:
    """A provider behind HTTP. Its ledger and its accounts stay the caller's, to close when the app has ended."""
    log = log or make_log()
    service = Service(provider, accounts, settings, signing, log)
    app = Starlette(routes=routes_of(Routes(service), version("pacas")), lifespan=service.running)
    app.router.redirect_slashes = False
    app.state.stop = service.stop
    app.add_middleware(CallMiddleware, log=log, metrics=service.metrics)
    handle_failures(app)
    return app


class CallMiddleware:
    """Times, counts and logs every call; an error that nobody expected ends here. Plain ASGI."""

    def __init__(self, app: ASGIApp, log: FilteringBoundLogger, metrics: Metrics) -> None:
        self._app, self._log, self._metrics = app, log, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin = perf_counter()
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except ClientDisconnect:
            status = LEFT
        except CancelledError:  # the server ends, and waits no longer
            if not status:
                await Failure.stopping().response()(scope, receive, noted)
        except Exception as error:
            self._log.error("failed", route=_route(scope), error=type(error).__name__, place=place(error))
            if not status:
                await Failure.internal().response()(scope, receive, noted)
        finally:
            self._note(scope, status or LEFT, perf_counter() - begin)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        route = _route(scope)
        self._metrics.called(method, route, status, seconds)
        more: dict[str, Any] = {key: scope[key] for key in ("account", "problem") if key in scope}
        self._log.info("request", method=method, route=route, status=status, ms=round(seconds * 1000, 3), **more)


def _route(scope: Scope) -> str:
    """The path with its parameters left open."""
    return getattr(scope.get("route"), "path_format", "unknown")
