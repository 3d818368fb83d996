"""Eight clients, two servers, one ledger: no policy is broken, no account overspent, each sale right at its moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from postgres import Cluster

from .processes import Launcher
from .racing import Tally, race

PER_RACE = 20
"""Kills that one race stands for, where many faults are asked for."""


def test_servers_over_one_file_stay_consistent(
    launcher: Launcher, tmp_path: Path, faults: int | None, tell: Callable[[str], None]
) -> None:
    tally = race(launcher, tmp_path, lambda number: "sqlite:///ledger.db", races(faults), tell)
    tell(f"SQLite: {tally}")
    check_that_it_was_a_race(tally)


def test_servers_over_one_postgresql_stay_consistent(
    launcher: Launcher, own_cluster: Cluster, tmp_path: Path, faults: int | None, tell: Callable[[str], None]
) -> None:
    tally = race(launcher, tmp_path, lambda number: f"{own_cluster.url}?ledger=race_{number}", races(faults), tell)
    tell(f"PostgreSQL: {tally}")
    check_that_it_was_a_race(tally)


def races(faults: int | None) -> int:
    return 1 if faults is None else max(2, faults // PER_RACE)


def check_that_it_was_a_race(tally: Tally) -> None:
    """The clients came to the limits of the policy and of their credit."""
    assert {"unsafe", "credit"} <= set(tally.refused)
    assert tally.sold < tally.bought, "no key was shared"
