"""`pacas account`."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509 import load_pem_x509_certificate
from postgres import POSTGRES

from pacas.provider.ledger.accounts import Account, Role, token_hash
from pacas.storage.url import open_accounts

LEDGER = "sqlite:///provider.ledger.db"


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest, folder: Path) -> str:
    """Where the provider's file says that its ledger is."""
    if request.param == "sqlite":
        return LEDGER
    named: str = request.getfixturevalue("postgres_url")
    set_url(folder, named)
    return named


def set_url(folder: Path, url: str) -> None:
    text = (folder / "provider.toml").read_text()
    assert "[ledger]" not in text
    (folder / "provider.toml").write_text(f'{text}\n[ledger]\nurl = "{url}"\n')


def kept(folder: Path, url: str = LEDGER) -> list[Account]:
    with closing(open_accounts(url, folder)) as accounts:
        return accounts.list()


def test_a_token_is_given_and_only_its_hash_is_kept(pacas: Any, folder: Path, url: str) -> None:
    result = pacas("account", "add", "ann", "provider.toml", "--credit", "10", "--json")
    assert result.code == 0
    document = result.document
    token = document.pop("token")
    assert document == {"account": "ann", "role": "client", "credit": 10, "quotes_per_minute": None}
    assert re.fullmatch(r"[\w-]{43}", token)
    assert kept(folder, url) == [Account("ann", Role.CLIENT, 10 * 10**9, False, token_hash(token))]


def test_what_is_bought_is_listed(pacas: Any, folder: Path, url: str) -> None:
    pacas("account", "add", "ann", "provider.toml", "--credit", "10.5")
    pacas("account", "add", "zoe", "provider.toml", "--role", "operator")
    bought = pacas("buy", "provider.toml", "--requests", "requests.jsonl", "--as", "ann", "--json")
    assert (bought.code, bought.document["spent"]) == (0, 1.1)
    some = {"terms": None, "revoked": False, "quotes_per_minute": None}
    assert pacas("account", "list", "provider.toml", "--json").document == {
        "accounts": [
            {"account": "ann", "role": "client", "credit": 10.5, "spent": 1.1, "purchases": 2, "listed": 1.1} | some,
            {"account": "zoe", "role": "operator", "credit": None, "spent": 0, "purchases": 0, "listed": 0} | some,
        ]
    }


def test_for_people_the_token_is_shown_once_with_a_note(pacas: Any, folder: Path) -> None:
    first, token, note = pacas("account", "add", "ann", "provider.toml", "--credit", "10").lines
    assert first == "ann: a client, may spend 10 credits in all"
    assert token_hash(token.removeprefix("token: ")) == kept(folder)[0].token_hash
    assert note.startswith("It is shown this once")
    pacas("account", "revoke", "ann", "provider.toml")
    pacas("account", "add", "bob", "provider.toml", "--rate", "5000")
    assert pacas("account", "list", "provider.toml").lines == [
        "account  role      credit  spent  purchases  a minute",
        "ann      client        10      0          0            revoked",
        "bob      client  no limit      0          0     5,000",
    ]


def test_a_token_for_openrefine_has_a_credit_and_an_address(pacas: Any, folder: Path) -> None:
    asked = ("account", "add", "refine", "provider.toml", "--role", "reconcile")
    refused = pacas(*asked)
    assert refused.code == 2 and "needs a credit" in refused.err
    first, token, note = pacas(*asked, "--credit", "5").lines
    assert first == "refine: for OpenRefine, may spend 5 credits in all"
    assert token.removeprefix("token: ") in note and "when provider.toml has reconcile = true in [service]" in note
    assert pacas("account", "credit", "refine", "provider.toml", "none").code == 2
    file = folder / "provider.toml"
    file.write_text(file.read_text() + '\n[service]\nreconcile = "https://pacas.example.org"\n')
    pacas("account", "revoke", "refine", "provider.toml")
    token, note = pacas(*asked, "--credit", "5").lines[1:]
    assert note.endswith(f"https://pacas.example.org/reconcile/{token.removeprefix('token: ')}")


