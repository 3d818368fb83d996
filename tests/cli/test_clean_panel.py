"""`pacas clean` with several providers."""

from __future__ import annotations

import csv
import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from running_service import served, with_account

from pacas.cli.opened_provider import opened_provider, read_provider
from pacas.provider.ledger.accounts import MemoryAccounts
from pacas.server.app import create_app
from pacas.server.limits import ServiceSettings
from pacas.server.signing_key import SigningKey
from pacas.wire.connection_file import ConnectionFile

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


def test_receipts_are_kept_by_provider_and_hold_by_its_key_alone(pacas: Any, two: Path) -> None:
    """Two services with keys of their own: a folder for each, and changes.csv says which receipt is whose."""
    with ExitStack() as stack:
        for name, file in (("A", "provider.toml"), ("B", "other.toml")):
            provider = stack.enter_context(opened_provider(read_provider(str(two / file))))
            accounts, key = MemoryAccounts(), SigningKey.generate()
            token = with_account(accounts, "ann")
            url = stack.enter_context(served(create_app(provider, accounts, ServiceSettings(), key)))
            ConnectionFile(url, "ann", token, key.public_key).write(two / f"{name}.pacas")
            (two / f"{name}.pem").write_text(key.public_key)
        panel = ("--provider", "A=A.pacas", "--provider", "B=B.pacas", "--receipts", "receipts")
        found = pacas(*CLEAN, *panel, "--changes", "changes.csv", "--json")
    assert found.code == 0, found.err
    told = json.loads(found.out)
    bought = Counter(one["provider"] for one in told["purchases"])
    assert set(bought) == {"A", "B"}
    for name, other in (("A", "B"), ("B", "A")):
        kept = list((two / "receipts" / name).glob("receipt-*.json"))
        assert len(kept) == bought[name]
        prices = [json.loads(path.read_text())["price"] for path in kept]
        spent = next(one["spent"] for one in told["providers"] if one["name"] == name)
        assert sum(prices) / 10**9 == pytest.approx(spent)
        assert pacas("verify", f"receipts/{name}", "--key", f"{name}.pem").code == 0
        assert pacas("verify", f"receipts/{name}", "--key", f"{other}.pem").code == 1
    with (two / "changes.csv").open(newline="") as changes:
        named = [receipt for line in csv.DictReader(changes) for receipt in line["receipt"].split()]
    assert named and all((two / "receipts" / receipt).exists() for receipt in named)
