"""The server is killed at any moment, and PostgreSQL with it: nothing that a buyer was told is lost or changes.

`make faults` does so hundreds of times.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from postgres import Cluster

from .crashing import Tally, crash
from .processes import Launcher

FEW = 6


def test_a_purchase_outlasts_kills_of_the_server(
    launcher: Launcher, tmp_path: Path, faults: int | None, tell: Callable[[str], None]
) -> None:
    tally = crash(launcher, tmp_path, lambda number: "sqlite:///ledger.db", faults or FEW, tell)
    tell(f"SQLite: {tally}")
    check_that_it_was_a_trial(tally, faults or FEW)


def test_a_purchase_outlasts_kills_of_the_server_and_of_postgresql(
    launcher: Launcher, own_cluster: Cluster, tmp_path: Path, faults: int | None, tell: Callable[[str], None]
) -> None:
    def url(number: int) -> str:
        return f"{own_cluster.url}?ledger=crash_{number}"

    tally = crash(launcher, tmp_path, url, faults or FEW, tell, own_cluster)
    tell(f"PostgreSQL: {tally}")
    check_that_it_was_a_trial(tally, faults or FEW)


def check_that_it_was_a_trial(tally: Tally, kills: int) -> None:
    """Kills did meet calls, and sales went on."""
    assert tally.kills >= kills
    assert tally.hits, "no kill met a call"
    assert tally.counts["acknowledged"] > tally.kills
