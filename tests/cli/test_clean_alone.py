"""`pacas clean` without a provider, with one that the client's file names, and with columns of other names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running_service import service

from pacas.cli.opened_provider import opened_provider, read_provider

OWN = {"GEN": "sex", "AGE": "years", "MED": "drug"}


def settled(folder: Path) -> None:
    """A table that says itself what is wrong: eight cities of thirty rows each, one of them misspelled once."""
    rows = [f"{zip_},{city}" for zip_, city in enumerate("abcdefgh") for _ in range(30)]
    rows[3] = "0,x"
    (folder / "mine.csv").write_text("\n".join(["zip,city", *rows]) + "\n")
    (folder / "mine.toml").write_text('data = "mine.csv"\nfds = ["zip -> city"]\n')


def other_names(folder: Path) -> None:
    """The client's table under other names, and a file that says which they are."""
    lines = (folder / "client.csv").read_text().splitlines()
    head = ",".join(OWN.get(name, name) for name in lines[0].replace('"', "").split(","))
    (folder / "own.csv").write_text("\n".join([head, *lines[1:]]) + "\n")
    columns = "\n".join(f'{own} = "{theirs}"' for theirs, own in OWN.items())
    (folder / "own.toml").write_text(
        f'data = "own.csv"\nfds = ["sex, DIAG -> drug"]\n[hierarchies]\ndrug = "med.csv"\n[columns]\n{columns}\n'
    )


def test_what_own_evidence_settles_is_repaired_for_nothing(pacas: Any, folder: Path) -> None:
    settled(folder)
    told = pacas("clean", "mine.toml", "--json").document
    assert (told["budget"], told["spent"], told["violations_before"], told["violations_after"]) == (0, 0, 29, 0)
    assert (folder / "mine.clean.csv").read_text().splitlines()[4] == "0,a"


def test_the_summary_says_what_buying_could_add_where_there_is_something(pacas: Any, folder: Path) -> None:
    lines = pacas("clean", "client.toml").lines
    assert not any(line.startswith("spent") for line in lines)
    assert "client.clean.csv written." in lines
    assert lines[-1] == "  pacas clean client.toml --provider PROVIDER --budget CREDITS"
    settled(folder)
    assert pacas("clean", "mine.toml").lines[-1] == "mine.clean.csv written."


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--budget", "2"), "--budget is for buying, and there is no provider"),
        (("--budget", "much"), "--budget must be a number of credits"),
        (("--as", "ann"), "--as is about buying, and there is no provider"),
        (("--receipts", "kept"), "--receipts is about buying"),
        (("--strategy", "paper"), "the paper's strategy repairs with what it buys"),
        (("--repair", "replace"), "the paper's strategy repairs with what it buys"),
        (("--provider", "provider.toml"), "--budget 2, or budget = 2 in client.toml"),
    ],
)
def test_what_needs_a_provider_or_a_budget_says_so(pacas: Any, options: tuple[str, ...], says: str) -> None:
    assert says in pacas("clean", "client.toml", *options).complaint


