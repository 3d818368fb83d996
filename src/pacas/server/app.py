"""The service as an ASGI application, and what every call passes on its way through it."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib import import_module
from importlib.metadata import version
from time import perf_counter
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.typing import FilteringBoundLogger

from pacas.protocol.circle import House
from pacas.provider.ledger.accounts import Accounts
from pacas.provider.ledger.offers import PrivateOffers
from pacas.provider.provider import Provider
from pacas.server.http.failures import Failure, handle_failures
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log, place
from pacas.server.monitoring.metrics import Metrics
from pacas.server.monitoring.presence import Presence
from pacas.server.monitoring.watch import Watch
from pacas.server.openapi import routes_of
from pacas.server.routes import Routes
from pacas.server.service import Service
from pacas.server.signing_key import SigningKey

LEFT = 499
"""The status in log and metrics of a call whose client went away."""
TURNED_AWAY = (401, 429)
NO_STORE = (b"cache-control", b"no-store")
"""What is bought is for who has bought it, and for no cache on the way; what may be kept says so itself."""
METHODS = frozenset(("GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"))


class Beside(Protocol):
    """What is served beside the service's own calls, such as pages that watch it."""

    @property
    def watch(self) -> Watch: ...

    def routes(self, service: Service) -> Sequence[BaseRoute]: ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """What goes on while the service runs; it ends before the service's own threads do."""
        ...


def create_app(
    provider: Provider,
    accounts: Accounts,
    settings: ServiceSettings,
    signing: SigningKey,
    *,
    log: FilteringBoundLogger | None = None,
    beside: Beside | None = None,
    presence: Presence | None = None,
    offers: PrivateOffers | None = None,
    house: House | None = None,
) -> Starlette:
    """A provider behind HTTP. Its ledger, accounts, offers and house stay the caller's, to close when it has ended."""
    log = log or make_log()
    watch = None if beside is None else beside.watch
    service = Service(provider, accounts, settings, signing, log, watch, presence, offers, house)
    routes = routes_of(Routes(service), version("pacas"))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with service.running(app), nullcontext() if beside is None else beside.running():
            yield

    app = Starlette(routes=[*routes, *(() if beside is None else beside.routes(service))], lifespan=lifespan)
    app.router.redirect_slashes = False
    app.state.stop = service.stop
    app.add_middleware(CallMiddleware, log=log, metrics=service.metrics, watch=watch)
    if settings.reconcile:  # its modules are loaded only where they are asked for
        import_module("pacas.server.reconcile.routes").mount(app, service, settings.reconcile)
    handle_failures(app)
    return app


class CallMiddleware:
    """Times, counts and logs every call; an error that nobody expected ends here. Plain ASGI."""

    def __init__(self, app: ASGIApp, log: FilteringBoundLogger, metrics: Metrics, watch: Watch | None = None) -> None:
        self._app, self._log, self._metrics, self._watch = app, log, metrics, watch

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
                headers = message.setdefault("headers", [])
                if not any(name == b"cache-control" for name, _ in headers):
                    message["headers"] = [*headers, NO_STORE]
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
        if self._watch is not None and status in TURNED_AWAY:
            self._watch.turned_away(scope.get("account", ""), status)
        more: dict[str, Any] = {key: scope[key] for key in ("account", "problem") if key in scope}
        if client := scope.get("client"):
            more["client"] = client[0]
        self._log.info("request", method=method, route=route, status=status, ms=round(seconds * 1000, 3), **more)


def _route(scope: Scope) -> str:
    """The path with its parameters left open."""
    return getattr(scope.get("route"), "path_format", "unknown")
