"""What every store of accounts must do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from beside_the_ledger import OLDER, run_beside
from postgres import POSTGRES

from pacas.errors import InputError
from pacas.protocol.messages import LARGEST, Request
from pacas.provider.ledger.accounts import (
    HIGHEST_RATE,
    Account,
    Accounts,
    MemoryAccounts,
    Role,
    new_token,
    token_hash,
)
from pacas.provider.ledger.entry import Purchase
from pacas.provider.ledger.refusals import RefusalCount
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.url import open_accounts, open_ledger, open_refusals


def account(name: str = "ann", **changes: Any) -> Account:
    return replace(Account(name, Role.CLIENT, 10, False, token_hash(f"token of {name}")), **changes)


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a ledger and its accounts are."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'provider.ledger.db'}"
    named: str = request.getfixturevalue("postgres_url")
    return named


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
def accounts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Accounts]:
    made: Accounts
    match request.param:
        case "memory":
            made = MemoryAccounts()
        case "sqlite":
            made = open_accounts("sqlite:///provider.ledger.db", tmp_path)
        case _:
            made = open_accounts(request.getfixturevalue("postgres_url"), tmp_path)
    with closing(made):
        yield made


def test_there_are_none_at_first(accounts: Accounts) -> None:
    assert accounts.list() == []
    assert accounts.by_token(token_hash("token of ann")) is None


@pytest.mark.parametrize(
    "added",
    [
        account(),
        account(credit=None),
        account(credit=0),
        account(credit=LARGEST),
        account(role=Role.OPERATOR),
        account(quotes_per_minute=1),
        account(quotes_per_minute=HIGHEST_RATE),
        account(role=Role.RECONCILE),
        account(certificate="ab" * 32),
        account("Zoë O'Neil; DROP TABLE account"),
    ],
)
def test_an_account_reads_as_it_was_added(accounts: Accounts, added: Account) -> None:
    accounts.add(added)
    assert accounts.list() == [added]
    assert accounts.by_token(added.token_hash) == added
    assert accounts.by_token(token_hash("another")) is None


def test_accounts_are_listed_by_name(accounts: Accounts) -> None:
    for name in ("bob", "Zoë", "ann", "Ann"):
        accounts.add(account(name))
    assert [one.name for one in accounts.list()] == ["Ann", "Zoë", "ann", "bob"]


def test_a_name_that_is_taken_is_an_error_and_changes_nothing(accounts: Accounts) -> None:
    accounts.add(account())
    with pytest.raises(InputError, match="there is an account 'ann' already"):
        accounts.add(account(credit=99, token_hash=token_hash("another")))
    assert accounts.list() == [account()]


def test_a_revoked_account_is_known_as_such(accounts: Accounts) -> None:
    accounts.add(account())
    accounts.add(account("bob"))
    accounts.revoke("ann")
    assert accounts.by_token(account().token_hash) == account(revoked=True)
    assert accounts.by_token(account("bob").token_hash) == account("bob")
    accounts.revoke("ann")


def test_a_revoked_account_can_be_given_a_new_token(accounts: Accounts) -> None:
    accounts.add(account())
    accounts.revoke("ann")
    again = account(credit=None, token_hash=token_hash("a new token"))
    accounts.add(again)
    assert accounts.list() == [again]
    assert accounts.by_token(account().token_hash) is None


def test_a_new_token_counts_beside_the_one_before_until_that_ends(accounts: Accounts) -> None:
    accounts.add(account(expires=500))
    accounts.add(account("bob"))
    old, new, newer = (token_hash(f"{name} token") for name in ("old", "new", "newer"))
    accounts.set_token("bob", old, None, 100)
    accounts.set_token("bob", new, 900, 200)
    opened, before = accounts.by_token(new), accounts.by_token(old)
    assert opened is not None and (opened.name, opened.token_hash, opened.expires) == ("bob", new, 900)
    assert before is not None and (before.name, before.token_hash, before.expires) == ("bob", old, 200)
    assert not before.has_expired(199) and before.has_expired(200)
    assert accounts.by_token(account("bob").token_hash) is None, "the one before the last"
    accounts.set_token("ann", newer, None, 10_000)
    ending = accounts.by_token(account().token_hash)
    assert ending is not None and ending.expires == 500, "no token counts longer than it would have"
    accounts.revoke("bob")
    assert [one is not None and one.revoked for one in map(accounts.by_token, (old, new))] == [True, True]
    with pytest.raises(InputError, match="'bob' is revoked"):
        accounts.set_token("bob", newer, None, 100)
    accounts.add(account("bob"))
    assert accounts.by_token(old) is accounts.by_token(new) is None
    with pytest.raises(InputError, match="there is no account 'eve'"):
        accounts.set_token("eve", newer, None, 100)


def test_credit_can_be_set(accounts: Accounts) -> None:
    accounts.add(account())
    for credit in (0, LARGEST, None):
        accounts.set_credit("ann", credit)
        assert accounts.list() == [account(credit=credit)]


def test_a_rate_can_be_set_and_goes_with_a_new_token(accounts: Accounts) -> None:
    accounts.add(account())
    for rate in (1, HIGHEST_RATE, None, 7):
        accounts.set_rate("ann", rate)
        assert accounts.list() == [account(quotes_per_minute=rate)]
    accounts.revoke("ann")
    accounts.add(account())
    assert accounts.list() == [account()]


def test_an_account_whose_token_stands_in_addresses_has_a_credit(accounts: Accounts) -> None:
    with pytest.raises(InputError, match="an account of the role reconcile needs a credit"):
        account(role=Role.RECONCILE, credit=None)
    accounts.add(account(role=Role.RECONCILE))
    with pytest.raises(InputError, match="needs a credit"):
        accounts.set_credit("ann", None)
    accounts.set_credit("ann", 3)
    assert accounts.list() == [account(role=Role.RECONCILE, credit=3)]


def test_a_name_that_is_not_there_is_an_error(accounts: Accounts) -> None:
    accounts.add(account())
    changes = (accounts.revoke, lambda name: accounts.set_credit(name, 1), lambda name: accounts.set_rate(name, 1))
    for change in changes:
        with pytest.raises(InputError, match=r"there is no account 'anna'; did you mean 'ann'\?"):
            change("anna")


def test_threads_may_share_them(accounts: Accounts) -> None:
    threads = [Thread(target=lambda n=n: accounts.add(account(f"buyer {n}"))) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accounts.list()) == 6


# ---- in the ledger's database ----------------------------------------------------------------------------------------


def test_they_are_there_again_and_beside_the_ledger(url: str) -> None:
    with closing(open_accounts(url, Path())) as accounts, closing(open_ledger(url, Path())) as ledger:
        accounts.add(account())
        ledger.open({"relation": "ab"}, b"seed")
        ledger.append(Purchase("ann", "key", Request({}, "MED", 0), 3, "x"))
        accounts.set_credit("ann", 77)
        assert ledger.verify().holds
    with closing(open_accounts(url, Path())) as accounts, closing(open_ledger(url, Path())) as ledger:
        assert accounts.list() == [account(credit=77)]
        assert ledger.totals() == {"ann": (1, 3)}


def test_what_one_process_changes_another_sees(url: str) -> None:
    with closing(open_accounts(url, Path())) as one, closing(open_accounts(url, Path())) as other:
        assert other.by_token(account().token_hash) is None
        one.add(account())
        assert other.by_token(account().token_hash) == account()
        one.revoke("ann")
        assert other.by_token(account().token_hash) == account(revoked=True)


def test_a_file_from_before_there_were_accounts_gets_their_table_with_the_first(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    SqliteLedger(path).close()
    assert tables(path) == {"entry", "head", "total"}
    with closing(open_accounts("sqlite:///l.db", tmp_path)) as accounts:
        assert accounts.list() == []
        assert tables(path) == {"entry", "head", "total"}
        accounts.add(account())
    assert tables(path) == {"account", "entry", "head", "total"}
    with closing(SqliteLedger(path)) as ledger:
        assert ledger.verify().holds


def test_accounts_of_an_earlier_release_open_and_get_rates_and_ends(url: str) -> None:
    open_ledger(url, Path()).close()
    old = f"INSERT INTO account VALUES ('ann', 'client', 10, 0, '{account().token_hash}')"
    run_beside(url, "DROP TABLE IF EXISTS account", OLDER, old)
    with closing(open_accounts(url, Path())) as accounts, closing(open_accounts(url, Path())) as others:
        assert accounts.list() == others.list() == [account()]
        accounts.set_rate("ann", 5)
        others.add(account("bob", quotes_per_minute=6, expires=7))
        assert accounts.by_token(account().token_hash) == account(quotes_per_minute=5)
        assert [(one.quotes_per_minute, one.expires) for one in accounts.list()] == [(5, None), (6, 7)]
    with closing(open_ledger(url, Path())) as ledger:
        assert ledger.verify().holds


# ---- refusals --------------------------------------------------------------------------------------------------------


def test_refusals_add_up_over_processes_and_are_there_again(url: str) -> None:
    open_ledger(url, Path()).close()
    with closing(open_refusals(url, Path())) as one, closing(open_refusals(url, Path())) as other:
        assert one.since(0) == []
        one.add([])
        one.add([RefusalCount(5, "ann", "unsafe", 2), RefusalCount(6, "", "unauthorized", 1)])
        other.add([RefusalCount(5, "ann", "unsafe", 3), RefusalCount(5, "O'Neil; --", "unsafe", 1)])
        assert one.since(0) == [(5, "O'Neil; --", "unsafe", 1), (5, "ann", "unsafe", 5), (6, "", "unauthorized", 1)]
    with closing(open_refusals(url, Path())) as again, closing(open_ledger(url, Path())) as ledger:
        assert again.since(6) == [(6, "", "unauthorized", 1)]
        many = [RefusalCount(hour, "bob", "no_match", 1) for hour in range(10, 360)]
        again.add(many)
        assert again.since(10) == many
        assert ledger.verify().holds


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


# ---- tokens ----------------------------------------------------------------------------------------------------------


def test_a_token_has_256_bits_and_is_never_given_twice() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) == 43 and token.isascii() for token in tokens)


def test_only_the_hash_of_a_token_is_on_the_disk(tmp_path: Path) -> None:
    token = new_token()
    with closing(open_accounts("sqlite:///l.db", tmp_path)) as accounts:
        accounts.add(account(token_hash=token_hash(token)))
    content = (tmp_path / "l.db").read_bytes()
    assert token.encode() not in content and token_hash(token).encode() in content


def test_no_repr_shows_a_hash() -> None:
    assert account().token_hash not in repr(account())


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"name": "a\nb"},
        {"name": "\x00"},
        {"credit": -1},
        {"credit": LARGEST + 1},
        {"credit": 1.0},
        {"quotes_per_minute": 0},
        {"quotes_per_minute": HIGHEST_RATE + 1},
        {"quotes_per_minute": True},
        {"token_hash": ""},
        {"token_hash": "token"},
        {"certificate": "AB" * 32},
    ],
)
def test_an_account_that_no_store_could_keep_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        account(**changes)


# ---- remembered ------------------------------------------------------------------------------------------------------


def test_when_a_token_ends_is_kept_with_it(accounts: Accounts) -> None:
    accounts.add(account())
    accounts.add(account("bob", expires=1_800_000_000))
    assert [one.expires for one in accounts.list()] == [None, 1_800_000_000]
    assert account("bob", expires=7).has_expired(7) and not account("bob", expires=7).has_expired(6.9)
    accounts.revoke("bob")
    accounts.add(account("bob", token_hash=token_hash("another")))
    assert [one.expires for one in accounts.list()] == [None, None]