def test_the_file_may_name_provider_and_budget_and_the_command_line_wins(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (folder / "client.toml").read_text()
    (folder / "client.toml").write_text('provider = "provider.toml"\nbudget = 0.9\n' + text)
    expected = pacas("clean", "client.toml", "--dry-run", "--json").document
    assert expected["budget"] == 0.9 and expected["spent"] > 0
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert pacas("clean", "../client.toml", "--dry-run", "--json").document == expected
    assert pacas("clean", "../client.toml", "--dry-run", "--json", "--budget", "0").document["budget"] == 0
    assert "provider.toml" in pacas("clean", "../client.toml", "--dry-run", "--provider", "provider.toml").complaint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("budget = -1", "'budget': give a number of credits from 0 on"),
        ("budget = nan", "'budget': give a number of credits from 0 on"),
        ('budget = "2"', "'budget': give a number of credits from 0 on"),
        ("provider = 3", "'provider': give its file or its URL"),
        ('columns = ["a"]', "'columns': give a section, [columns]"),
        ('[columns]\nMEDS = "MED"', "columns.MEDS: no such column in client.csv; did you mean 'MED'?"),
        ('[columns]\nMED = "MED"\nGEN = "MED"', "columns: both 'MED' and 'GEN' are said to be the provider's 'MED'"),
        ("[columns]\nMED = true", "'columns': give a section, [columns]"),
        ('[columns]\nbudget = "MED"', "columns.budget: no such column"),
        ("[columns]\nbudget = 2", "'budget' stands at the top of the file, before [columns]"),
        ('[columns]\nMED = "MEDS"', "columns.MED: the provider names no column 'MEDS'; did you mean 'MED'?"),
    ],
)
def test_a_mistake_in_the_new_keys_is_one_line(pacas: Any, folder: Path, text: str, says: str) -> None:
    (folder / "client.toml").write_text(f'data = "client.csv"\nfds = ["GEN, DIAG -> MED"]\n{text}\n')
    assert says in pacas("clean", "client.toml", "--provider", "provider.toml", "--budget", "2").complaint


def test_other_names_are_nobodys_business_without_a_provider(pacas: Any, folder: Path) -> None:
    other_names(folder)
    assert pacas("clean", "own.toml", "--json").document["spent"] == 0


STRATEGIES = ("weigh", "paper")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_columns_of_other_names_are_cleaned_explained_and_reported_alike(
    pacas: Any, folder: Path, strategy: str
) -> None:
    other_names(folder)
    options = ("--provider", "provider.toml", "--budget", "2", "--strategy", strategy, "--json")
    plain = pacas("clean", "client.toml", *options, "--explain", "1", "MED", "--as", "ann").document
    own = pacas("clean", "own.toml", *options, "--explain", "1", "drug", "--as", "bob", "--report", "r.html").document
    bought = [{**one, "attribute": OWN[one["attribute"]]} for one in plain["purchases"]]
    assert own["purchases"] == bought and bought
    assert own["explanation"]["value"] == plain["explanation"]["value"]
    assert (folder / "own.clean.csv").read_text().splitlines()[1:] == (
        folder / "client.clean.csv"
    ).read_text().splitlines()[1:]
    assert "drug" in (folder / "r.html").read_text()


def test_an_interrupted_run_under_other_names_is_continued_and_one_under_others_is_not(
    pacas: Any, folder: Path
) -> None:
    other_names(folder)
    clean = ("clean", "own.toml", "--provider", "provider.toml", "--budget", "2", "--strategy", "paper")
    done = pacas(*clean, "--json").document
    journal = folder / "own.clean.csv.journal"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-2]))
    assert json.loads(journal.read_text().splitlines()[1])["attribute"] == "drug"
    again = pacas(*clean, "--resume", "--json").document
    assert again["purchases"] == done["purchases"]
    text = (folder / "own.toml").read_text()
    (folder / "own.toml").write_text(text.replace('years = "AGE"\n', ""))
    assert "years" not in (folder / "own.toml").read_text()
    assert "by a column 'AGE' that own.csv does not have" in pacas(*clean, "--resume").complaint


def test_over_the_wire_other_names_buy_the_same(pacas: Any, folder: Path) -> None:
    other_names(folder)
    options = ("--budget", "2", "--strategy", "paper", "--json")
    near = pacas("clean", "own.toml", "--provider", "provider.toml", *options).document
    (folder / "provider.ledger.db").unlink()
    with opened_provider(read_provider("provider.toml")) as opened, service(opened, "ann") as (url, token):
        account = ("--token", token, "--receipts", "kept", "--output", "far.csv")
        far = pacas("clean", "own.toml", "--provider", url, *options, *account).document
    assert far["purchases"] == near["purchases"]
    receipt = json.loads(next((folder / "kept").iterdir()).read_text())
    assert (receipt["attribute"], set(receipt["tuple"])) == ("MED", {"GEN", "AGE"})
