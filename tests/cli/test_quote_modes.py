"""A ledger belongs to sealed quotes or to the paper's; those that were kept before sealed quotes go on as they were."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

OLD = Path(__file__).with_name("old_paper_ledger.sql")
PROVIDER = """\
[relation]
data = "sp.csv"
[hierarchies]
MED = "med.csv"
AGE = "age.csv"
[match]
MED = "GEN = GEN, AGE = AGE"
[[policy]]
x = ["GEN", "AGE", "ZIP"]
y = ["MED"]
levels = { MED = 0 }
k = 3
[pricing]
total = 6.0
"""
QUOTE = ("quote", "old.toml", "--requests", "ladders.jsonl", "--as", "ann", "--json")
BUY = ("buy", "old.toml", "--requests", "requests.jsonl", "--as", "ann", "--json")


@pytest.fixture
def old(folder: Path) -> Path:
    """The provider's file, with a ledger in which ann has bought two medications."""
    with closing(sqlite3.connect(folder / "old.ledger.db")) as database:
        database.executescript(OLD.read_text("utf-8"))
    return folder / "old.toml"


@pytest.mark.parametrize("pricing", ['quotes = "paper"', "support = { per_cell = 10 }", "support = {}"])
def test_an_old_ledger_of_a_paper_provider_opens_and_goes_on(pacas: Any, old: Path, pricing: str) -> None:
    old.write_text(PROVIDER + pricing)
    first, second, third, _ = (quoted["levels"] for quoted in pacas(*QUOTE).document["quotes"])
    assert first == [{"refused": "unsafe"}, {"price": 0.0}, {"price": 0.0}, {"price": 0.0}], "it was bought"
    assert second == [{"refused": "unsafe"}, {"price": 0.3}, {"price": 0.0}, {"price": 0.0}]
    assert third[2] == {"price": 0.4}
    audited = pacas("audit", "old.toml", "--json").document
    assert audited["holds"] and audited["ledger"]["entries"] == 3
    assert audited["buyers"][0]["spent"] == audited["buyers"][0]["due"] == 1.1
    assert pacas(*BUY).document["spent"] == 0.0
    assert pacas("audit", "old.toml", "--json").document["ledger"]["entries"] == 5


REFUSED = (
    'the ledger was kept with quotes = "{kept}", not "{now}"; say quotes = "{kept}" to go on with it, or name another '
    "one in [ledger] url, "
)


@pytest.mark.parametrize("pricing", ["", 'quotes = "sealed"', 'reserve = "last"'])
def test_sealed_quotes_do_not_go_on_with_a_ledger_of_the_papers(pacas: Any, old: Path, pricing: str) -> None:
    old.write_text(PROVIDER + pricing)
    before = old.with_name("old.ledger.db").read_bytes()
    for command in (QUOTE, BUY, ("audit", "old.toml")):
        told = REFUSED.format(kept="paper", now="sealed") + "and this one in [ledger] sold_before"
        assert pacas(*command).complaint == told
    assert old.with_name("old.ledger.db").read_bytes() == before
    new = PROVIDER + pricing + '\n[ledger]\nurl = "sqlite:///sealed.db"\n'
    old.write_text(new + 'sold_before = "sqlite:///old.ledger.db"\n')
    assert pacas(*QUOTE).document["quotes"][0]["levels"][1:] == [{"price": 0.0}] * 3, "it was bought"
    old.write_text(new)
    assert "sold before" in pacas(*QUOTE).complaint
    old.write_text(new + 'sold_before = "sqlite:///nothing.db"\n')
    assert pacas(*QUOTE).complaint.startswith("ledger.sold_before: there is no earlier ledger")
    for no_ledger in ("data.csv", "sqlite:///"):
        old.write_text(new + f'sold_before = "{no_ledger}"\n')
        complaint = pacas(*QUOTE).complaint
        assert complaint.startswith("ledger.sold_before: ") and "ledger.url" not in complaint


def test_until_the_first_sale_the_quotes_may_be_others(pacas: Any, folder: Path) -> None:
    (folder / "old.toml").write_text(PROVIDER)
    sealed = pacas(*QUOTE).document
    (folder / "old.toml").write_text(PROVIDER + 'quotes = "paper"')
    told = pacas(*QUOTE)
    assert told.err == "pacas: quotes changed, and nothing had been sold: the ledger begins anew\n"
    assert json.loads(told.out) != sealed
    assert pacas(*QUOTE).document == json.loads(told.out), "it has begun anew for good"


@pytest.mark.parametrize("pricing", ['quotes = "paper"', "seed = 7"])
def test_the_papers_quotes_do_not_go_on_with_a_sealed_ledger(pacas: Any, folder: Path, pricing: str) -> None:
    (folder / "old.toml").write_text(PROVIDER)
    at_root = (folder / "requests.jsonl").read_text().replace('"level": 1', '"level": 3')
    (folder / "requests.jsonl").write_text(at_root)
    assert pacas(*BUY).document["purchases"][0]["answer"] == "*"
    (folder / "old.toml").write_text(PROVIDER + pricing)
    for command in (QUOTE, BUY, ("audit", "old.toml")):
        told = REFUSED.format(kept="sealed", now="paper") + "where what this one sold does not count"
        assert pacas(*command).complaint == told