def test_a_narrow_terminal_shows_the_token_in_one_piece(
    pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    (token,) = [line for line in pacas("account", "add", "ann", "provider.toml").lines if line.startswith("token: ")]
    assert token_hash(token.removeprefix("token: ")) == kept(folder)[0].token_hash


def test_the_provider_is_not_built(pacas: Any, folder: Path) -> None:
    (folder / "sp.csv").unlink()
    assert pacas("account", "list", "provider.toml").lines == ["no accounts; pacas account add makes one"]
    assert pacas("account", "add", "ann", "provider.toml").code == 0
    assert pacas("account", "list", "provider.toml", "--json").document["accounts"][0]["account"] == "ann"


def test_accounts_that_are_there_before_the_first_sale_stay(pacas: Any, folder: Path) -> None:
    """A provider that cannot start takes away a ledger file that it made for nothing, and no other."""
    pacas("account", "add", "ann", "provider.toml")
    table = (folder / "sp.csv").read_text()
    (folder / "sp.csv").write_text(table + "m7,male,33,P0T2T0,ulcer,aspirin\n")
    assert "'MED' has 1 unknown" in pacas("buy", "provider.toml", "--requests", "requests.jsonl").complaint
    assert [account.name for account in kept(folder)] == ["ann"]


def test_credit_is_set(pacas: Any, folder: Path, url: str) -> None:
    pacas("account", "add", "ann", "provider.toml", "--credit", "10")
    assert pacas("account", "credit", "ann", "provider.toml", "0.5", "--json").document == {
        "account": "ann",
        "credit": 0.5,
    }
    assert kept(folder, url)[0].credit == 500_000_000
    assert pacas("account", "credit", "ann", "provider.toml", "none").lines == ["ann: may spend without a limit"]
    assert kept(folder, url)[0].credit is None


def test_a_rate_is_given_and_set(pacas: Any, folder: Path, url: str) -> None:
    added = pacas("account", "add", "ann", "provider.toml", "--rate", "20").lines[0]
    assert added == "ann: a client, may spend without a limit, may ask about 20 tuples a minute"
    told = pacas("account", "rate", "ann", "provider.toml", "1000", "--json").document
    assert told == {"account": "ann", "quotes_per_minute": 1000}
    assert kept(folder, url)[0].quotes_per_minute == 1000
    words = pacas("account", "rate", "ann", "provider.toml", "none").lines
    assert words == ["ann: may ask as the service allows everybody"]
    assert kept(folder, url)[0].quotes_per_minute is None
    for wrong in ("0", "1.5", "-1", "many", "9" * 14):
        assert pacas("account", "rate", "ann", "provider.toml", wrong).code == 2


def test_a_revoked_account_gets_a_new_token_by_adding_it_again(pacas: Any, folder: Path) -> None:
    first = pacas("account", "add", "ann", "provider.toml", "--json").document["token"]
    assert "there is an account 'ann' already" in pacas("account", "add", "ann", "provider.toml").complaint
    assert pacas("account", "revoke", "ann", "provider.toml", "--json").document == {"account": "ann", "revoked": True}
    assert kept(folder)[0].revoked
    second = pacas("account", "add", "ann", "provider.toml", "--json").document["token"]
    assert first != second
    assert [(one.revoked, one.token_hash) for one in kept(folder)] == [(False, token_hash(second))]


def test_a_token_rotates_with_an_overlap(pacas: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacas.cli.provider.account.time", lambda: 1_800_000_000)
    first = pacas("account", "add", "ann", "provider.toml", "--json").document["token"]
    told = pacas("account", "token", "ann", "provider.toml", "--overlap", "2h", "--expires", "1d", "--json").document
    assert told["previous_until"] == "2027-01-15T10:00:00+00:00" and told["expires"] == "2027-01-16T08:00:00+00:00"
    ann = kept(folder)[0]
    assert (ann.token_hash, ann.expires) == (token_hash(told["token"]), 1_800_086_400)
    assert (ann.previous_hash, ann.previous_expires) == (token_hash(first), 1_800_007_200)
    lines = pacas("account", "token", "ann", "provider.toml").lines
    assert lines[0].startswith("token: ") and lines[1].endswith("counts until 2027-01-16 08:00 UTC")
    assert "--overlap takes hours" in pacas("account", "token", "ann", "provider.toml", "--overlap", "soon").complaint


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "", "provider.toml"), "1 to 256 printable characters"),
        (("add", "ann", "provider.toml", "--credit", "much"), "--credit must be a number of credits"),
        (("add", "ann", "provider.toml", "--credit=-1"), "--credit must not be negative"),
        (("add", "ann", "provider.toml", "--credit", "1e30"), "a credit must be a whole number of nanocredits"),
        (("add", "ann", "provider.toml", "--role", "king"), "'king'"),
        (("add", "ann", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("revoke", "ann", "provider.toml"), "there is no account 'ann'"),
        (("credit", "ann", "provider.toml", "1"), "there is no account 'ann'"),
        (("credit", "ann", "provider.toml", "lots"), "CREDITS must be a number of credits"),
    ],
)
def test_bad_input_is_one_line(pacas: Any, arguments: tuple[str, ...], said: str) -> None:
    assert said in pacas("account", *arguments).complaint


