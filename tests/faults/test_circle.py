"""Members of a circle in processes of their own, over the same people: nobody is broken, however the house ends."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random

import pytest
from circle_shops import MemberProcess, broken, race, race_world, running_house, write_member
from circles import SECRET

from pacas.protocol.circle import CircleLine, circle_key
from pacas.storage.url import open_kept_house

PEOPLE = 60
RUNS = 10
"""Where faults are asked for; else there is one."""


def members_of(folder: Path, count: int, house: str) -> list[Path]:
    found = [folder / f"member-{number}" for number in range(count)]
    for path in found:
        write_member(path, race_world(PEOPLE), path.name, house)
    return found


@pytest.mark.faults
@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_processes_that_race_over_the_same_people_break_nobody(tmp_path: Path, count: int, faults: int | None) -> None:
    """Each sells the drugs and conditions of all people in another order; the house sees all of it."""
    for run in range(RUNS if faults else 1):
        folder = tmp_path / str(run)
        names = [f"member-{number}" for number in range(count)]
        with running_house(folder / "house", names) as house:
            told = race(members_of(folder, count, house.url), run, 600)
        assert broken(race_world(PEOPLE), told) == 0
        sold = sum(len(one["sold"]) for one in told)
        assert sold >= PEOPLE and all(one["sold"] for one in told) and not any(one["away"] for one in told)


@pytest.mark.slow
def test_a_house_that_is_killed_at_any_moment_sells_nothing_unsafe_and_loses_nothing(tmp_path: Path) -> None:
    chance = Random(5)
    names = ["member-0", "member-1"]
    with running_house(tmp_path / "house", names) as house, ExitStack() as stack:
        folders = members_of(tmp_path, 2, house.url)
        members = [MemberProcess(folder, number, 600) for number, folder in enumerate(folders)]
        for member in members:
            member.go()
        for _ in range(3):
            time.sleep(chance.uniform(0.02, 0.25))
            house.kill()
            time.sleep(chance.uniform(0.0, 0.3))
            house.start()
        told = [member.end() for member in members]
        kept = stack.enter_context(closing(open_kept_house("sqlite:///shop.ledger.db", tmp_path / "house")))
        for name, one in zip(names, told, strict=True):
            for person, attribute, _ in one["sold"]:
                assert CircleLine(attribute, 0, name) in kept.read(circle_key(SECRET, {"K": person})).lines
    assert broken(race_world(PEOPLE), told) == 0
    assert sum(len(one["sold"]) for one in told) >= PEOPLE // 2


@pytest.mark.postgres
@pytest.mark.slow
def test_a_house_in_postgresql_is_as_good(tmp_path: Path, postgres_url: str) -> None:
    told = race(members_of(tmp_path, 2, postgres_url), 1, 600)
    assert broken(race_world(PEOPLE), told) == 0 and sum(len(one["sold"]) for one in told) >= PEOPLE
