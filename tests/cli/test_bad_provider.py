"""A provider that must not start, a request that must not be answered: exit code 2, one line, and no value in it.

Every value of the provider's relation and hierarchy is recognisable; only the answers that are bought may show one.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

MARK = "SECRET"
ROWS = [("f", "old", "a1"), ("f", "old", "a2"), ("m", "old", "b1"), ("m", "young", "b2"), ("f", "young", "a1")]
TREE = [("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"), ("b3", "b")]
FILE = """\
{top}
[relation]
data = "d.csv"
[hierarchies]
MED = "tree.csv"
[match]
MED = "{match}"
[[policy]]
x = {x}
y = ["MED"]
levels = {{ MED = {level} }}
k = {k}
{policy}
[pricing]
quotes = "{quotes}"
{pricing}
"""
DEFAULTS = {
    "top": "",
    "match": "SEX = GEN, AGE = AGE",
    "x": '["GEN", "AGE"]',
    "level": 0,
    "k": 2,
    "policy": "",
    "quotes": "paper",
    "pricing": "total = 1.0",
}
REQUEST = {"tuple": {"SEX": f"{MARK}-m", "AGE": f"{MARK}-young"}, "attribute": "MED", "level": 1}
COMMANDS = (("quote", "p.toml", "--requests", "r.jsonl"), ("buy", "p.toml", "--requests", "r.jsonl"))
AUDIT = ("audit", "p.toml")


def table(rows: Sequence[tuple[str, ...]]) -> str:
    return "GEN,AGE,MED\n" + "".join(",".join(f"{MARK}-{v}" if v else "" for v in row) + "\n" for row in rows)


@pytest.fixture
def world(folder: Path) -> Any:
    """Write the provider's files, some of them otherwise than they should be."""

    def write(rows: Sequence[tuple[str, ...]] = ROWS, request: Any = REQUEST, **changes: Any) -> None:
        (folder / "d.csv").write_text(table(rows))
        (folder / "tree.csv").write_text("".join(f"{MARK}-{v};{MARK}-{p};*\n" for v, p in TREE))
        (folder / "p.toml").write_text(FILE.format(**{**DEFAULTS, **changes}))
        (folder / "r.jsonl").write_text(json.dumps(request) + "\n")

    write()
    return write


def complaints(pacas: Any, *commands: tuple[str, ...]) -> Iterator[str]:
    """What each command complains of; no value of the provider's is in it."""
    for command in commands or (*COMMANDS, AUDIT):
        for more in ((), ("--json",)):
            said = pacas(*command, *more).complaint
            assert MARK not in said
            yield said


def test_the_world_is_fine_as_it_is(pacas: Any, world: Any) -> None:
    quoted = pacas(*COMMANDS[0], "--json")
    assert MARK not in quoted.out
    assert quoted.document["quotes"][0]["price"] > 0
    (bought,) = pacas(*COMMANDS[1], "--json").document["purchases"]
    assert bought.pop("answer") == f"{MARK}-b"
    audited = pacas(*AUDIT)
    assert audited.code == 0
    assert MARK not in audited.out


