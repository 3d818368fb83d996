"""A command reads each file that describes a party once, checks its terms once, and asks once what it sells."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pacas.provider.provider import Provider
from pacas.provider.terms import Terms

COMMANDS = {
    "clean": ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2", "--output", "out.csv"),
    "dry run": ("clean", "client.toml", "--provider", "provider.toml", "--budget", "2", "--dry-run"),
    "quote": ("quote", "provider.toml", "--requests", "ladders.jsonl"),
    "buy": ("buy", "provider.toml", "--requests", "requests.jsonl"),
    "audit": ("audit", "provider.toml"),
    "query": ("query", "provider.toml", "--select", "GEN:0, MED:1"),
    "serve": ("serve", "provider.toml", "--check"),
    "account": ("account", "list", "provider.toml"),
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file was read as text, the catalogue asked for, and terms checked."""
    counted: Counter[str] = Counter()
    read_text, catalogue, check_names = Path.read_text, Provider.catalogue, Terms.check_names

    def counting_read(path: Path, *given: Any, **named: Any) -> str:
        counted[path.name] += 1
        return read_text(path, *given, **named)

    def counting_catalogue(provider: Provider) -> Any:
        counted["catalogue"] += 1
        return catalogue(provider)

    def counting_terms(terms: Terms, *given: Any) -> None:
        counted["terms"] += 1
        check_names(terms, *given)

    monkeypatch.setattr(Path, "read_text", counting_read)
    monkeypatch.setattr(Terms, "check_names", counting_terms)
    monkeypatch.setattr(Provider, "catalogue", counting_catalogue)
    return counted


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_reads_what_describes_a_party_once(pacas: Any, folder: Path, read: Counter[str], name: str) -> None:
    assert pacas(*COMMANDS[name]).code == 0
    assert read["provider.toml"] == 1
    assert read["client.toml"] == ("client.toml" in COMMANDS[name])
    assert read["terms"] == (name not in ("query", "account"))
    assert read["catalogue"] == (name in ("clean", "dry run", "quote", "buy"))
