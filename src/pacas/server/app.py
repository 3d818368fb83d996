"""The service as an ASGI application."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import FastAPI
from structlog.typing import FilteringBoundLogger

from pacas.provider.ledger.accounts import Accounts
from pacas.provider.provider import Provider
from pacas.server.failures import handle_failures
from pacas.server.gate import Gate
from pacas.server.logs import make_log
from pacas.server.openapi import DESCRIPTION, add_routes
from pacas.server.routes import Routes
from pacas.server.service import Service
from pacas.server.settings import ServiceSettings
from pacas.server.signing_key import SigningKey


def create_app(
    provider: Provider,
    accounts: Accounts,
    settings: ServiceSettings,
    signing: SigningKey,
    *,
    log: FilteringBoundLogger | None = None,
) -> FastAPI:
    """A provider behind HTTP. Its ledger and its accounts stay the caller's, to close when the app has ended."""
    log = log or make_log()
    service = Service(provider, accounts, settings, signing, log)
    app = FastAPI(
        title="PACAS",
        version=version("pacas"),
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=service.running,
    )
    app.state.stop = service.stop
    app.add_middleware(Gate, log=log, metrics=service.metrics)
    handle_failures(app)
    add_routes(app, Routes(service))
    return app
