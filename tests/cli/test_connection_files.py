"""From `pacas account add --profile` to a cleaning with `--provider buyer.pacas`, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from running_service import KEY, app_of, served

from pacas import open_client
from pacas.cli.opened_provider import opened_provider, read_provider
from pacas.server.signing_key import SigningKey
from pacas.storage.url import open_accounts

ADD = ("account", "add", "ann", "provider.toml")


@pytest.fixture
def url(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The folder's provider, behind HTTP, with the accounts of its ledger; it signs with the tests' key."""
    monkeypatch.delenv("PACAS_TOKEN", raising=False)
    monkeypatch.setattr(SigningKey, "load_or_create", lambda path: KEY)
    with ExitStack() as stack:
        provider = stack.enter_context(opened_provider(read_provider("provider.toml")))
        accounts = stack.enter_context(closing(open_accounts("sqlite:///provider.ledger.db", folder)))
        yield stack.enter_context(served(app_of(provider, accounts)))


def test_one_file_is_all_that_a_buyer_needs(pacas: Any, folder: Path, url: str) -> None:
    added = pacas(*ADD, "--credit", "5", "--expires", "90d", "--profile", "ann.pacas", "--url", url, "--json").document
    assert added.keys() == {"account", "role", "credit", "quotes_per_minute", "expires", "profile"}
    assert (folder / "ann.pacas").stat().st_mode & 0o777 == 0o600
    written = json.loads((folder / "ann.pacas").read_text())
    assert (written["url"], written["account"], written["expires"]) == (url, "ann", added["expires"])
    assert written["public_key"] == KEY.public_key
    listed = pacas("account", "list", "provider.toml", "--json").document["accounts"]
    assert listed[0]["expires"] == added["expires"]
    assert f"until {added['expires'][:10]}" in pacas("account", "list", "provider.toml").out
    for command in (("catalogue", "ann.pacas"), ("quote", "ann.pacas", "--requests", "requests.jsonl")):
        assert pacas(*command).code == 0
    clean = ("clean", "client.toml", "--provider", "ann.pacas", "--budget", "2", "--strategy", "paper")
    assert pacas(*clean, "--receipts", "receipts", "--json").code == 0
    assert len(list((folder / "receipts").iterdir())) == 2
    (folder / "client.toml").write_text('provider = "ann.pacas"\nbudget = 2\n' + (folder / "client.toml").read_text())
    assert open_client("client.toml").clean(strategy="paper").spent_nanocredits == 0  # bought before


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (SigningKey.generate().public_key, "which is known, and no signed history joins them"),
        ("half a key", "not a public Ed25519 key in PEM"),
    ],
    ids=["another", "half"],
)
@pytest.mark.parametrize("command", ["buy", "clean"])
def test_who_has_another_key_is_paid_nothing(
    pacas: Any, folder: Path, url: str, command: str, key: str, said: str
) -> None:
    pacas(*ADD, "--profile", "ann.pacas", "--url", url)
    written = json.loads((folder / "ann.pacas").read_text())
    (folder / "ann.pacas").write_text(json.dumps(written | {"public_key": key}))
    bought = ("buy", "ann.pacas", "--requests", "requests.jsonl")
    cleaned = ("clean", "client.toml", "--provider", "ann.pacas", "--budget", "2", "--strategy", "paper")
    assert said in pacas(*(bought if command == "buy" else cleaned)).complaint
    (listed,) = pacas("account", "list", "provider.toml", "--json").document["accounts"]
    assert (listed["spent"], listed["purchases"]) == (0, 0)


def test_an_expired_token_is_said_here_and_there(
    pacas: Any, folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as past:
        past.setattr("pacas.cli.provider.account.time", lambda: 1_700_000_000)
        pacas(*ADD, "--expires", "1h", "--profile", "ann.pacas", "--url", url)
    assert "ann.pacas: its token expired on 2023-11-14" in pacas("catalogue", "ann.pacas").complaint
    token = json.loads((folder / "ann.pacas").read_text())["token"]
    assert "the token has expired; ask the provider" in pacas("catalogue", url, "--token", token).complaint
    assert "expired 2023-11-14" in pacas("account", "list", "provider.toml").out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--profile", "ann.pacas"), "--profile needs --url"),
        (("--profile", "ann.txt", "--url", "https://x.example"), "end the name in .pacas"),
        (("--profile", "there.pacas", "--url", "https://x.example"), "there.pacas is there already"),
        (("--profile", "ann.pacas", "--url", "shop"), "shop"),
        (("--profile", "no/ann.pacas", "--url", "https://x.example"), "cannot be written"),
        (("--url", "https://x.example"), "--url is for the file of --profile"),
        (
            ("--role", "reconcile", "--credit", "5", "--profile", "ann.pacas", "--url", "https://x.example"),
            "an account of the role reconcile is given its token",
        ),
        (("--expires", "soon"), "--expires takes hours, days or weeks, such as 12h, 90d or 4w, not 'soon'"),
        (("--expires", "0d"), "--expires takes"),
        (("--expires", "d"), "--expires takes"),
        (("--expires", "99999999d"), "--expires takes"),
    ],
)
def test_bad_options_add_no_account(pacas: Any, folder: Path, options: tuple[str, ...], said: str) -> None:
    (folder / "there.pacas").write_text("mine")
    assert said in pacas(*ADD, *options).complaint
    assert pacas("account", "list", "provider.toml", "--json").document == {"accounts": []}
    assert (folder / "there.pacas").read_text() == "mine" and not (folder / "ann.pacas").exists()


def test_a_name_that_is_taken_writes_no_file(pacas: Any, folder: Path) -> None:
    pacas(*ADD)
    told = pacas(*ADD, "--profile", "ann.pacas", "--url", "https://x.example")
    assert "there is an account 'ann' already" in told.complaint
    assert not (folder / "ann.pacas").exists()


def test_a_new_token_comes_in_a_file_of_its_own(pacas: Any, folder: Path, url: str) -> None:
    pacas(*ADD, "--profile", "ann.pacas", "--url", url)
    again = ("account", "token", "ann", "provider.toml", "--expires", "90d", "--profile", "new.pacas", "--url", url)
    told = pacas(*again, "--json").document
    assert told.keys() == {"account", "profile", "previous_until", "expires"}
    assert (folder / "new.pacas").stat().st_mode & 0o777 == 0o600
    assert json.loads((folder / "new.pacas").read_text())["expires"] == told["expires"]
    for file in ("ann.pacas", "new.pacas"):  # both count, until the overlap ends
        assert pacas("catalogue", file).code == 0
    assert "new.pacas is there already" in pacas(*again).complaint
    nobody = ("account", "token", "bob", "provider.toml", "--profile", "bob.pacas", "--url", url)
    assert "bob" in pacas(*nobody).complaint and not (folder / "bob.pacas").exists()
    said = pacas("account", "token", "ann", "provider.toml", "--profile", "third.pacas", "--url", url)
    assert "third.pacas written" in said.out and "token:" not in said.out