def test_a_ledger_in_memory_keeps_no_accounts(pacas: Any, folder: Path) -> None:
    set_url(folder, "memory:")
    for arguments in (("add", "ann", "provider.toml"), ("list", "provider.toml")):
        assert "a ledger in memory keeps no accounts" in pacas("account", *arguments).complaint


def test_a_server_that_is_away_is_one_line_without_the_password(pacas: Any, folder: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    set_url(folder, "postgresql://ann:hunter2@127.0.0.1:1/shop")
    for command in (("account", "list", "provider.toml"), ("buy", "provider.toml", "--requests", "requests.jsonl")):
        said = pacas(*command).complaint
        assert said == (
            "the ledger pacas in the database shop at 127.0.0.1 cannot be opened: "
            "PostgreSQL is not running at this host and port"
        )


def test_a_mistake_in_the_data_leaves_an_empty_ledger_in_postgresql(
    pacas: Any, folder: Path, postgres_url: str
) -> None:
    set_url(folder, postgres_url)
    table = (folder / "sp.csv").read_text()
    (folder / "sp.csv").write_text(table + "m7,male,33,P0T2T0,ulcer,aspirin\n")
    assert "'MED' has 1 unknown" in pacas("buy", "provider.toml", "--requests", "requests.jsonl").complaint
    (folder / "sp.csv").write_text(table)
    assert pacas("buy", "provider.toml", "--requests", "requests.jsonl", "--json").document["spent"] == 1.1
    assert pacas("audit", "provider.toml", "--json").document["ledger"]["entries"] == 3


def test_a_token_is_bound_to_a_certificate_and_unbound(pacas: Any, folder: Path, url: str, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    first, second = (authority.sign(name).certificate for name in ("first", "second"))
    with second.open("a") as file:
        file.write(authority.certificate.read_text())  # a chain: its first certificate is the client's
    prints = [load_pem_x509_certificate(one.read_bytes()).fingerprint(SHA256()).hex() for one in (first, second)]
    pacas("account", "add", "ann", "provider.toml", "--certificate", str(first))
    assert [one.certificate for one in kept(folder, url)] == prints[:1]
    assert pacas("account", "list", "provider.toml", "--json").document["accounts"][0]["certificate"] == prints[0]
    bind = ("account", "certificate", "ann", "provider.toml")
    assert pacas(*bind, str(second), "--json").document == {"account": "ann", "certificate": prints[1]}
    assert pacas(*bind, str(second)).lines == [f"ann: bound to the certificate {prints[1]}"]
    assert [one.certificate for one in kept(folder, url)] == prints[1:]
    pacas("account", "token", "ann", "provider.toml")
    assert [one.certificate for one in kept(folder, url)] == prints[1:], "it stays bound with a new token"
    assert pacas(*bind, "none").lines == ["ann: bound to no certificate"]
    assert [one.certificate for one in kept(folder, url)] == [None]
    for wrong in ("provider.toml", "nothing.crt"):
        assert wrong in pacas(*bind, wrong).complaint
