"""`pacas backup` and `pacas restore`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from served_process import served_process

pytestmark = pytest.mark.attack

ASKED = {"tuple": {"GEN": "male", "AGE": "51"}, "attribute": "MED", "level": 2}


def buy(pacas: Any, folder: Path) -> None:
    (folder / "one.jsonl").write_text(json.dumps(ASKED) + "\n")
    assert pacas("buy", "provider.toml", "--requests", "one.jsonl").code == 0


def test_a_ledger_is_copied_and_put_back_and_what_is_forgotten_is_said_first(pacas: Any, folder: Path) -> None:
    buy(pacas, folder)
    made = pacas("backup", "provider.toml", "copy.db", "--json").document
    assert made["file"] == "copy.db" and made["entries"] == 2
    buy(pacas, folder)
    refused = pacas("restore", "provider.toml", "copy.db")
    assert refused.code == 1
    assert refused.lines == [
        "would be forgotten: 1 entry: 1 purchase of 1 buyer, 0 credits",
        "nothing was done; give --forget to go back nevertheless",
    ]
    done = pacas("restore", "provider.toml", "copy.db", "--forget", "--json").document
    moved = done.pop("moved_to")
    lost = {"entries": 1, "purchases": 1, "buyers": 1, "spent": 0.0}
    assert done == {"restored": True, "forgotten": lost, "stopped": 0}
    assert Path(moved).exists()
    assert pacas("audit", "provider.toml", "--json").document["ledger"]["entries"] == 2
    again = pacas("restore", "provider.toml", "copy.db")
    assert again.code == 0 and again.lines[0].startswith("restored; the ledger that was there is ")


def test_the_drill_of_going_back_while_it_is_served_ends_with_a_service(pacas: Any, folder: Path) -> None:
    """Who is fenced ends after the restore, and leaves a state file by which the next start goes on."""
    buy(pacas, folder)
    assert pacas("backup", "provider.toml", "copy.db").code == 0
    with served_process(folder):
        buy(pacas, folder)
        done = pacas("restore", "provider.toml", "copy.db", "--forget", "--json").document
        assert done["stopped"] == 1
    with served_process(folder) as server:
        assert server.call("GET", "/v1/ready").status_code == 200


def test_there_must_be_something_to_copy_and_to_put_back(pacas: Any) -> None:
    assert "there is no ledger" in pacas("backup", "provider.toml", "copy.db").complaint
    assert "give a file that pacas backup has made" in pacas("restore", "provider.toml", "copy.db").complaint
