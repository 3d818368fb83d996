"""Several server processes over one ledger, in SQLite and in PostgreSQL, are one provider."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from example_shop import med
from postgres import POSTGRES
from running_service import with_account
from served_process import ServedProcess, served_process

from pacas.cli.demo.files import PAPER, write_files
from pacas.provider.ledger.accounts import Role
from pacas.storage.url import open_accounts, open_ledger

ANN, BOB, EVE, OLGA = (f"token-of-{name}" for name in ("ann", "bob", "eve", "olga"))
TRIES = 5000
REQUEST = med("male", "51", 1)

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the ledger is kept."""
    return "sqlite:///shop.db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def servers(tmp_path: Path, url: str) -> Iterator[tuple[ServedProcess, ServedProcess]]:
    """Two processes that sell the running example, at the paper's quotes, from one ledger."""
    write_files(tmp_path)
    file = tmp_path / "provider.toml"
    file.write_text(f'{PAPER}\n[ledger]\nurl = "{url}"\n')
    with closing(open_accounts(url, tmp_path)) as accounts:
        for name in ("ann", "bob", "eve"):
            with_account(accounts, name, credit=10**9)
        with_account(accounts, "olga", role=Role.OPERATOR)
    with served_process(tmp_path, "one") as one, served_process(tmp_path, "two") as two:
        yield one, two


def signed(purchase: dict[str, Any]) -> dict[str, Any]:
    """A purchase as its receipt signs it: each process proves it by a head of the log that has a time of its own."""
    return purchase | {"receipt": purchase["receipt"] | {"log": None}}


def told_alike(account: dict[str, Any]) -> dict[str, Any]:
    return account | {"purchases": [signed(purchase) for purchase in account["purchases"]]}


def credits_sold(server: ServedProcess) -> str:
    (line,) = re.findall(r"(?m)^pacas_credits_sold_total (.*)$", server.call("GET", "/metrics", OLGA).text)
    return str(line)


def test_what_one_process_sells_the_other_knows(
    servers: tuple[ServedProcess, ServedProcess], url: str, tmp_path: Path
) -> None:
    one, two = servers
    assert one.quote(ANN, REQUEST) == two.quote(ANN, REQUEST) == {"price": 700_000_000}
    bought = one.buy(ANN, "k", REQUEST)
    assert bought["answer"] == "NSAID"
    for _ in range(TRIES):
        if two.quote(ANN, REQUEST) == {"price": 0}:
            break
    else:
        raise AssertionError("the other process never hears of the purchase")
    assert signed(two.buy(ANN, "k", REQUEST)) == signed(bought), "a key is the same key everywhere"
    assert signed(two.call("GET", "/v1/purchases/k", ANN).json())["receipt"] == signed(bought)["receipt"]
    other = two.call(
        "POST",
        "/v1/purchases",
        ANN,
        headers={"Idempotency-Key": "k"},
        json={"request": med("male", "51", 2), "ceiling": 0},
    )
    assert other.status_code == 409
    assert {credits_sold(server) for server in servers} == {"0.7"}, "a retry at another process is no sale"
    accounts = [server.call("GET", "/v1/account", ANN).json() for server in servers]
    assert told_alike(accounts[0]) == told_alike(accounts[1])
    assert (accounts[0]["spent"], accounts[0]["remaining"]) == (700_000_000, 300_000_000)
    with closing(open_ledger(url, tmp_path)) as ledger:
        assert ledger.total("ann").purchases == 1
    check_credit(one, two)
    check_odd_key(two, one)
    assert "failed" not in one.log + two.log


def check_credit(one: ServedProcess, two: ServedProcess) -> None:
    """What is left of an account's credit does not depend on who is asked."""
    assert "answer" in one.buy(BOB, "a", REQUEST)
    dearer = two.buy(BOB, "b", med("female", "45", 1))
    spent = two.call("GET", "/v1/account", BOB).json()["spent"]
    assert spent <= 10**9
    assert ("refused" in dearer) == (spent == 700_000_000)


def check_odd_key(one: ServedProcess, two: ServedProcess) -> None:
    """A key is kept as it was sent, whatever the store thinks of it."""
    bought = one.buy(EVE, "odd \\ 'key' %s", REQUEST)
    assert bought["receipt"]["idempotency_key"] == "odd \\ 'key' %s"
    assert two.call("GET", "/v1/purchases/odd%20%5C%20'key'%20%25s", EVE).json()["request"] == REQUEST
    assert signed(two.buy(EVE, "odd \\ 'key' %s", REQUEST)) == signed(bought)
