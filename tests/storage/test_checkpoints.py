"""Checkpoints in databases: kept whole or not at all, whoever is killed; copied and put back with the ledger."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from checkpoint_shops import KEY, ROWS, said, shop
from postgres import POSTGRES

from pacas.protocol.messages import Request
from pacas.provider.ledger.checkpoint import Checkpoints
from pacas.provider.provider import Provider
from pacas.storage.backup import backup, restore
from pacas.storage.url import open_checkpoints, open_ledger

pytestmark = pytest.mark.attack
KILLS = 4
KEEPS_FOR_EVER = """
import sys
from pathlib import Path
from pacas.storage.url import open_checkpoints
store = open_checkpoints(sys.argv[1], Path(sys.argv[2]))
store.keep("a" * 1_000_000, "a")
print("ready", flush=True)
while True:
    for letter in "ba":
        store.keep(letter * 1_000_000, letter)
"""


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return "sqlite:///shop.db"
    found: str = request.getfixturevalue("postgres_url")
    return found


def opened(url: str, folder: Path) -> Provider:
    checkpoints = Checkpoints(lambda: open_checkpoints(url, folder), lambda: KEY, least=1)
    return shop("sealed, last", open_ledger(url, folder), checkpoints)


def sell(provider: Provider, *rows: int) -> None:
    for row in rows:
        provider.sell(Request({"W": ROWS[row][0], "BED": ROWS[row][1]}, "M", 1), 10**18, f"k{row}")


def check_is_whole(url: str, folder: Path) -> None:
    """It begins at its checkpoint, and knows what one that reads everything knows."""
    with opened(url, folder) as provider, closing(open_ledger(url, folder)) as ledger:
        assert said(provider) == said(shop("sealed, last", ledger))
        assert provider.till._checkpoints is not None and provider.till._checkpoints._kept > 0


def test_who_is_killed_while_one_is_kept_leaves_it_or_the_one_before(url: str, tmp_path: Path) -> None:
    open_ledger(url, tmp_path).close()
    for kill in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", KEEPS_FOR_EVER, url, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.01 * kill)
        process.kill()
        process.wait()
        process.stdout.close()
        with closing(open_checkpoints(url, tmp_path)) as store:
            found = store.last()
        assert found in (("a" * 1_000_000, "a"), ("b" * 1_000_000, "b"))


def test_a_copy_that_is_put_back_is_sold_from_whatever_was_kept_since(url: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with opened(url, tmp_path) as provider:
        sell(provider, 0, 5)
        provider.refresh()
        backup(url, tmp_path, copy)
        sell(provider, 1, 6, 7)
        provider.refresh()
    check_is_whole(url, tmp_path)
    restore(url, tmp_path, copy)
    check_is_whole(url, tmp_path)
    with opened(url, tmp_path) as provider:
        assert provider.ledger.head().entries == 3
        sell(provider, 2, 8, 9, 10)
        provider.refresh()
    check_is_whole(url, tmp_path)


def test_one_from_before_there_were_any_is_opened_and_gets_one(url: str, tmp_path: Path) -> None:
    with shop("sealed, last", open_ledger(url, tmp_path)) as provider:
        sell(provider, 0, 5)
    with closing(open_checkpoints(url, tmp_path)) as store:
        assert store.last() is None
    opened(url, tmp_path).close()
    check_is_whole(url, tmp_path)