BAD_PROVIDERS: dict[str, tuple[dict[str, Any], str]] = {
    "D1, unknown": ({"rows": [*ROWS, ("m", "old", "zz")]}, "'MED' has 1 unknown"),
    "D1, general": ({"rows": [*ROWS, ("m", "old", "a"), ("f", "old", "b")]}, "'MED' has 2 general"),
    "D1, null": ({"rows": [*ROWS, ("m", "old", "")]}, "'MED' has 1 null"),
    "D3": ({"level": 1, "k": 3}, "policy 1 asks for k = 3, which can never hold: level 1 of 'MED' has 2 values"),
    "D3, at the root": ({"level": 2}, "level 2 of 'MED' has 1 value"),
    "D5": ({"x": '["GEN"]'}, "'MED' is matched by 'AGE', outside X of policy 1"),
    "an MD naming no column": ({"match": "SEX = GENDER"}, "the match of 'MED': no column 'GENDER' in d.csv"),
    "an MD that is none": ({"match": "SEX is GEN"}, "match.MED: "),
    "X naming no column": ({"x": '["GEN", "AGES"]'}, "policy 1: no column 'AGES' in d.csv; did you mean 'AGE'?"),
    "a level above the hierarchy": ({"level": 3}, "no level 3 in the hierarchy of 'MED' (policy 1)"),
    "too small a total": ({"pricing": "total = 0.000001"}, "is too small"),
    "a negative total": ({"pricing": "total = -1"}, "pricing: the total must be from 0"),
    "points that clash": (
        {
            "pricing": 'total = 1\n[[pricing.points]]\nname = "all"\nselect = "GEN, AGE, MED"\nprice = 0.1\n'
            '[[pricing.points]]\nname = "less"\nselect = "GEN, AGE, MED:1"\nprice = 0.9\n'
        },
        "'all'",
    ),
    "a point of no column": (
        {"pricing": '[[pricing.points]]\nselect = "MEDS"\nprice = 1\n'},
        "pricing.points 1: no column 'MEDS'",
    ),
    "a point above the hierarchy": (
        {"pricing": '[[pricing.points]]\nselect = "MED:3"\nprice = 1\n'},
        "pricing.points 1: no level 3",
    ),
    "a sensitivity of no column": ({"pricing": "sensitivity = { MEDS = 3 }"}, "pricing.sensitivity.MEDS: neither sold"),
    "no support file": ({"pricing": 'support = { file = "none.jsonl" }'}, "pricing.support.file: "),
}


BOTH_WAYS = [
    pytest.param(quotes, *bad, id=f"{quotes}: {name}")
    for name, bad in BAD_PROVIDERS.items()
    for quotes in (["paper"] if "pricing" in bad[0] else ["paper", "sealed"])
]


@pytest.mark.parametrize(("quotes", "changes", "said"), BOTH_WAYS)
def test_a_provider_that_must_not_start(
    pacas: Any, world: Any, folder: Path, quotes: str, changes: dict[str, Any], said: str
) -> None:
    world(quotes=quotes, **changes)
    for complaint in complaints(pacas):
        assert said in complaint
    assert not list(folder.glob("*.ledger.db*")), "a provider that does not start leaves no ledger behind"


def test_a_provider_that_sells_nothing(pacas: Any, world: Any, folder: Path) -> None:
    (folder / "p.toml").write_text('[relation]\ndata = "d.csv"\n')
    for complaint in complaints(pacas):
        assert complaint.startswith("match: nothing is for sale")


@pytest.mark.parametrize("changes", [changes for changes, _ in BAD_PROVIDERS.values()], ids=BAD_PROVIDERS)
def test_it_writes_nothing_to_a_ledger_that_is_there(
    pacas: Any, world: Any, folder: Path, changes: dict[str, Any]
) -> None:
    pacas(*COMMANDS[1])
    before = dump(folder)
    world(**changes)
    for command in (*COMMANDS, AUDIT):
        assert pacas(*command).code == 2
    assert dump(folder) == before


SUPPORT_LINES = {
    "a row that is not there": ({"ops": [{"set": 5, "values": {"MED": f"{MARK}-a1"}}]}, "no row 5; rows are numbered"),
    "a deleted row that is not there": ({"ops": [{"delete": -1}]}, "no row -1"),
    "a column that is not there": ({"ops": [{"set": 0, "values": {"MEDS": f"{MARK}-a1"}}]}, "no column 'MEDS'"),
    "a value that is a list": ({"ops": [{"set": 0, "values": {"MED": [f"{MARK}-a1"]}}]}, "the value of 'MED'"),
}


@pytest.mark.parametrize(("line", "said"), SUPPORT_LINES.values(), ids=SUPPORT_LINES)
def test_a_support_file_that_does_not_fit(
    pacas: Any, world: Any, folder: Path, line: dict[str, Any], said: str
) -> None:
    world(pricing='support = { file = "s.jsonl" }')
    good = {"ops": [{"set": 3, "values": {"MED": f"{MARK}-a1"}}]}
    (folder / "s.jsonl").write_text(json.dumps(good) + "\n" + json.dumps(line) + "\n")
    for complaint in complaints(pacas):
        assert complaint.startswith("pricing.support.file: s.jsonl, line 2: ")
        assert said in complaint


