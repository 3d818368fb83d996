"""The running example's provider, served on a loopback port to four accounts."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from example_shop import OpenShop, Shop, example_provider
from running_service import KEY, served, stop_the_clock_of_limits, with_account

from pacas.provider.ledger.accounts import Accounts, MemoryAccounts, Role
from pacas.provider.provider import Provider
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log


@pytest.fixture(autouse=True)
def no_time_goes_by(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_the_clock_of_limits(monkeypatch)


@pytest.fixture(scope="module")
def open_shop_for_all() -> Iterator[OpenShop]:
    """Serve providers to all tests of a module: for those that change nothing."""
    yield from _open_shops()


@pytest.fixture
def open_shop() -> Iterator[OpenShop]:
    """Serve a provider, the example's unless one is given; `settings` are those of the service."""
    yield from _open_shops()


@pytest.fixture
def shop(open_shop: OpenShop) -> Shop:
    return open_shop()


@pytest.fixture(scope="module")
def shop_of_all(open_shop_for_all: OpenShop) -> Shop:
    return open_shop_for_all()


def _open_shops() -> Iterator[OpenShop]:
    with ExitStack() as stack:

        def opened(provider: Provider | None = None, accounts: Accounts | None = None, **settings: Any) -> Shop:
            provider, accounts, log = provider or example_provider(), accounts or MemoryAccounts(), io.StringIO()
            with_account(accounts, "ann")
            with_account(accounts, "bob", credit=10**9)
            with_account(accounts, "eve")
            with_account(accounts, "olga", role=Role.OPERATOR)
            accounts.revoke("eve")
            app = create_app(provider, accounts, ServiceSettings(**settings), KEY, log=make_log(log))
            shop = Shop(stack.enter_context(served(app)), provider, accounts, log)
            shop.stop = app.state.stop
            stack.callback(shop.client.close)
            return shop

        yield opened
