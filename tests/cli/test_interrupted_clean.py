"""`pacas clean`, killed fifty times: continued, it ends with the same table, and nothing is paid twice.

`make faults` kills it a hundred times.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("clean_processes.py")
KILLS, KILLS_OF_FAULTS = 26, 51
"""Of each process."""
SEEDS = (1, 2)
"""One process each, at the same time."""

TREE = {"a": ("a1", "a2", "a3"), "b": ("b1", "b2", "b3"), "c": ("c1", "c2", "c3")}
GROUND = [value for values in TREE.values() for value in values]
PROVIDER = """\
[relation]
data = "sp.csv"
[hierarchies]
B = "tree.csv"
[match]
B = "K = K"
D = "K = K"
[[policy]]
x = ["G"]
y = ["B"]
levels = { B = 1 }
k = 2
allow_linkage = true
[pricing]
total = 2.0
seed = 7
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Classes that are bought at both levels, in two rounds, and some that nobody sells or that cost too much."""
    folder = tmp_path / "files"
    folder.mkdir()
    chance = random.Random(3)
    sold, dirty = ["K,G,B,D"], ["K,H,B,D"]
    for i in range(36):
        b, d = GROUND[i // 3 % 9], "xyz"[i // 3 % 3]
        if i // 3 != 5:
            sold.append(f"k{i},g{i % 2},{b},{d}")
        b = chance.choice(GROUND) if i % 3 == 1 else b
        d = chance.choice("xyzw") if i % 6 == 2 else d
        dirty.append(f'k{i},h{i // 3},"{b}",{d}')
    tree = [f"{value};{parent};*" for parent, values in TREE.items() for value in values]
    contents = {"sp.csv": sold, "client.csv": dirty, "tree.csv": tree, "provider.toml": [PROVIDER]}
    contents["half.csv"] = [line for place, line in enumerate(sold) if place % 3 < 2]
    contents["second.toml"] = [PROVIDER.replace("sp.csv", "half.csv").replace("total = 2.0", "total = 1.2")]
    contents["client.toml"] = ['data = "client.csv"', 'fds = ["H -> B", "B -> D"]', "[hierarchies]", 'B = "tree.csv"']
    for name, lines in contents.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    return KILLS if request.config.getoption("--faults") is None else KILLS_OF_FAULTS


def ends_of(files: Path, tmp_path: Path, strategy: str, kills: int) -> list[dict[str, Any]]:
    """How runs ended that were killed again and again, all alike; the first of them was never killed."""
    runs = [
        subprocess.Popen(
            [sys.executable, SCRIPT, files, tmp_path / f"run-{seed}", str(seed), str(kills), strategy],
            stdout=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(tmp_path)},  # who is killed cannot tidy up
        )
        for seed in SEEDS
    ]
    printed = [run.communicate(timeout=300)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * len(SEEDS)
    ends: list[dict[str, Any]] = [json.loads(line) for lines in printed for line in lines.splitlines()]
    moments = [moment for end in ends for moment in end.pop("moments")]
    assert len(moments) >= 2 * kills - 2
    steps = {moment.removeprefix("before ").removeprefix("after ") for moment in moments}
    assert {"pay", "settled", "append", "inside a line", "_patched"} <= steps
    assert all(end == ends[0] for end in ends)
    assert ends[0]["entries"] == len(ends[0]["document"]["purchases"])
    return ends


@pytest.mark.faults
def test_kills_lose_nothing_and_pay_nothing_twice(files: Path, tmp_path: Path, kills: int) -> None:
    ends = ends_of(files, tmp_path, "paper", kills)
    assert {purchase["level"] for purchase in ends[0]["document"]["purchases"]} == {0, 1}
    assert {left["reason"] for left in ends[0]["document"]["unrepaired"]} == {"no_match", "too_expensive"}


@pytest.mark.faults
def test_nor_does_a_client_that_weighs(files: Path, tmp_path: Path, kills: int) -> None:
    """What it buys next follows from quotes, and these change with each purchase: they are in the journal."""
    ends = ends_of(files, tmp_path, "weigh", kills)
    assert len(ends[0]["document"]["purchases"]) >= 3


@pytest.mark.faults
@pytest.mark.parametrize("strategy", ["panel", "panel that weighs"])
def test_nor_does_one_that_buys_of_two(files: Path, tmp_path: Path, strategy: str, kills: int) -> None:
    """Each has a ledger of its own; the journal is one, and resumed runs ask nobody twice."""
    ends = ends_of(files, tmp_path, strategy, kills)
    document = ends[0]["document"]
    assert {purchase["provider"] for purchase in document["purchases"]} == {"provider", "second"}
    assert sum(spent for _, _, spent in ends[0]["totals"]) == round(document["spent"] * 10**9)