def test_a_support_file_is_taken_as_it_is(pacas: Any, world: Any, folder: Path) -> None:
    lines = [{"ops": [{"set": 3, "values": {"MED": f"{MARK}-{v}"}}], "weight": 0.25} for v in ("a1", "b1", "b3")]
    (folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    world(pricing='support = { file = "s.jsonl" }', k=1)
    assert pacas(*COMMANDS[0], "--json").document == {"quotes": [{"price": 0.25}]}
    assert pacas(*AUDIT, "--json").document["total"] == 0.75
    (folder / "p.ledger.db").unlink()
    world(pricing='total = 1\nsupport = { file = "s.jsonl" }', k=1)
    assert "total is not the sum of the support set's weights" in pacas(*COMMANDS[0]).complaint
    world(pricing='total = 0.75\nsupport = { file = "s.jsonl" }', k=1)
    assert pacas(*COMMANDS[0], "--json").document == {"quotes": [{"price": 0.25}]}


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "the relation": ({"rows": [*ROWS, ("m", "old", "a1")]}, "relation, support set, weights"),
    "a policy": ({"k": 3}, "policies"),
    "the match": ({"match": "SEX = GEN, AGES = AGE"}, "match"),
    "the support set": ({"pricing": "support = { per_cell = 9 }"}, "support set, weights"),
    "the total": ({"pricing": "total = 2"}, "weights"),
    "the seed": ({"pricing": "seed = 1"}, "support set, seed"),
    "the relation, sealed": ({"quotes": "sealed", "rows": [*ROWS, ("m", "old", "a1")]}, "relation"),
    "a private value, sealed": ({"quotes": "sealed", "rows": [*ROWS[:4], ("f", "young", "b3")]}, "relation"),
    "the total, sealed": ({"quotes": "sealed", "pricing": "total = 2"}, "prices"),
    "what is kept back, sealed": ({"quotes": "sealed", "policy": "keep = 2"}, "reserve"),
}


@pytest.mark.parametrize(("changes", "parts"), CHANGES.values(), ids=CHANGES)
def test_changed_files_under_an_old_ledger(
    pacas: Any, world: Any, folder: Path, changes: dict[str, Any], parts: str
) -> None:
    world(quotes=changes.get("quotes", "paper"))
    pacas(*COMMANDS[1])
    before = dump(folder)
    world(request={**REQUEST, "tuple": {**REQUEST["tuple"], "AGES": "x"}}, **changes)  # type: ignore[dict-item]
    for complaint in complaints(pacas):
        said = re.fullmatch(r"changed since the ledger was opened: (.*); values were sold by it: (.*)", complaint)
        assert said is not None
        assert re.sub(r" \([^)]*p\.toml\)", "", said[1]) == parts, "each with its key in the file"
        counting = ", and this one in [ledger] sold_before" if "quotes" in changes else ""
        assert said[2] == f"restore it, or name another ledger in [ledger] url of p.toml{counting}"
    assert dump(folder) == before


@pytest.mark.parametrize(("changes", "parts"), CHANGES.values(), ids=CHANGES)
def test_until_the_first_sale_files_may_change(
    pacas: Any, world: Any, folder: Path, changes: dict[str, Any], parts: str
) -> None:
    request = {"tuple": {"SEX": f"{MARK}-m", "AGE": f"{MARK}-young", "AGES": f"{MARK}-young"}, "attribute": "MED"}
    world(request=request, quotes=changes.get("quotes", "paper"))
    assert pacas(*COMMANDS[0]).err == ""
    world(request=request, **changes)
    told = pacas(*COMMANDS[0], "--json")
    assert told.err == f"pacas: {parts} changed, and nothing had been sold: the ledger begins anew\n"
    assert pacas(*COMMANDS[0], "--json").document == json.loads(told.out), "it has begun anew for good"
    assert pacas(*AUDIT, "--json").document["ledger"]["entries"] == 1


