"""Readiness that tests a write, and processes that serve one ledger on one set of terms."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from example_shop import Shop, error_of, example_provider, med
from running_service import KEY, served, with_account

from pacas.errors import InputError, StorageError
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.server import service
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.monitoring.logs import make_log
from pacas.server.monitoring.presence import GONE, Presence
from pacas.storage.side_tables import ServingTable
from pacas.storage.url import open_serving

pytestmark = pytest.mark.attack

TERMS = {"reasons": "None", "history": "pooled", "signing_key": "k1"}


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[ServingTable]:
    with closing(open_serving("sqlite:///shop.db", tmp_path)) as found:
        yield found


def test_processes_of_the_same_terms_serve_together(processes: ServingTable) -> None:
    one, other = Presence(processes, TERMS), Presence(processes, TERMS)
    one.enter()
    other.enter()
    assert one.is_fresh and other.is_fresh


@pytest.mark.parametrize("differing", TERMS)
def test_a_process_of_other_terms_does_not_serve(processes: ServingTable, differing: str) -> None:
    one, other = Presence(processes, TERMS), Presence(processes, TERMS | {differing: "other"})
    one.enter()
    with pytest.raises(InputError, match=f"serves this ledger with another {differing}, and clients"):
        other.enter()
    assert len(processes.others("", 0)) == 1, "who does not serve is not noted"
    one.leave()
    other.enter()


def test_a_process_that_was_killed_is_in_nobodys_way(processes: ServingTable) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    host = os.uname().nodename
    processes.note(f"{host} {int(ended.stdout)} x", "{}", 2**40)
    processes.note("elsewhere 1 x", "{}", 0)
    Presence(processes, TERMS).enter()
    processes.note("elsewhere 1 x", "{}", 2**40)
    with pytest.raises(InputError, match=f"forgotten after {GONE:.0f} s"):
        Presence(processes, TERMS).enter()


def test_who_was_taken_for_gone_does_not_serve_beside_other_terms(
    processes: ServingTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was paused, or a machine that was cut off from PostgreSQL, and comes back."""
    calendar = [1_000_000.0]
    monkeypatch.setattr("pacas.server.monitoring.presence.time", lambda: calendar[0])
    one, other = Presence(processes, TERMS), Presence(processes, TERMS | {"reasons": "True"})
    one.enter()
    calendar[0] += GONE + 2
    other.enter()
    with pytest.raises(StorageError, match="served with another reasons since"):
        one.renew()
    assert one.is_displaced and not one.is_fresh and len(processes.others("", 0)) == 2
    other.leave()
    one.renew()
    assert one.is_fresh and not one.is_displaced
    with pytest.raises(InputError, match="another reasons"):
        other.enter()


def test_who_is_displaced_answers_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "BEAT", 0.01)
    accounts, presence = MemoryAccounts(), Presence(Full(), TERMS)
    with_account(accounts, "ann")
    presence.enter()
    provider, log = example_provider(), io.StringIO()
    app = create_app(provider, accounts, ServiceSettings(), KEY, log=make_log(log), presence=presence)
    with served(app) as url:
        shop = Shop(url, provider, accounts, log)
        with closing(shop.client):
            assert shop.quotes(med("male", "51", 1)).status_code == 200
            monkeypatch.setattr(Full, "others", lambda *asked: [("elsewhere 1 x", "{}")])
            monkeypatch.setattr("pacas.server.monitoring.presence.GONE", 0)
            while shop.call("GET", "/v1/ready", None).status_code == 200:
                pass
            assert error_of(shop.quotes(med("male", "51", 1)))[:2] == (503, "unavailable")
            assert shop.call("GET", "/v1/key", None).status_code == 200


def test_what_could_not_be_written_for_a_while_is_not_ready(processes: ServingTable) -> None:
    now = [100.0]
    presence = Presence(processes, TERMS, clock=lambda: now[0])
    assert not presence.is_fresh
    presence.renew()
    now[0] += 4
    assert presence.is_fresh
    now[0] += 2
    assert not presence.is_fresh


class Full:
    """A place to be noted at that is full from some moment on."""

    is_full = False

    def note(self, process: str, terms: str, seen: int) -> None:
        if self.is_full:
            raise StorageError("the ledger shop.db cannot grow: the disk is full; nothing was recorded")

    def others(self, process: str, since: int) -> list[tuple[str, str]]:
        return []

    def forget(self, process: str) -> None: ...

    def close(self) -> None: ...


def test_a_ledger_that_cannot_be_written_is_not_ready_and_sells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "BEAT", 0.01)
    monkeypatch.setattr("pacas.server.monitoring.presence.FRESH", 0.2)
    accounts, store = MemoryAccounts(), Full()
    with_account(accounts, "ann")
    presence = Presence(store, TERMS)
    presence.enter()
    provider, log = example_provider(), io.StringIO()
    app = create_app(provider, accounts, ServiceSettings(), KEY, log=make_log(log), presence=presence)
    with served(app) as url:
        shop = Shop(url, provider, accounts, log)
        with closing(shop.client):
            assert shop.buy("a", med("male", "51", 1)).status_code == 200
            store.is_full = True
            while (ready := shop.call("GET", "/v1/ready", None)).status_code == 200:
                pass
            assert error_of(ready)[:2] == (503, "unavailable")
            assert error_of(shop.buy("b", med("male", "51", 2)))[:2] == (503, "unavailable")
            wish = shop.call("POST", "/v1/offers", json={"rate": 5000, "days": 1})
            assert error_of(wish)[:2] == (503, "unavailable")
            assert shop.quotes(med("male", "51", 1)).status_code == 200, "what was known can be told"
            store.is_full = False
            while shop.call("GET", "/v1/ready", None).status_code == 503:
                pass
            assert shop.buy("b", med("male", "51", 2)).status_code == 200
    assert [line["event"] for line in shop.log_lines() if "written" in line["event"]] == [
        "ledger cannot be written",
        "ledger can be written again",
    ]
