"""`pacas suggest fds`: a table in, dependencies with their evidence out: for people, for programs, for client.toml."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pacas.formats.client_file import read_client_file

Write = Callable[..., None]
HEADER = ["visit", "ward", "head, of ward", "floor", "nurse"]


@pytest.fixture
def write(folder: Path) -> Write:
    """Visits to wards: a ward has a head and is on a floor; some heads are misspelt, and some floors are wrong."""
    random = Random(2)

    def made(*more: Sequence[str], rows: int = 600) -> None:
        lines = []
        for visit in range(rows):
            ward = random.randrange(30)
            head = f"Dr. {'ABCDEFGHIJ'[ward % 10]}{ward}" + ("x" * visit if visit % 40 == 7 else "")
            floor = random.randrange(6) if visit % 50 == 3 else ward % 6
            lines.append([f"v{visit}", f"w{ward}", head, f"floor {floor}", f"nurse {random.randrange(9)}"])
        with (folder / "visits.csv").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([HEADER, *lines, *more])

    made()
    return made


def test_json_has_scores_rows_groups_and_exceptions_by_kind(pacas: Any, write: Write) -> None:
    document = pacas("suggest", "fds", "visits.csv", "--json").document
    assert (document["rows"], document["of"], document["keys"]) == (600, 600, ["visit"])
    found = {one["fd"]: one for one in document["strong"]}
    head = found['ward -> "head, of ward"']
    assert (head["score"], head["rows"], head["groups"], head["active"]) == (1.0, 600, 30, True)
    assert head["exceptions"] == {"typo": 15, "scattered": 0, "blocks": 0}
    assert {example["kind"] for example in head["examples"]} == {"typo"}
    assert 0.75 < found["ward -> floor"]["score"] < 1
    assert not any("nurse" in one["fd"] for one in document["strong"])


def test_text_shows_what_agrees_and_what_exceptions_look_like(pacas: Any, write: Write) -> None:
    lines = pacas("suggest", "fds", "visits.csv").lines
    assert lines[0] == "strong: to declare, best first"
    at = next(i for i, line in enumerate(lines) if line.startswith('  ward -> "head, of ward"'))
    assert lines[at].endswith("1.00  97.5% of 600 rows in 30 groups agree")
    assert lines[at + 1].startswith("      exceptions: 15 typo-like (Dr. ") and " → Dr. " in lines[at + 1]
    assert lines[-1] == "keys and near-keys, which determine all by being unique: visit"


def test_toml_can_be_pasted_and_says_what_it_rests_on(pacas: Any, write: Write, folder: Path) -> None:
    printed = pacas("suggest", "fds", "visits.csv", "--toml").out
    fds = tomllib.loads(printed)["fds"]
    strong = [one for one in pacas("suggest", "fds", "visits.csv", "--json").document["strong"] if one["active"]]
    assert fds == [one["fd"] for one in strong]
    assert '"ward -> floor",  # ' in printed and "of 600 rows in 30 groups agree" in printed
    (folder / "mine.toml").write_text(f'data = "visits.csv"\n{printed}', encoding="utf-8")
    assert {str(fd) for fd in read_client_file(folder / "mine.toml").dependencies()} == set(fds)


def test_values_that_would_break_a_line_of_toml_do_not(pacas: Any, write: Write) -> None:
    write(["v", "w1", 'a\n] = "', "floor 1", "\x07"])
    assert tomllib.loads(pacas("suggest", "fds", "visits.csv", "--toml").out)["fds"]


def test_lists_are_cut_and_say_how_much_is_left(pacas: Any, write: Write) -> None:
    whole = pacas("suggest", "fds", "visits.csv", "--json").document["strong"]
    active = [one for one in whole if one["active"]]
    lines = pacas("suggest", "fds", "visits.csv", "--most", "1").lines
    assert f"… and {len(active) - 1} more (all of them with --json)" in lines


def test_nothing_found_is_said(pacas: Any, folder: Path) -> None:
    (folder / "pair.csv").write_text("a,b\n1,2\n3,4\n")
    assert pacas("suggest", "fds", "pair.csv").lines[0].startswith("no dependency is strong enough")
    assert tomllib.loads(pacas("suggest", "fds", "pair.csv", "--toml").out) == {"fds": []}
    assert pacas("suggest", "fds", "pair.csv", "--json").document["strong"] == []


def test_two_ways_to_print_are_one_too_many(pacas: Any, write: Write) -> None:
    assert "choose one" in pacas("suggest", "fds", "visits.csv", "--toml", "--json").complaint


def test_a_file_that_is_not_there_is_bad_input(pacas: Any) -> None:
    assert "nothing.csv" in pacas("suggest", "fds", "nothing.csv").complaint


def test_pairs_can_be_left_out(pacas: Any, folder: Path) -> None:
    random = Random(4)
    rows = [(random.randrange(12), random.randrange(30)) for _ in range(3_000)]
    lines = [f"m{month},p{product},c{(7 * month + 11 * product * product) % 53}" for month, product in rows]
    (folder / "prices.csv").write_text("\n".join(["month,product,price", *lines]) + "\n")
    with_pairs = pacas("suggest", "fds", "prices.csv", "--json").document
    assert "product, month -> price" in [one["fd"] for one in with_pairs["weak"]]
    assert pacas("suggest", "fds", "prices.csv", "--no-pairs", "--json").document["weak"] == []
