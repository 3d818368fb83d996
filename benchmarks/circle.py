"""Members of a circle that sell of the same people through one clearing house: what a house lets through."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from service import postgres_url

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

INTRODUCTION = """
Members, a process each with a ledger of its own in SQLite, sell drugs and conditions of the same people, in different
orders, under a policy over both: each sale reads the house, judges, reserves there, is written to the member's ledger,
and is answered. *Broken* are people of whom all that was sold together leaves fewer than k = 3 pairs; *sold* are
values. All processes and the house share this machine.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    from circle_shops import broken, race, race_world, running_house, write_member

    people, seconds = (40, 2.0) if small else (3000, 8.0)
    world = race_world(people)
    lines = ["| house | members | sold | sales/s | broken |", "| --- | ---: | ---: | ---: | ---: |"]

    @contextmanager
    def service(place: Path, members: list[str]) -> Iterator[str]:
        with running_house(place / "house", members) as house:
            yield house.url

    @contextmanager
    def database(place: Path, members: list[str]) -> Iterator[str]:
        with postgres_url() as url:
            yield f"{url}{'&' if '?' in url else '?'}ledger=circle_{os.getpid()}_{len(members)}"

    folder.mkdir(parents=True, exist_ok=True)
    for name, opened in (("a PACAS service, SQLite", service), ("PostgreSQL", database)):
        for count in (2, 4):
            members = [f"member-{number}" for number in range(count)]
            try:
                with tempfile.TemporaryDirectory(dir=folder) as place, opened(Path(place), members) as url:
                    for member in members:
                        write_member(Path(place) / member, world, member, url)
                    told = race([Path(place) / member for member in members], count, seconds)
            except (ImportError, pytest.skip.Exception) as missing:
                lines.append(f"| {name} | not measured: {missing} | | | |")
                break
            sold, rate = sum(len(one["sold"]) for one in told), sum(one["rate"] for one in told)
            lines.append(f"| {name} | {count} | {sold:,} | {rate:,.0f} | {broken(world, told):,} of {people:,} |")
    return "\n".join([f"## A clearing house, {people:,} people", "", INTRODUCTION, "", *lines])
