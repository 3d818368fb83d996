"""Changes of accounts are entries of the ledger: what each of them says, when, and that nothing goes on beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from beside_the_ledger import OLDER, run_beside
from example_shop import example_provider
from postgres import POSTGRES

from pacas.core.rates.schedule import Schedule
from pacas.errors import KeyReusedError
from pacas.protocol.messages import Answer, Payment, Request
from pacas.provider.audit import audit
from pacas.provider.ledger.account_change import KEYS, AccountChange, AccountState
from pacas.provider.ledger.account_history import account_histories, changed_words
from pacas.provider.ledger.accounts import Account, Change, Role, token_hash
from pacas.provider.ledger.entry import Purchase
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.server.signing_key import SigningKey
from pacas.server.tree_log import TreeLog
from pacas.storage.url import open_accounts, open_ledger

ANN = Account("ann", Role.CLIENT, 10, False, token_hash("token of ann"))
BOB = Account("bob", Role.OPERATOR, None, False, token_hash("token of bob"))
REQUEST = Request({"GEN": "male", "AGE": "51"}, "MED", 1)
OTHER = Request({"GEN": "male", "AGE": "79"}, "MED", 2)
CEILING = 10**10


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'provider.ledger.db'}"
    named: str = request.getfixturevalue("postgres_url")
    return named


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    if request.param == "memory":
        yield MemoryLedger(lambda: 7)
        return
    named = f"sqlite:///{tmp_path / 'l.db'}" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with closing(open_accounts(named, Path())) as accounts, closing(open_ledger(named, Path())) as opened:
        accounts.add(BOB)  # there is a table from here on
        accounts.revoke("bob")
        yield opened


def put(ledger: Ledger, account: Account) -> None:
    ledger.change_account(account.name, lambda before: account)


def sell(ledger: Ledger, key: str, price: int = 3, buyer: str = "ann") -> None:
    ledger.append(Purchase(buyer, key, Request({}, "MED", 0), price, "x"))


def told_of(ledger: Ledger, name: str = "ann") -> list[tuple[int, AccountChange]]:
    found = ((entry.sequence, entry.payload) for entry in ledger.entries(1))
    return [(at, one) for at, one in found if isinstance(one, AccountChange) and one.buyer == name]


def test_accounts_are_entered_with_the_first_sale_and_every_change_after_it(ledger: Ledger) -> None:
    ledger.open({"relation": "ab"}, b"seed")
    put(ledger, ANN)
    put(ledger, replace(ANN, credit=20))
    assert ledger.head().entries == 1 and not ledger.has_sales, "until then the ledger may begin anew"
    sell(ledger, "1")
    first = ledger.head().entries
    ((_, entered),) = told_of(ledger)
    assert entered.before == entered.after == AccountState.of(replace(ANN, credit=20)) and entered.time is not None
    put(ledger, replace(ANN, credit=100))
    sell(ledger, "2")
    put(ledger, replace(ANN, credit=10))
    put(ledger, replace(ANN, credit=10))
    assert ledger.head().entries == first + 3, "what does not change is no change"
    _, raised, lowered = (one for _, one in told_of(ledger))
    assert (raised.before, raised.after.credit) == (entered.after, 100)
    assert (lowered.before, lowered.after.credit) == (raised.after, 10)
    assert ledger.totals() == {"ann": (2, 6)}, "an account is no buyer by that"
    assert ledger.verify().holds
    assert [entry.sequence for entry in ledger.bought_by("ann")] == [1, first + 1]


def test_terms_that_are_accepted_enter_the_accounts_as_a_sale_does(url: str) -> None:
    with closing(open_accounts(url, Path())) as accounts, closing(open_ledger(url, Path())) as ledger:
        provider = example_provider(ledger)
        accounts.add(ANN)
        provider.till.agree("offer/1", Schedule.of([[0, 80]]), 0, 90, buyer="ann")
        assert [at for at, _ in told_of(ledger)] == [2]
        assert provider.till.known.entries == 3 and ledger.verify().holds


def test_an_entry_tells_nothing_that_opens_an_account_or_can_be_guessed(ledger: Ledger) -> None:
    ledger.open({"relation": "ab"}, b"seed")
    put(ledger, ANN)
    sell(ledger, "1")
    put(ledger, ANN.with_token(token_hash("the next"), 900, 500))
    with ledger._store() as store:
        records = [one for one in store.page(0, 100) if one.is_account and one.buyer == "ann"]
    assert len(records) == 2
    for record in records:
        details = json.loads(record.details)
        assert len(details.pop("salt")) == 32
        for secret in (ANN.token_hash, token_hash("the next"), "token of ann"):
            assert secret not in record.details
    after = json.loads(records[1].details)["account"]
    assert after.pop("token") != after.pop("previous") and (after["expires"], after["previous_expires"]) == (900, 500)
    assert ANN.token_hash not in repr(told_of(ledger)) and after["role"] not in records[0].hash


def test_a_change_that_fails_leaves_neither_account_nor_entry(ledger: Ledger) -> None:
    ledger.open({"relation": "ab"}, b"seed")
    put(ledger, ANN)
    sell(ledger, "1")
    before, kept = ledger.head(), ledger.accounts()
    with pytest.raises(ZeroDivisionError), ledger.transaction():
        put(ledger, replace(ANN, credit=99))
        sell(ledger, "2")
        raise ZeroDivisionError
    assert (ledger.head(), ledger.accounts()) == (before, kept)
    assert ledger.totals() == {"ann": (1, 3)} and ledger.verify().holds


def test_nobody_can_buy_under_the_key_of_a_change(url: str) -> None:
    with closing(open_accounts(url, Path())) as accounts, closing(open_ledger(url, Path())) as ledger:
        provider = example_provider(ledger)
        accounts.add(ANN)
        assert isinstance(provider.pay(REQUEST, CEILING, f"{KEYS}1", buyer="ann"), Answer)
        accounts.set_credit("ann", 11)
        (_, entered), (_, changed) = told_of(ledger)
        assert entered.key.startswith(KEYS) and entered.key != changed.key
        with pytest.raises(KeyReusedError):
            provider.pay(REQUEST, CEILING, changed.key, buyer="ann")


def test_a_run_of_first_sales_knows_what_was_entered_between_them(url: str) -> None:
    """The till counts entries; those of accounts come in the midst of a run, and from other processes."""
    with closing(open_accounts(url, Path())) as accounts, closing(open_ledger(url, Path())) as ledger:
        accounts.add(ANN)
        accounts.add(BOB)
        provider = example_provider(ledger)
        first = example_provider()
        planned = [(one, first.pay(one, CEILING, str(number))) for number, one in enumerate((REQUEST, OTHER))]
        run = [Payment(one, sold.price, str(number)) for number, (one, sold) in enumerate(planned)]  # type: ignore[union-attr]
        assert [entry.sequence for entry in provider.till.sell_many(run, buyer="ann")] == [1, 4]  # type: ignore[union-attr]
        with closing(open_ledger(url, Path())) as elsewhere:
            other = example_provider(elsewhere)
            accounts.set_credit("ann", None)
            log = TreeLog(elsewhere, SigningKey.generate())
            assert isinstance(other.pay(OTHER, CEILING, "o", buyer="bob"), Answer)
            provider.refresh()
            assert provider.till.known == other.till.known == ledger.head()
            assert log.head().head.size == ledger.head().entries
            for request in (REQUEST, OTHER, Request(OTHER.tuple, "MED", 0)):
                quotes = [one.quote(request, buyer="ann") for one in (provider, other)]
                assert quotes[0] == quotes[1]
        found = audit(provider)
        assert found.holds and [len(one.steps) for one in found.accounts.values()] == [2, 1]


def test_accounts_of_an_earlier_release_are_entered_when_the_ledger_is_opened_to_sell(url: str) -> None:
    with closing(open_ledger(url, Path())) as ledger:
        provider = example_provider(ledger)
        assert isinstance(provider.pay(REQUEST, CEILING, "1", buyer="ann"), Answer)
        old = f"INSERT INTO account VALUES ('ann', 'client', 1, 0, '{ANN.token_hash}')"
        run_beside(url, "DROP TABLE IF EXISTS account", OLDER, old)
        found = audit(provider)
        assert found.holds and "1 account of an earlier release" in found.warnings[-1]
        assert ledger.head().entries == 2
    with closing(open_ledger(url, Path())) as ledger:
        provider = example_provider(ledger)
        assert [changed_words(one) for _, one in told_of(ledger)] == ["entered: client, credit 0.000000001"]
        assert isinstance(provider.pay(REQUEST, CEILING, "2", buyer="bob"), Answer)
    with closing(open_ledger(url, Path())) as ledger:
        example_provider(ledger)
        assert ledger.head().entries == 4, "once"


TAMPERING: list[tuple[str, str]] = [
    ("UPDATE account SET credit = 99", "it was changed behind the ledger's back after entry 2"),
    ("UPDATE account SET revoked = 1", "it was changed behind the ledger's back after entry 2"),
    ("UPDATE account SET role = 'operator'", "it was changed behind the ledger's back after entry 2"),
    (f"UPDATE account SET token_hash = '{BOB.token_hash}'", "it was changed behind the ledger's back after entry 2"),
    (f"UPDATE account SET previous_hash = '{BOB.token_hash}'", "it was changed behind the ledger's back after entry 2"),
    ("UPDATE account SET certificate = '" + "ab" * 32 + "'", "it was changed behind the ledger's back after entry 2"),
    ("UPDATE account SET expires = 9", "it was changed behind the ledger's back after entry 2"),
    ("DELETE FROM account", "it is gone from the accounts after entry 2"),
]


@pytest.mark.attack
@pytest.mark.parametrize(("statement", "problem"), TAMPERING)
def test_what_is_changed_behind_the_ledgers_back_is_found(url: str, statement: str, problem: str) -> None:
    with closing(open_accounts(url, Path())) as accounts, closing(open_ledger(url, Path())) as ledger:
        provider = example_provider(ledger)
        accounts.add(replace(ANN, credit=CEILING))
        assert isinstance(provider.pay(REQUEST, CEILING, "1", buyer="ann"), Answer)
        assert audit(provider).holds
        run_beside(url, statement)
        found = audit(provider)
        assert (found.holds, found.accounts["ann"].problem) == (False, problem)
        assert found.ledger.holds and f"the account ann: {problem}" in found.warnings


@pytest.mark.attack
def test_credit_raised_spent_and_lowered_behind_the_ledgers_back_shows_by_what_was_bought(url: str) -> None:
    with closing(open_accounts(url, Path())) as accounts, closing(open_ledger(url, Path())) as ledger:
        provider = example_provider(ledger)
        accounts.add(replace(ANN, credit=10**9))
        assert isinstance(provider.pay(REQUEST, CEILING, "1", buyer="ann"), Answer)
        run_beside(url, f"UPDATE account SET credit = {CEILING}")
        assert isinstance(provider.pay(OTHER, CEILING, "2", buyer="ann"), Answer)
        run_beside(url, "UPDATE account SET credit = 1000000000")
        found = audit(provider)
        assert (found.accounts["ann"].problem, found.accounts["ann"].beyond) == (None, 1)
        assert "the account ann: 1 purchase beyond the credit" in found.warnings[-1]


@pytest.mark.attack
def test_a_change_on_top_of_one_behind_the_ledgers_back_shows_it(url: str) -> None:
    with closing(open_accounts(url, Path())) as accounts, closing(open_ledger(url, Path())) as ledger:
        provider = example_provider(ledger)
        accounts.add(ANN)
        provider.pay(REQUEST, CEILING, "1", buyer="ann")
        run_beside(url, "UPDATE account SET credit = 99")
        accounts.set_rate("ann", 5)
        accounts.set_credit("ann", 10)
        values = f"('eve', 'client', 0, '{token_hash('eve')}')"
        run_beside(url, f"INSERT INTO account (name, role, revoked, token_hash) VALUES {values}")
        found = audit(provider)
        assert found.accounts["ann"].problem == "it was changed behind the ledger's back before entry 3"
        assert found.accounts["eve"].problem == "it was added behind the ledger's back: no entry says so"


def test_before_the_first_sale_there_is_no_history() -> None:
    assert account_histories([], [ANN]) == {}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one: replace(one, role=Role.OPERATOR), "role client → operator"),
        (lambda one: replace(one, revoked=True), "revoked"),
        (lambda one: replace(one, certificate="ab" * 32), "bound to a certificate"),
        (lambda one: replace(one, quotes_per_minute=5), "tuples a minute all → 5"),
        (lambda one: replace(one, expires=5), "another end of its token"),
        (lambda one: one.with_token(token_hash("next"), None, 5), "a new token"),
    ],
)
def test_a_change_is_said_in_a_few_words(change: Change, words: str) -> None:
    assert changed_words(AccountChange.of(ANN, change(ANN), None)) == words
    assert changed_words(AccountChange.of(None, ANN, None)) == "added: client, credit 0.00000001"
