"""`pacas clean` with several providers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CLEAN = ("clean", "client.toml", "--budget", "4", "--strategy", "paper", "--output", "out.csv")
BOTH = ("--provider", "A=provider.toml", "--provider", "B=other.toml")


@pytest.fixture
def two(folder: Path) -> Path:
    """Beside the example's provider another one, which sells the same table, with a ledger of its own."""
    text = (folder / "provider.toml").read_text()
    (folder / "other.toml").write_text(text.replace("provider.ledger.db", "other.ledger.db"))
    return folder


def test_both_are_asked_within_one_budget(pacas: Any, two: Path) -> None:
    told = pacas(*CLEAN, *BOTH, "--report", "page.html", "--explain", "0", "MED", "--json").document
    assert [one["name"] for one in told["providers"]] == ["A", "B"]
    assert sum(one["spent"] for one in told["providers"]) == pytest.approx(told["spent"])
    assert told["spent"] == pytest.approx(sum(p["price"] for p in told["purchases"])) and told["spent"] <= 4
    assert {p["provider"] for p in told["purchases"]} == {"A", "B"}
    orders = [json.loads(line) for line in (two / "out.csv.journal").read_text().splitlines() if "ordering" in line]
    assert [order["provider"] for order in orders] == [p["provider"] for p in told["purchases"]]
    assert "By provider" in (two / "page.html").read_text()
    assert (two / "provider.ledger.db").exists() and (two / "other.ledger.db").exists()


def test_it_is_continued_and_says_that_it_was_done(pacas: Any, two: Path) -> None:
    first = pacas(*CLEAN, *BOTH, "--json").document
    again = pacas(*CLEAN, *BOTH, "--resume", "--json").document
    assert {**again, "providers": 0} == {**first, "providers": 0}
    assert "provider, buyer differ" in pacas(*CLEAN, "--provider", "A=provider.toml", "--resume").err


def test_the_client_file_names_them(pacas: Any, two: Path) -> None:
    text = (two / "client.toml").read_text()
    sections = '[providers.A]\nprovider = "provider.toml"\n[providers.B]\nprovider = "other.toml"\n'
    (two / "client.toml").write_text(text + sections)
    lines = pacas(*CLEAN).lines
    assert any(line.startswith("provider ") and "right, as learnt" in line for line in lines)
    assert any(line.split()[:1] == ["A"] for line in lines) and any(line.split()[:1] == ["B"] for line in lines)
    (two / "client.toml").write_text('provider = "provider.toml"\n' + text + sections)
    assert "leave out one of the two" in pacas(*CLEAN).complaint
    (two / "client.toml").write_text(text + "[providers.A]\n")
    assert "providers.A" in pacas(*CLEAN).complaint


def test_one_that_is_away_costs_a_line(pacas: Any, two: Path) -> None:
    found = pacas(*CLEAN, *BOTH, "--provider", "C=http://127.0.0.1:9", "--token", "t", "--json")
    assert found.code == 0 and found.err.count("\n") == 1 and found.err.startswith("pacas: C is left out: ")
    assert [one["name"] for one in json.loads(found.out)["providers"]] == ["A", "B"]


def test_names_and_tokens_are_checked(pacas: Any, two: Path) -> None:
    assert "two providers are called 'provider'" in pacas(*CLEAN, *("--provider", "provider.toml") * 2).complaint
    urls = ("--provider", "http://a.example", "--provider", "http://b.example", "--token", "t")
    assert "connection files" in pacas(*CLEAN, *urls).complaint
    assert "--lineage" in pacas(*CLEAN, *BOTH, "--lineage", "lines.json").complaint
    assert "repair replace" in pacas(*CLEAN, *BOTH, "--repair", "replace").complaint


def test_a_dry_run_pays_nobody(pacas: Any, two: Path) -> None:
    told = pacas("clean", "client.toml", "--budget", "4", "--strategy", "paper", *BOTH, "--dry-run", "--json").document
    assert told["purchases"] and not (two / "out.csv").exists()