def test_a_hierarchy_that_changed_is_named(pacas: Any, world: Any, folder: Path) -> None:
    pacas(*COMMANDS[1])
    with (folder / "tree.csv").open("a") as tree:
        tree.write(f"{MARK}-b4;{MARK}-b;*\n")
    for complaint in complaints(pacas):
        named = "changed since the ledger was opened: hierarchy of MED (tree.csv, hierarchies.MED in p.toml);"
        assert complaint.startswith(named)


BAD_REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "a level above the hierarchy": ({"level": 3}, "line 1: no level 3 in the hierarchy of 'MED'"),
    "an attribute that is not sold": ({"attribute": "AGE"}, "line 1: 'AGE' is not for sale"),
    "a tuple lacking match columns": ({"tuple": {"SEX": f"{MARK}-m"}}, "line 1: the tuple lacks 'AGE'"),
    "a tuple with the provider's names": ({"tuple": {"GEN": "x", "AGE": "y"}}, "line 1: the tuple lacks 'SEX'"),
}


@pytest.mark.parametrize(("changes", "said"), BAD_REQUESTS.values(), ids=BAD_REQUESTS)
def test_a_request_that_must_not_be_answered(pacas: Any, world: Any, changes: dict[str, Any], said: str) -> None:
    world(request={**REQUEST, **changes})
    for complaint in complaints(pacas, *COMMANDS):
        assert said in complaint


# ---- ledgers -----------------------------------------------------------------------------------------------------


def dump(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "p.ledger.db")) as connection:
        return list(connection.iterdump())


def test_a_truncated_ledger_is_bad_input_and_stays_as_it_is(pacas: Any, world: Any, folder: Path) -> None:
    pacas(*COMMANDS[1])
    file = folder / "p.ledger.db"
    whole = file.read_bytes()
    for kept in (0, 100, 5000, len(whole) - 3000):
        file.write_bytes(whole[:kept])
        for complaint in complaints(pacas):
            assert complaint.startswith("the ledger p.ledger.db is ")
        assert file.read_bytes() == whole[:kept]


def test_a_file_that_is_no_ledger_is_bad_input_and_stays_as_it_is(pacas: Any, world: Any, folder: Path) -> None:
    for content in (b"mine" * 1000, b""):
        (folder / "p.ledger.db").write_bytes(content)
        for complaint in complaints(pacas):
            assert complaint.startswith("the ledger p.ledger.db is ")
        assert (folder / "p.ledger.db").read_bytes() == content


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlit:///x.db", "did you mean 'sqlite'?"),
        ("x.db", "ledger.url: no such kind of ledger"),
        ("sqlite:///", "ledger.url: a SQLite ledger is written sqlite:///file.db"),
        ("sqlite:///none/x.db", "the ledger x.db cannot be made in its folder"),
        ("memory:x", "ledger.url: a ledger in memory is written memory:"),
    ],
)
def test_a_ledger_that_cannot_be_kept(pacas: Any, world: Any, folder: Path, url: str, said: str) -> None:
    world(pricing=f'[ledger]\nurl = "{url}"')
    for complaint in complaints(pacas):
        assert said in complaint
    assert not list(folder.glob("*.db"))


def test_a_ledger_may_be_elsewhere_or_in_memory(pacas: Any, world: Any, folder: Path) -> None:
    (folder / "books").mkdir()
    world(pricing='[ledger]\nurl = "sqlite:///books/x.db"')
    assert pacas(*COMMANDS[1]).code == pacas(*AUDIT).code == 0
    assert (folder / "books" / "x.db").is_file()
    world(pricing='[ledger]\nurl = "memory:"')
    assert pacas(*COMMANDS[1], "--json").document["spent"] == pacas(*COMMANDS[1], "--json").document["spent"] > 0
    assert pacas(*AUDIT, "--json").document["ledger"]["entries"] == 1
    assert not list(folder.glob("*.db"))


def test_an_error_of_ours_shows_no_value(pacas: Any, world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError(f"{MARK}-a1")

    monkeypatch.setattr("pacas.provider.in_memory.stock.check_weights", fail)
    for complaint in complaints(pacas):
        assert complaint.startswith("an error inside PACAS (RuntimeError)")
