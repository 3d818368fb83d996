"""`pacas audit`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape
from rich.console import Console

from pacas import example
from pacas.cli.demo.files import PROVIDER
from pacas.protocol.messages import Request
from pacas.provider.ledger.entry import Purchase
from pacas.storage.sqlite.ledger import SqliteLedger

AUDIT = ("audit", "provider.toml")
BUY = ("buy", "provider.toml", "--requests", "requests.jsonl")
PAPER = 'quotes = "paper": free quotes and refusals follow from the values, and tell of them; pacas leak measures it'
SEED = "the seed is given, and whoever guesses it knows the support set; leave it out, and it is a random secret"


def tamper(folder: Path, *statements: str) -> list[str]:
    """Write past the ledger; return all that is in it then."""
    with closing(sqlite3.connect(folder / "provider.ledger.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        return list(connection.iterdump())


def edit(folder: Path, old: str, new: str) -> None:
    text = (folder / "provider.toml").read_text()
    assert old in text
    (folder / "provider.toml").write_text(text.replace(old, new))


def test_the_json_has_the_promised_keys(pacas: Any) -> None:
    pacas(*BUY, "--as", "ann")
    pacas(*BUY, "--as", "bob")
    result = pacas(*AUDIT, "--json")
    assert result.code == 0
    document = result.document
    ledger, leak, findings = (document.pop(key) for key in ("ledger", "leak", "findings"))
    assert document == {
        "holds": True,
        "rows": 6,
        "neighbours": 60,
        "total": 6.0,
        "policies": [
            {
                "x": ["GEN", "AGE", "ZIP"],
                "y": ["MED"],
                "levels": {"MED": 0},
                "k": 3,
                "criterion": {"name": "distinct", "k": 3},
                "asks": "(GEN, AGE, ZIP) linked to at least 3 of MED at level 0",
                "allow_linkage": False,
                "groups": 6,
                "unlinked_rows": 0,
                "margins": [
                    {"margin": 0, "groups": 1},
                    {"margin": 2, "groups": 1},
                    {"margin": 3, "groups": 4},
                ],
                "holds": True,
            }
        ],
        "sales": [
            {"buyer": buyer, "attribute": "MED", "level": level, "purchases": 1, "spent": spent}
            for buyer in ("ann", "bob")
            for level, spent in ((1, 0.7), (2, 0.4))
        ],
        "buyers": [
            {
                "buyer": buyer,
                "purchases": 2,
                "spent": 1.1,
                "due": 1.1,
                "surviving": 49,
                "listed": 1.1,
                "paid_as_due": True,
                "terms": None,
            }
            for buyer in ("ann", "bob")
        ],
        "accounts": [],
        "warnings": [PAPER, SEED],
    }
    assert leak == {
        "attribute": "MED",
        "level": 1,
        "leak": 0.666667,
        "interval": [-0.301231, 1.0],
        "public_guess": 0.333333,
        "ladders": 2,
        "why": None,
    }
    assert [(one["rule"], one["severity"], one["people"]) for one in findings] == [
        ("free-quotes-tell", "warning", 6),
        ("rare-groups", "warning", 6),
        ("small-families", "warning", 2),
    ]
    assert len(ledger.pop("head")) == 64
    assert ledger == {"verified": True, "entries": 5, "problem": None, "first_bad_entry": None}


def test_for_people_it_draws_the_margins_and_lists_the_sales(pacas: Any) -> None:
    pacas(*BUY, "--as", "ann")
    lines = pacas(*AUDIT).lines
    assert lines[:10] == [
        f"warning: {PAPER}",
        f"warning: {SEED}",
        "warning: free quotes tell the MED of 66.7% more of the people than public columns do (95 %: -30.1% to "
        "+100.0%); see pacas leak",
        "6 rows, 60 neighbours, 6 credits in all",
        "",
        "policy 1: (GEN, AGE, ZIP) linked to at least 3 of MED at level 0: holds",
        "6 groups, by how many values they show beyond the 3 they need:",
        "    0  ██████████ 1",
        "    2  ██████████ 1",
        "    3  ████████████████████████████████████████ 4",
    ]
    assert "ann    MED            1          1    0.7" in lines
    assert "ann            2    1.1  1.1               49" in lines
    assert "ledger: verified, 3 entries" in lines


def test_before_the_first_sale_there_is_little_to_say(pacas: Any) -> None:
    result = pacas(*AUDIT)
    assert result.code == 0
    assert "nothing has been sold" in result.lines
    assert "ledger: verified, 1 entry" in result.lines


WARNINGS = {
    "per buyer": ("[relation]", 'history = "per_buyer"\n[relation]', "buyers who pool what they bought may learn more"),
    "linkage": (
        'x = ["GEN", "AGE", "ZIP"]',
        'x = ["GEN", "ZIP"]\nallow_linkage = true',
        "policy 1 allows linkage: MED is found by AGE, outside X",
    ),
}


@pytest.mark.parametrize("warning", ["per buyer", "linkage"])
def test_what_its_owner_has_allowed_is_a_warning(pacas: Any, folder: Path, warning: str) -> None:
    old, new, said = WARNINGS[warning]
    edit(folder, old, new)
    result = pacas(*AUDIT, "--json")
    assert result.code == 0
    paper, seed, found = result.document["warnings"]
    assert (paper, seed) == (PAPER, SEED)
    assert said in found
    assert pacas(*AUDIT).lines[2] == f"warning: {found}"


def test_a_provider_without_policies_is_a_warning(pacas: Any, folder: Path) -> None:
    head, _, rest = (folder / "provider.toml").read_text().partition("[[policy]]")
    (folder / "provider.toml").write_text(head + rest[rest.index("[pricing]") :])
    result = pacas(*AUDIT, "--json")
    assert result.code == 0
    assert result.document["policies"] == []
    assert result.document["warnings"] == [PAPER, SEED, "there is no policy: everything is safe to sell"]


def test_warnings_are_red_on_a_terminal(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(folder, *WARNINGS["per buyer"][:2])
    terminal = Console(force_terminal=True, color_system="standard")
    monkeypatch.setattr("pacas.cli.provider.audit.out", terminal)
    assert "\x1b[1;31mwarning:" in pacas(*AUDIT).out


# ---- a ledger that is not what was written --------------------------------------------------------------------------

BROKEN = {
    "altered": ("UPDATE entry SET price = 1 WHERE sequence = 1", 1, "entry 1 is altered or moved"),
    "missing": ("DELETE FROM entry WHERE sequence = 1", 1, "entry 1 is missing"),
    "cut": ("DELETE FROM entry WHERE sequence = 2", 2, "entry 2 is missing: the head record counts 3 entries"),
    "opening altered": ("UPDATE entry SET details = '{}' WHERE sequence = 0", 0, "entry 0 is altered or moved"),
}


@pytest.mark.parametrize(("statement", "entry", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_ledger_is_named_by_its_entry_and_left_as_it_is(
    pacas: Any, folder: Path, statement: str, entry: int, said: str
) -> None:
    pacas(*BUY, "--as", "ann")
    left = tamper(folder, statement)
    result = pacas(*AUDIT, "--json")
    assert result.code == 1
    assert not result.document["holds"]
    ledger = result.document["ledger"]
    assert (ledger["verified"], ledger["problem"], ledger["first_bad_entry"]) == (False, said, entry)
    result = pacas(*AUDIT)
    assert result.code == 1
    assert f"ledger: does not hold: {said}" in result.lines
    assert f"entry {entry}" in pacas(*BUY).complaint
    assert tamper(folder) == left


def test_a_head_that_was_noted_shows_a_history_that_was_rewritten(pacas: Any, folder: Path) -> None:
    pacas(*BUY, "--as", "ann")
    ledger = pacas(*AUDIT, "--json").document["ledger"]
    noted = f"{ledger['entries']}:{ledger['head']}"
    assert pacas(*AUDIT, "--head", noted).code == 0
    (folder / "provider.ledger.db").unlink()
    pacas(*BUY, "--as", "bob")
    result = pacas(*AUDIT, "--head", noted, "--json")
    assert result.code == 1
    assert "is not the one whose hash was noted" in result.document["ledger"]["problem"]
    (folder / "provider.ledger.db").unlink()
    assert pacas(*AUDIT).code == 0
    result = pacas(*AUDIT, "--head", noted, "--json")
    assert result.code == 1
    assert "the head that was noted counts 3 entries" in result.document["ledger"]["problem"]


def test_a_noted_head_and_no_ledger_at_all(pacas: Any) -> None:
    result = pacas(*AUDIT, "--head", "3:" + "0" * 64, "--json")
    assert result.code == 1
    assert not result.document["ledger"]["verified"]


@pytest.mark.parametrize("head", ["", "3", "3:", "3:ab", ":" + "0" * 64, "x:" + "0" * 64])
def test_a_head_that_is_none(pacas: Any, head: str) -> None:
    assert pacas(*AUDIT, f"--head={head}").complaint == "--head takes ENTRIES:HASH, as pacas audit prints it"


def test_a_payment_that_is_not_what_was_due_does_not_hold(pacas: Any, folder: Path) -> None:
    """Somebody has sold for less than the price, and recorded it as it should be."""
    pacas(*BUY, "--as", "ann")
    request = Request({"GEN": "male", "AGE": "51"}, "MED", 1)
    with closing(SqliteLedger(folder / "provider.ledger.db")) as ledger:
        ledger.append(Purchase("eve", "a key", request, 1, "NSAID", (0,)))
    result = pacas(*AUDIT, "--json")
    assert result.document["ledger"]["verified"]
    assert result.code == 1
    assert not result.document["holds"]
    assert pacas(*AUDIT).code == 1


def test_a_report_is_a_page_that_says_what_the_terminal_says(pacas: Any, folder: Path) -> None:
    pacas(*BUY)
    told = pacas(*AUDIT, "--report", "audit.html", "--json")
    assert told.code == 0
    page = (folder / "audit.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "Content-Security-Policy" in page and "<script" not in page
    for section in ("Warnings", "Policy 1", "Sales", "Buyers", "To mend", "Ledger"):
        assert f">{section}</h2>" in page
    ledger = told.document["ledger"]
    for said in ("All that was checked holds.", f"{ledger['entries']}:{ledger['head']}", '<th scope="row">local</th>'):
        assert said in page
    for warning in told.document["warnings"]:
        assert escape(warning) in page
    assert not any(value in page for value in ("ibuprofen", "naproxen", "dolex", "NSAID", "migraine", "P0T2T0"))
    assert pacas(*AUDIT, "--report", "audit.html").lines[-1] == "audit.html written; open it in a browser."


def test_a_report_on_a_broken_ledger_says_so(pacas: Any, folder: Path) -> None:
    pacas(*BUY)
    tamper(folder, "UPDATE entry SET price = price + 1 WHERE sequence = 1")
    assert pacas(*AUDIT, "--report", "audit.html").code == 1
    page = (folder / "audit.html").read_text("utf-8")
    assert "Not all that was checked holds." in page and "It does not hold: entry 1" in page


def test_a_report_that_is_no_page_is_bad_input(pacas: Any) -> None:
    assert "sp.csv: a report is a page of HTML" in pacas(*AUDIT, "--report", "sp.csv").complaint


def test_changed_files_are_bad_input(pacas: Any, folder: Path) -> None:
    pacas(*BUY)
    edit(folder, "k = 3", "k = 2")
    assert pacas(*AUDIT).complaint == (
        "changed since the ledger was opened: policies ([[policy]] in provider.toml); values were sold by it: restore "
        "it, or name another ledger in [ledger] url of provider.toml"
    )


# ---- sealed quotes -------------------------------------------------------------------------------------------------

MEMBERS = 'members = { registry = "people.csv" }\n'
PEOPLE = "GEN,AGE\n" + "".join(f"{gender},{age}\n" for gender in ("male", "female") for age in (32, 45, 51, 61, 67, 79))


@pytest.mark.parametrize(
    ("scope", "more", "kept", "told"),
    [
        (
            "group",
            "",
            (6, 2, [3], None),
            ["2 of 6 rows are kept back", "of these nobody is sold MED below level 3"],
        ),
        (
            "group",
            'reserve = "last"\n',
            (6, 2, [3], 3),
            ["2 of 6 rows are kept back, those left last in each group; 3 are open"],
        ),
        ("row", "", (6, 6, [3], None), ["6 of 6 rows are kept back", "of these nobody is sold MED below level 3"]),
        (
            "group",
            MEMBERS,
            (12, 2, [], None),
            ["2 of 12 rows are kept back", "of these nobody is sold MED at any level"],
        ),
    ],
)
def test_with_sealed_quotes_it_says_what_is_kept_back_and_below_which_levels(
    pacas: Any, folder: Path, scope: str, more: str, kept: tuple[int, int, list[int], int | None], told: list[str]
) -> None:
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "provider.toml").write_text(PROVIDER.replace("k = 3", f'k = 3\nscope = "{scope}"') + more)
    assert pacas(*BUY, "--as", "ann").code == 0
    result = pacas(*AUDIT, "--json")
    assert result.code == 0
    document = result.document
    (policy,) = document["policies"]
    rows, kept_back, levels, open_rows = kept
    assert (document["rows"], document["reserve"]) == (rows, "last" if "last" in more else "fixed")
    assert (policy["keep"], policy["scope"]) == (1, scope)
    assert (policy["kept_back"], policy["open_rows"]) == (kept_back, open_rows)
    assert policy["safe_levels"] == {"MED": levels}
    lines = pacas(*AUDIT).lines
    assert f"{rows} rows, sealed quotes, 5.4 credits in all" in lines
    assert lines[lines.index(told[0]) :][: len(told)] == told
    assert not any("neighbour" in line for line in lines)


def test_with_sealed_quotes_of_what_no_policy_protects_nothing_is_kept_back(pacas: Any, folder: Path) -> None:
    (folder / "provider.toml").write_text(PROVIDER.replace('y = ["MED"]\nlevels = { MED = 0 }', 'y = ["DIAG"]\n'))
    diagnoses = sorted(set(example.provider.table["DIAG"].to_pylist()))
    (folder / "diag.csv").write_text("".join(f"{diagnosis},*\n" for diagnosis in diagnoses))
    edit(folder, 'AGE = "age.csv"', 'AGE = "age.csv"\nDIAG = "diag.csv"')
    (policy,) = pacas(*AUDIT, "--json").document["policies"]
    assert (policy["kept_back"], policy["safe_levels"]) == (0, {})
    assert "0 of 6 rows are kept back" in pacas(*AUDIT).lines


def test_an_audit_makes_no_ledger_and_one_that_was_there_is_missed(pacas: Any, folder: Path) -> None:
    assert pacas(*AUDIT).code == 0
    assert not (folder / "provider.ledger.db").exists()
    (folder / "provider.ledger.db.state").write_text(f"3:{'a' * 64}\n")
    for command in (AUDIT, BUY):
        assert "provider.ledger.db is missing, and provider.ledger.db.state" in pacas(*command).complaint
    assert not (folder / "provider.ledger.db").exists()


def test_an_audit_compares_with_the_state_file(pacas: Any, folder: Path) -> None:
    pacas(*BUY)
    (folder / "provider.ledger.db.state").write_text(f"3:{'a' * 64}\n")
    result = pacas(*AUDIT, "--json")
    assert result.code == 1
    assert "is not the one whose hash was noted" in result.document["ledger"]["problem"]
    assert "the ledger has gone back: entry 2 is not the one that was known" in pacas(*BUY).complaint


# ---- accounts --------------------------------------------------------------------------------------------------------


def test_credit_raised_spent_and_lowered_again_is_seen(pacas: Any, folder: Path) -> None:
    """The attack of an insider: more is bought than the account was ever to spend, and afterwards all is as before."""
    pacas("account", "add", "ann", "provider.toml", "--credit", "0.5")
    pacas("account", "add", "zoe", "provider.toml", "--role", "operator")
    pacas(*BUY, "--as", "bob")
    pacas("account", "credit", "ann", "provider.toml", "50")
    pacas(*BUY, "--as", "ann")
    pacas("account", "credit", "ann", "provider.toml", "0.5")
    result = pacas(*AUDIT, "--json", "--report", "audit.html")
    assert result.code == 0, "it is the provider's to allow, and to be asked about"
    ann, zoe = result.document["accounts"]
    assert (ann["account"], ann["follows"], ann["beyond"]) == ("ann", True, 0)
    assert [(one["entry"], one["spent"], one["says"]) for one in ann["changes"]] == [
        (2, 0, "entered: client, credit 0.5"),
        (5, 0, "credit 0.5 → 50"),
        (8, 1.1, "credit 50 → 0.5"),
    ]
    raised = ann["changes"][1]
    assert (raised["before"]["credit"], raised["after"]["credit"]) == (0.5, 50) and raised["time"].startswith("20")
    assert [one["says"] for one in zoe["changes"]] == ["entered: operator, credit no limit"]
    assert any(line.startswith("ann") and line.endswith("1.1  credit 50 → 0.5") for line in pacas(*AUDIT).lines)
    page = (folder / "audit.html").read_text()
    assert "credit 50 → 0.5" in page and "No entry is about an account." not in page
    assert len(result.document["sales"]) == 4 and {one["buyer"] for one in result.document["buyers"]} == {"ann", "bob"}


def test_credit_that_was_raised_behind_the_ledgers_back_fails_the_audit(pacas: Any, folder: Path) -> None:
    pacas("account", "add", "ann", "provider.toml", "--credit", "0.5")
    pacas(*BUY, "--as", "bob")
    tamper(folder, "UPDATE account SET credit = 50000000000")
    result = pacas(*AUDIT, "--json")
    assert result.code == 1 and not result.document["holds"] and result.document["ledger"]["verified"]
    assert [one["follows"] for one in result.document["accounts"]] == [False]
    told = "the account ann: it was changed behind the ledger's back after entry 2"
    assert told in result.document["warnings"]
    assert f"warning: {told}" in pacas(*AUDIT).lines


def test_a_change_of_an_account_is_noted_in_the_state_file(pacas: Any, folder: Path) -> None:
    """So a copy from before the change is noticed when it is put back, as one from before a sale is."""
    pacas("account", "add", "ann", "provider.toml", "--credit", "0.5")
    pacas(*BUY, "--as", "bob")
    state = folder / "provider.ledger.db.state"
    with closing(SqliteLedger(folder / "provider.ledger.db")) as ledger:
        state.write_text("{}:{}\n".format(*ledger.head()))
    copy = pacas("backup", "provider.toml", "copy.db")
    assert copy.code == 0
    pacas("account", "credit", "ann", "provider.toml", "50")
    with closing(SqliteLedger(folder / "provider.ledger.db")) as ledger:
        assert state.read_text() == "{}:{}\n".format(*ledger.head())
    for old in folder.glob("provider.ledger.db*"):
        if old != state:
            old.unlink()
    (folder / "copy.db").rename(folder / "provider.ledger.db")
    assert "has gone back" in pacas("account", "credit", "ann", "provider.toml", "7").complaint
    assert pacas(*AUDIT).code == 1
