"""What every ledger must do. A new one is one more parameter of the fixture."""

from __future__ import annotations

import json
import pickle
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import postgres
import pytest
from postgres import POSTGRES

from pacas.core.rates.schedule import Schedule
from pacas.core.rates.tab import AgreedTerms
from pacas.errors import (
    InputError,
    KeyReusedError,
    LedgerBrokenError,
    LedgerChangedError,
    PacasError,
    StorageError,
)
from pacas.protocol.messages import LARGEST, Request
from pacas.provider.ledger.chain import Head, Total
from pacas.provider.ledger.entry import GENESIS, AcceptedTerms, Entry, Opening, Purchase, Record
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.storage.url import open_ledger

FINGERPRINT = {part: f"{number:064x}" for number, part in enumerate(["relation", "hierarchies", "policies", "support"])}
SEED = b"a secret seed, 32 bytes in length"
TIME = 1_800_000_000
SECRETS = ["secret", "ibuprofen", "hidden", SEED.hex(), repr(SEED)]
PROCESSES = Path(__file__).with_name("ledger_processes.py")


def purchase(number: int = 1, buyer: str = "ann", **changes: Any) -> Purchase:
    request = Request({"GEN": "secret", "AGE": None}, "MED", number)
    return replace(Purchase(buyer, f"key {number}", request, 10 * number, "ibuprofen", (3, 4, 90)), **changes)


class Place(Protocol):
    """Where a kind of ledger is kept, and how somebody without scruples writes there."""

    def open(self) -> Ledger: ...
    def alter(self, sequence: int, field: str, value: object) -> None: ...
    def remove(self, sequence: int) -> None: ...
    def set_head(self, head: Head | None) -> None: ...
    def set_total(self, buyer: str, total: Total | None) -> None: ...
    def can_hold(self, field: str, value: object) -> bool: ...
    def close(self) -> None: ...


class InMemory:
    def __init__(self) -> None:
        self._ledger = MemoryLedger(lambda: TIME)

    def open(self) -> Ledger:
        return self._ledger

    def alter(self, sequence: int, field: str, value: object) -> None:
        records = self._ledger._kept.records
        records[:] = [r._replace(**{field: value}) if r.sequence == sequence else r for r in records]  # type: ignore[arg-type]
        records.sort(key=lambda r: r.sequence)

    def remove(self, sequence: int) -> None:
        records = self._ledger._kept.records
        records[:] = [r for r in records if r.sequence != sequence]

    def set_head(self, head: Head | None) -> None:
        self._ledger._kept._head = head

    def set_total(self, buyer: str, total: Total | None) -> None:
        totals = self._ledger._kept._totals
        del totals[buyer]
        totals.update({buyer: total} if total else {})

    def can_hold(self, field: str, value: object) -> bool:
        return True

    def close(self) -> None:
        pass


class InDatabase:
    """Without waiting for the disk; what is about durability runs in processes of its own, further down."""

    def __init__(self) -> None:
        self._opened: list[Ledger] = []

    def close(self) -> None:
        for ledger in self._opened:
            ledger.close()

    def alter(self, sequence: int, field: str, value: object) -> None:
        self._run(f"UPDATE entry SET {field} = ? WHERE sequence = ?", value, sequence)

    def remove(self, sequence: int) -> None:
        self._run("DELETE FROM entry WHERE sequence = ?", sequence)

    def set_head(self, head: Head | None) -> None:
        self._run("DELETE FROM head")
        if head is not None:
            self._run("INSERT INTO head VALUES (1, ?, ?)", *head)

    def set_total(self, buyer: str, total: Total | None) -> None:
        self._run("DELETE FROM total WHERE buyer = ?", buyer)
        if total is not None:
            self._run("INSERT INTO total VALUES (?, ?, ?)", buyer, *total)

    def _run(self, statement: str, *parameters: object) -> None:
        raise NotImplementedError


class InSqlite(InDatabase):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def open(self) -> Ledger:
        ledger = SqliteLedger(self.path, clock=lambda: TIME)
        ledger._connection.execute("PRAGMA synchronous = OFF")
        self._opened.append(ledger)
        return ledger

    def can_hold(self, field: str, value: object) -> bool:
        return True

    def _run(self, statement: str, *parameters: object) -> None:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(statement, parameters)


@pytest.fixture(scope="session")
def new_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("new") / "new.db"
    SqliteLedger(path).close()
    return path


class InPostgres(InDatabase):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    def open(self) -> Ledger:
        ledger = open_ledger(f"{self.url}&options=-csynchronous_commit%3Doff", Path())
        ledger._clock = lambda: TIME
        self._opened.append(ledger)
        return ledger

    def can_hold(self, field: str, value: object) -> bool:
        return value is None or isinstance(value, int if field == "price" else str)

    def _run(self, statement: str, *parameters: object) -> None:
        postgres.run(self.url, statement.replace("?", "%s"), *parameters)


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
def place(request: pytest.FixtureRequest, tmp_path: Path, new_file: Path) -> Iterator[Place]:
    made: Place
    match request.param:
        case "memory":
            made = InMemory()
        case "sqlite":
            made = InSqlite(Path(shutil.copy(new_file, tmp_path / "provider.ledger.db")))
        case _:
            made = InPostgres(request.getfixturevalue("postgres_url"))
    yield made
    made.close()


@pytest.fixture
def ledger(place: Place) -> Ledger:
    ledger = place.open()
    ledger.open(FINGERPRINT, SEED)
    return ledger


def filled(ledger: Ledger, purchases: int = 4) -> list[Entry]:
    return [ledger.append(purchase(number, "ann" if number % 2 else "bob")) for number in range(1, purchases + 1)]


# ---- the opening -----------------------------------------------------------------------------------------------------


def test_a_new_ledger_has_no_opening_and_takes_no_purchase(place: Place) -> None:
    ledger = place.open()
    assert ledger.opening() is None
    assert ledger.head() == (0, GENESIS)
    assert list(ledger.entries()) == []
    assert ledger.verify().holds
    with pytest.raises(StorageError, match="open it before selling"):
        ledger.append(purchase())
    assert ledger.head().entries == 0


def test_the_opening_is_entry_0_and_keeps_the_seed(place: Place, ledger: Ledger) -> None:
    (entry,) = ledger.entries()
    assert (entry.sequence, entry.previous, entry.payload) == (0, GENESIS, Opening(FINGERPRINT, SEED))
    again = place.open()
    assert again.opening() == Opening(FINGERPRINT, SEED)
    assert again.open(dict(reversed(FINGERPRINT.items())), SEED) == ledger.opening()
    assert again.head().entries == 1


@pytest.mark.parametrize(
    ("fingerprint", "seed", "parts"),
    [
        ({**FINGERPRINT, "policies": "ff"}, SEED, ["policies"]),
        ({**FINGERPRINT, "relation": "ff", "support": "ee"}, SEED, ["relation", "support"]),
        ({**FINGERPRINT, "weights": "ff"}, SEED, ["weights"]),
        ({k: v for k, v in FINGERPRINT.items() if k != "hierarchies"}, SEED, ["hierarchies"]),
        (FINGERPRINT, b"another", ["seed"]),
        ({**FINGERPRINT, "support": "ff"}, b"another", ["support", "seed"]),
    ],
)
def test_what_changed_since_the_opening_is_named(
    place: Place, ledger: Ledger, fingerprint: dict[str, str], seed: bytes, parts: list[str]
) -> None:
    filled(ledger)
    with pytest.raises(LedgerChangedError) as caught:
        place.open().open(fingerprint, seed)
    assert list(caught.value.parts) == parts
    assert f"changed since the ledger was opened: {', '.join(parts)}; " in str(caught.value)
    assert ledger.head().entries == 5


def test_until_the_first_purchase_a_ledger_may_begin_anew(place: Place, ledger: Ledger) -> None:
    other = {**FINGERPRINT, "policies": "ff"}
    again = place.open()
    with pytest.raises(RuntimeError), again.transaction():
        again.begin_anew(other, b"undone")
        raise RuntimeError
    assert place.open().opening() == Opening(FINGERPRINT, SEED)
    assert again.begin_anew(other, b"anew") == place.open().opening() == Opening(other, b"anew")
    assert again.verify().holds and again.head().entries == 1
    for late in () if again is ledger else (lambda: ledger.append(purchase()), lambda: list(ledger.entries(1))):
        with pytest.raises(LedgerChangedError) as caught:
            late()
        assert caught.value.parts == ("policies", "seed")
    again.append(purchase())
    with pytest.raises(StorageError, match="values were sold"):
        again.begin_anew(FINGERPRINT, SEED)
    assert again.verify().holds and place.open().head().entries == 2


def test_two_that_begin_a_ledger_together_agree_on_one_seed(place: Place) -> None:
    seeds: list[bytes] = []

    def begin(number: int) -> None:
        ledger = place.open()
        with ledger.transaction():
            stored = ledger.opening()
            seed = stored.seed if stored else bytes([number] * 32)
            seeds.append(ledger.open(FINGERPRINT, seed).seed)

    together([lambda n=n: begin(n) for n in range(4)])
    assert len(seeds) == 4 and len(set(seeds)) == 1
    assert place.open().head().entries == 1


# ---- appending and finding -------------------------------------------------------------------------------------------


def test_entries_are_numbered_and_chained(ledger: Ledger) -> None:
    appended = filled(ledger)
    entries = list(ledger.entries())
    assert [e.sequence for e in entries] == [0, 1, 2, 3, 4]
    assert [e.previous for e in entries] == [GENESIS, *(e.hash for e in entries[:-1])]
    assert entries[1:] == appended
    assert ledger.head() == (5, entries[-1].hash)


@pytest.mark.parametrize(
    "bought",
    [
        purchase(rows=None),
        purchase(rows=()),
        purchase(rows=(0,)),
        purchase(rows=tuple(range(5, 5000, 7))),
        purchase(price=0),
        purchase(price=LARGEST),
        purchase(answer=""),
        purchase(answer='é 😀 "quoted" \\ \n \x00 \x7f \u2028'),
        purchase(buyer="Zoë O'Neil; DROP TABLE entry"),
        purchase(request=Request({}, "A\nB", LARGEST)),
        purchase(request=Request({"z": "1", "a": "\ud7ff", "": None, "kind": "opening"}, "", 0)),
    ],
)
def test_a_purchase_reads_as_it_was_written(place: Place, ledger: Ledger, bought: Purchase) -> None:
    ledger.append(bought)
    again = place.open()
    assert [e.payload for e in again.entries(1)] == [bought]
    assert again.verify().holds


def test_restarting_gives_the_same_history(place: Place, ledger: Ledger) -> None:
    filled(ledger, 3)
    before = list(ledger.entries())
    again = place.open()
    assert list(again.entries()) == before
    assert again.append(purchase(9)).previous == before[-1].hash
    assert again.verify().holds and ledger.head().entries == 5


@pytest.mark.parametrize("start", [0, 1, 3, 4, 5, 6, 100])
def test_entries_can_be_read_from_any_on(ledger: Ledger, start: int) -> None:
    filled(ledger)
    assert [e.sequence for e in ledger.entries(start)] == list(range(start, 5))


def test_what_another_one_appended_is_read(place: Place, ledger: Ledger) -> None:
    filled(ledger, 2)
    other = place.open()
    seen = ledger.head().entries
    new = other.append(purchase(9))
    assert list(ledger.entries(seen)) == [new]
    assert ledger.find("ann", "key 9") == new


def test_many_entries_are_read_in_pages_while_others_append(ledger: Ledger) -> None:
    with ledger.transaction():
        filled(ledger, 1100)
    reading = ledger.entries()
    assert next(reading).sequence == 0
    ledger.append(purchase(9999))
    assert [e.sequence for e in reading] == list(range(1, 1102))


def test_a_purchase_is_found_by_buyer_and_key(ledger: Ledger) -> None:
    one, two = ledger.append(purchase(1, "ann")), ledger.append(purchase(1, "bob"))
    assert ledger.find("ann", "key 1") == one
    assert ledger.find("bob", "key 1", purchase(1).request) == two
    assert ledger.find("ann", "key 2") is None
    assert ledger.find("eve", "key 1") is None


@pytest.mark.parametrize("few", [True, False])
def test_a_buyers_purchases_are_read_in_pages(ledger: Ledger, few: bool) -> None:
    with ledger.transaction():
        appended = [ledger.append(purchase(n, "bob" if n % (5 if few else 2) else "ann")) for n in range(30)]
    mine = [e for e in appended if e.purchase.buyer == ("ann" if few else "bob")]
    buyer = mine[0].purchase.buyer
    pages = [ledger.bought_by(buyer, 0, 4)]
    while pages[-1]:
        pages.append(ledger.bought_by(buyer, pages[-1][-1].sequence, 4))
    assert [len(page) for page in pages[:-2]] == [4] * (len(pages) - 2)
    assert [e for page in pages for e in page] == mine
    assert (len(mine) ** 2 <= 4 * 31) == few, "the case that is meant"
    assert ledger.bought_by(buyer) == mine
    assert ledger.bought_by("eve") == []


def test_an_altered_purchase_is_not_shown_to_its_buyer(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    place.alter(3, "price", 0)
    assert [e.sequence for e in ledger.bought_by("ann", 0, 1)] == [1]
    with pytest.raises(LedgerBrokenError, match="entry 3"):
        ledger.bought_by("ann")


def test_a_retried_purchase_has_one_entry_whatever_it_would_cost_now(place: Place, ledger: Ledger) -> None:
    first = ledger.append(purchase(1))
    ledger.append(purchase(2))
    for retry in (purchase(1), purchase(1, price=0, answer="hidden", rows=None)):
        assert place.open().append(retry) == first
    assert ledger.head().entries == 3
    assert ledger.total("ann") == (2, 30)


@pytest.mark.parametrize(
    "request_",
    [
        Request({"GEN": "secret", "AGE": None}, "MED", 2),
        Request({"GEN": "secret", "AGE": None}, "AGE", 1),
        Request({"GEN": "secret", "AGE": ""}, "MED", 1),
        Request({"GEN": "secret"}, "MED", 1),
    ],
)
def test_a_key_used_again_for_another_request_is_an_error(ledger: Ledger, request_: Request) -> None:
    filled(ledger)
    with pytest.raises(KeyReusedError, match="entry 1"):
        ledger.append(purchase(1, request=request_))
    with pytest.raises(KeyReusedError, match="entry 1"):
        ledger.find("ann", "key 1", request_)
    assert ledger.head().entries == 5


def test_totals_are_kept_for_every_buyer(place: Place, ledger: Ledger) -> None:
    assert (ledger.totals(), ledger.total("ann")) == ({}, (0, 0))
    filled(ledger)
    assert place.open().totals() == {"ann": Total(2, 40), "bob": Total(2, 60)}


def test_a_buyer_can_not_spend_more_than_can_be_counted(ledger: Ledger) -> None:
    ledger.append(purchase(1, price=LARGEST))
    with pytest.raises(InputError, match="together"):
        ledger.append(purchase(2, price=1))
    assert ledger.total("ann") == (1, LARGEST)
    assert ledger.verify().holds


TERMS = AgreedTerms(Schedule.parse("0:80,20:60"), 40 * 10**9, TIME)


def test_terms_are_entries_and_no_purchases(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    entry = ledger.agree(AcceptedTerms("ann", "offer/1", TERMS, 5))
    new = ledger.agree(AcceptedTerms("new", "offer/2", TERMS, 5))
    assert (entry.sequence, new.sequence) == (5, 6) and new.previous == entry.hash
    assert ledger.agree(AcceptedTerms("ann", "offer/1", TERMS, 9)) == entry, "accepted once"
    ledger.append(purchase(9))
    again = place.open()
    assert next(again.entries(5)) == entry and again.verify().holds
    assert again.totals() == {"ann": Total(3, 130), "bob": Total(2, 60), "new": Total(0, 0)}
    assert again.find_terms("ann", "offer/1") == entry and again.find_terms("ann", "key 1") is None
    assert again.find("ann", "offer/1") is None
    assert [e.sequence for e in again.bought_by("ann", 0, 3)] == [1, 3, 7] and again.bought_by("new") == []
    assert [buyer for buyer, _ in again.requests()] == ["ann", "bob", "ann", "bob", "ann"]
    assert again.tabs()["ann"].listed == 130 and "new" in again.tabs()
    with pytest.raises(KeyReusedError):
        again.find("ann", "offer/1", purchase().request)
    with pytest.raises(KeyReusedError):
        again.agree(AcceptedTerms("ann", "key 1", TERMS, 5))


def test_terms_are_undone_with_their_transaction(ledger: Ledger) -> None:
    filled(ledger, 1)
    with pytest.raises(ZeroDivisionError), ledger.transaction():
        ledger.agree(AcceptedTerms("new", "offer/1", TERMS, 5))
        ledger.agree(AcceptedTerms("ann", "offer/2", TERMS, 5))
        raise ZeroDivisionError
    assert ledger.totals() == {"ann": Total(1, 10)} and ledger.verify().holds
    ledger.agree(AcceptedTerms("new", "offer/1", TERMS, 5))
    with pytest.raises(ZeroDivisionError), ledger.transaction():
        ledger.append(purchase(3, "new"))
        raise ZeroDivisionError
    assert ledger.totals() == {"ann": Total(1, 10), "new": Total(0, 0)} and ledger.verify().holds


def test_terms_that_were_altered_are_found(place: Place, ledger: Ledger) -> None:
    filled(ledger, 1)
    details = {"kind": "terms", "prepaid": 1, "schedule": [[0, 8000]], "time": 5, "until": 9, "version": 2}
    ledger.agree(AcceptedTerms("ann", "offer/1", TERMS, 5))
    place.alter(2, "details", json.dumps(details, separators=(",", ":")))
    found = place.open().verify()
    assert not found.holds and found.first_bad == 2


# ---- transactions ----------------------------------------------------------------------------------------------------


def test_a_transaction_that_fails_leaves_nothing(place: Place, ledger: Ledger) -> None:
    before = filled(ledger, 2)[-1]
    with pytest.raises(ZeroDivisionError), ledger.transaction():
        ledger.append(purchase(7, "new"))
        assert ledger.append(purchase(8)).sequence == 4
        assert [e.sequence for e in ledger.entries(3)] == [3, 4]
        raise ZeroDivisionError
    assert place.open().head() == (3, before.hash)
    assert ledger.find("ann", "key 8") is None
    assert ledger.totals() == {"ann": Total(1, 10), "bob": Total(1, 20)}
    assert ledger.append(purchase(8)).sequence == 3
    assert ledger.verify().holds


def test_purchases_that_are_known_to_be_new_are_chained_inside_one_transaction(ledger: Ledger) -> None:
    with ledger.transaction():
        assert ledger.find("ann", "key 1") is None
        appended = [ledger.append(purchase(number), is_new=True) for number in (1, 2, 3)]
        assert ledger.total("ann") == (3, 60)
        assert ledger.head() == (4, appended[-1].hash)
    assert list(ledger.entries(1)) == appended
    assert ledger.verify().holds


def test_a_transaction_inside_another_joins_it(ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError), ledger.transaction():
        with ledger.transaction():
            ledger.append(purchase(1))
        raise ZeroDivisionError
    assert ledger.head().entries == 1


def test_a_key_that_was_used_does_not_end_the_transaction(ledger: Ledger) -> None:
    filled(ledger, 1)
    with ledger.transaction():
        with pytest.raises(KeyReusedError):
            ledger.append(purchase(1, request=Request({}, "MED", 0)))
        ledger.append(purchase(2))
    assert ledger.head().entries == 3


def test_what_is_read_in_a_transaction_stays_true_to_its_end(place: Place, ledger: Ledger) -> None:
    """Each thread sells number n only as entry n + 1, which it can only know if nobody comes between."""

    def sell(name: str) -> None:
        mine = place.open()
        for number in range(40):
            with mine.transaction():
                head = mine.head()
                entry = mine.append(purchase(number, name))
                assert (entry.sequence, entry.previous) == head

    together([lambda n=n: sell(f"buyer {n}") for n in range(3)])
    assert ledger.verify().head.entries == 121 and ledger.verify().holds


# ---- several at a time -----------------------------------------------------------------------------------------------


def together(works: list[Any]) -> None:
    """Run functions in threads, and fail with the first that fails."""
    failed: list[BaseException] = []

    def run(work: Any) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def test_threads_that_share_a_ledger_keep_one_chain(ledger: Ledger) -> None:
    def sell(name: str) -> None:
        for number in range(50):
            ledger.append(purchase(number, name))

    together([lambda n=n: sell(f"buyer {n}") for n in range(3)])
    assert ledger.verify().holds
    bought = Counter(e.purchase.buyer for e in ledger.entries(1))
    assert bought == {f"buyer {n}": 50 for n in range(3)}


def test_a_purchase_retried_by_many_threads_is_charged_once(place: Place, ledger: Ledger) -> None:
    hashes: list[str] = []
    together([lambda: hashes.append(place.open().append(purchase(1)).hash)] * 6)
    assert len(hashes) == 6 and len(set(hashes)) == 1
    assert ledger.total("ann") == (1, 10)


@pytest.fixture(params=["sqlite", POSTGRES])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a ledger that several processes may open."""
    sqlite = f"sqlite:///{tmp_path / 'shared.db'}"
    url: str = sqlite if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with closing(open_ledger(url, tmp_path)) as ledger:
        ledger.open(FINGERPRINT, SEED)
    return url


def run_processes(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, PROCESSES, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_processes_that_share_a_ledger_keep_one_chain(shared: str) -> None:
    run_processes("append", shared, 3, 60)
    with closing(open_ledger(shared, Path())) as ledger:
        assert ledger.verify().holds
        assert ledger.totals() == {f"buyer {n}": Total(60, sum(range(60))) for n in range(3)}
        assert [e.sequence for e in ledger.entries()] == list(range(181))


@pytest.mark.faults
def test_no_acknowledged_purchase_is_lost_when_processes_are_killed(shared: str) -> None:
    acknowledged = run_processes("kill", shared, 12, 2).split()
    assert len({line.split("-")[0] for line in acknowledged}) >= 12
    with closing(open_ledger(shared, Path())) as ledger:
        assert ledger.open(FINGERPRINT, SEED)
        verification = ledger.verify()
        assert verification.holds, verification.problem
        kept = {f"{e.purchase.idempotency_key}:{e.sequence}:{e.hash}" for e in ledger.entries(1)}
    assert set(acknowledged) <= kept
    assert len(kept) <= len(acknowledged) + 24  # each process killed has at most one that it could not acknowledge


# ---- what verification notices ---------------------------------------------------------------------------------------

OTHERS: dict[str, tuple[object, ...]] = {
    "previous": (GENESIS[1:] + "1", "", b"\xff", 7),
    "hash": ("f" * 64, "", b"\xff", 7),
    "buyer": ("eve", "", None, b"ann"),
    "idempotency_key": ("key 99", "", None, b"key"),
    "price": (99, -1, None, "free"),
    "details": ("{}", "", b"\xff\xfe", 7, "null"),
}


def test_every_field_of_a_record_is_tried() -> None:
    assert {"sequence", *OTHERS} == set(Record._fields)


@pytest.mark.parametrize("field", OTHERS)
def test_an_altered_field_is_noticed_and_its_entry_named(place: Place, ledger: Ledger, field: str) -> None:
    filled(ledger)
    for sequence in range(5):
        before = stored(ledger, sequence)
        for value in OTHERS[field]:
            if value != getattr(before, field) and place.can_hold(field, value):
                place.alter(sequence, field, value)
                verification = ledger.verify()
                assert verification.first_bad == sequence, value
                assert f"entry {sequence}" in str(verification.problem)
                assert verification.head == (sequence, before.previous)
                with pytest.raises(LedgerBrokenError):
                    list(ledger.entries())
        place.alter(sequence, field, getattr(before, field))
    assert ledger.verify().holds


def stored(ledger: Ledger, sequence: int) -> Record:
    with ledger._store() as store:
        record = store.record(sequence)
    assert record is not None
    return record


@pytest.mark.parametrize("member", ["answer", "attribute", "kind", "level", "rows", "salt", "time", "tuple", "version"])
def test_every_detail_of_a_purchase_is_covered_by_its_hash(place: Place, ledger: Ledger, member: str) -> None:
    filled(ledger)
    details = stored(ledger, 2).details
    assert details.count(f'"{member}":') == 1
    place.alter(2, "details", details.replace(f'"{member}":', f'"{member}x":'))
    assert ledger.verify().first_bad == 2


@pytest.mark.parametrize("sequence", range(5))
def test_a_removed_entry_is_named(place: Place, ledger: Ledger, sequence: int) -> None:
    filled(ledger)
    place.remove(sequence)
    verification = ledger.verify()
    assert verification.first_bad == sequence
    assert f"entry {sequence} is missing" in str(verification.problem)


def test_an_entry_that_was_removed_and_the_rest_moved_up_is_named(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    place.remove(2)
    place.alter(3, "sequence", 2)
    place.alter(4, "sequence", 3)
    assert ledger.verify().first_bad == 2


def test_entries_that_changed_places_are_named(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    for old, new in ((2, 99), (3, 2), (99, 3)):
        place.alter(old, "sequence", new)
    assert ledger.verify().first_bad == 2


@pytest.mark.parametrize("number", [-1, 77])
def test_an_entry_outside_the_chain_is_named(place: Place, ledger: Ledger, number: int) -> None:
    filled(ledger)
    place.alter(4, "sequence", number)
    place.set_head(Head(4, stored(ledger, 3).hash))
    assert ledger.verify().first_bad == (-1 if number < 0 else 4)


def test_a_cut_tail_is_seen_by_the_head_record(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    place.remove(3)
    place.remove(4)
    verification = ledger.verify()
    assert verification.first_bad == 3
    assert verification.problem == "entry 3 is missing: the head record counts 5 entries"
    with pytest.raises(LedgerBrokenError, match="entry 4 is missing"):
        ledger.append(purchase(9))
    with pytest.raises(LedgerBrokenError, match="entry 4 is missing"):
        place.open().open(FINGERPRINT, SEED)


def test_a_tail_cut_with_its_head_record_is_seen_only_by_a_head_noted_elsewhere(place: Place, ledger: Ledger) -> None:
    filled(ledger, 3)
    cut = ledger.append(purchase(4, "cut"))
    noted = ledger.head()
    place.remove(4)
    place.set_head(Head(4, cut.previous))
    place.set_total("cut", None)
    assert ledger.verify().holds
    verification = ledger.verify(noted)
    assert verification.problem == "entry 4 is missing: the head that was noted counts 5 entries"
    assert (verification.first_bad, verification.head) == (4, (4, cut.previous))


def test_a_history_that_was_rewritten_is_seen_by_a_head_noted_elsewhere(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    noted = Head(3, "f" * 64)
    assert ledger.verify(Head(3, stored(ledger, 2).hash)).holds
    assert ledger.verify(ledger.head()).holds
    assert ledger.verify(noted).first_bad == 2
    assert ledger.verify(Head(9, "f" * 64)).first_bad == 5


@pytest.mark.parametrize("head", [None, Head(4, "f" * 64), Head(5, "f" * 64), Head(6, "f" * 64), Head(0, GENESIS)])
def test_a_head_record_that_does_not_fit_is_noticed(place: Place, ledger: Ledger, head: Head | None) -> None:
    filled(ledger)
    place.set_head(head)
    assert not ledger.verify().holds
    with pytest.raises(LedgerBrokenError):
        ledger.append(purchase(9))
    with pytest.raises(LedgerBrokenError):
        ledger.open(FINGERPRINT, SEED)


def test_a_total_that_is_not_the_sum_is_noticed(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    place.set_total("ann", Total(2, 1))
    verification = ledger.verify()
    assert verification.problem == "the totals of 1 buyers are not the sums of their purchases"
    assert verification.head == ledger.head()


def test_an_altered_answer_is_not_given_to_a_retry(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    place.alter(1, "details", stored(ledger, 1).details.replace("ibuprofen", "hidden"))
    with pytest.raises(LedgerBrokenError, match="entry 1"):
        ledger.find("ann", "key 1")
    with pytest.raises(LedgerBrokenError, match="entry 1"):
        ledger.append(purchase(1))


def test_reading_on_from_an_entry_notices_that_the_one_before_is_gone(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    place.remove(2)
    with pytest.raises(LedgerBrokenError, match="entry 2 is missing"):
        list(ledger.entries(3))


# ---- secrets ---------------------------------------------------------------------------------------------------------


def test_no_repr_shows_a_value(ledger: Ledger) -> None:
    filled(ledger)
    shown = [
        ledger,
        *ledger.entries(),
        purchase(),
        Opening(FINGERPRINT, SEED),
        ledger.verify(),
        ledger.totals(),
        stored(ledger, 1),
    ]
    for thing in shown:
        for text in (repr(thing), str(thing), f"{thing}"):
            assert not any(secret in text for secret in SECRETS), text


def test_no_error_shows_a_value(place: Place, ledger: Ledger) -> None:
    filled(ledger)
    other = Request({"GEN": "hidden"}, "MED", 1)
    errors = [
        raised(lambda: ledger.append(purchase(1, request=other))),
        raised(lambda: ledger.find("ann", "key 1", other)),
        raised(lambda: ledger.open(FINGERPRINT, b"hidden")),
        raised(lambda: ledger.append(purchase(8, answer="hidden \ud800"))),
        raised(lambda: ledger.find("hidden\ud800", "key")),
        raised(lambda: ledger.total("hidden\ud800")),
        raised(lambda: purchase(1, price="hidden")),
        raised(lambda: purchase(1, rows=("hidden",))),
    ]
    place.alter(2, "details", b"hidden \xff" if place.can_hold("details", b"") else "hidden")
    errors += [raised(lambda: list(ledger.entries())), raised(lambda: ledger.find("bob", "key 2"))]
    for error in errors:
        chain = [error, error.__cause__, None if error.__suppress_context__ else error.__context__]
        assert not any(secret in str(e) for e in chain if e for secret in SECRETS), chain
        assert "\n" not in str(error)


def raised(work: Any) -> BaseException:
    with pytest.raises(PacasError) as caught:
        work()
    return caught.value


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"buyer": ""},
        {"buyer": "x" * 257},
        {"buyer": "a\nb"},
        {"buyer": "\ud800"},
        {"idempotency_key": ""},
        {"idempotency_key": "\x00"},
        {"price": -1},
        {"price": LARGEST + 1},
        {"price": 1.0},
        {"price": True},
        {"rows": (3, 3)},
        {"rows": (4, 3)},
        {"rows": (-1,)},
        {"rows": (1.0,)},
        {"request": Request({}, "MED", -1)},
    ],
)
def test_a_purchase_that_no_store_could_keep_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        purchase(1, **changes)


def test_text_that_is_not_unicode_is_refused_and_nothing_is_written(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="not valid Unicode"):
        ledger.append(purchase(1, request=Request({"GEN": "\udfff"}, "MED", 1)))
    assert ledger.head().entries == 1


@pytest.mark.parametrize("digest", ["", "xyz", "ABCD", "abc"])
def test_a_fingerprint_is_of_hex_digests(digest: str) -> None:
    with pytest.raises(InputError, match="fingerprint of relation"):
        Opening({"relation": digest}, SEED)


# ---- the encoding ----------------------------------------------------------------------------------------------------


def test_the_encoding_is_the_documented_one(ledger: Ledger) -> None:
    """These texts and hashes are in ledgers; if this test fails, the encoding needs a new version."""
    ledger.append(purchase(1, answer='é"\n😀', request=Request({"b": None, "a": "1"}, "MED", 2)))
    opening, bought = stored(ledger, 0), stored(ledger, 1)
    digests = ",".join(f'"{part}":"{FINGERPRINT[part]}"' for part in sorted(FINGERPRINT))
    ends = '"time":1800000000,"version":2'
    assert opening.details == f'{{"fingerprint":{{{digests}}},"kind":"opening","seed":"{SEED.hex()}",{ends}}}'
    assert bought.details == (
        '{"answer":"é\\"\\n😀","attribute":"MED","kind":"purchase","level":2,"rows":[3,1,86],'
        '"salt":"cbcc50ffc4ecbe89b1c3f19af1c6f06e","time":1800000000,"tuple":{"a":"1","b":null},"version":2}'
    )
    texts = [
        f"pacas ledger entry 2\n{GENESIS}\n0\n\n\n\n{opening.details}",
        f"pacas ledger entry 2\n{opening.hash}\n1\nann\nkey 1\n10\n{bought.details}",
    ]
    assert [opening.hash, bought.hash] == [sha256(text.encode()).hexdigest() for text in texts]


def test_a_ledger_of_version_1_is_read_and_goes_on_in_version_2(place: Place) -> None:
    """These texts and hashes are in ledgers of earlier releases."""
    ledger = place.open()
    ledger._clock = None
    ledger.open(FINGERPRINT, SEED)
    earlier = ledger.append(purchase(1, answer='é"\n😀', request=Request({"b": None, "a": "1"}, "MED", 2)))
    assert stored(ledger, 1).details == (
        '{"answer":"é\\"\\n😀","attribute":"MED","kind":"purchase","level":2,"rows":[3,1,86],'
        '"salt":"cbcc50ffc4ecbe89b1c3f19af1c6f06e","tuple":{"a":"1","b":null}}'
    )
    assert (stored(ledger, 0).hash, earlier.hash) == (
        "19476311075b22b2112e4e8d624f11442a782947c5442e1608974ec4168dda25",
        "3d079ff0808f171b2b1d6976182b9f1db4b2475c713bee3512a0236a2cb96e4c",
    )
    ledger._clock = lambda: TIME
    ledger.open(FINGERPRINT, SEED)
    ledger.append(purchase(2))
    assert [entry.payload.time for entry in ledger.entries()] == [None, None, TIME]
    assert ledger.verify().holds


@pytest.mark.parametrize("time", ["null", '"now"', "1.5", "true", "-1"])
def test_a_time_that_is_none_is_not_read(place: Place, ledger: Ledger, time: str) -> None:
    """Not even where the hash is right: whoever writes the chain anew writes no entry that is none."""
    ledger.append(purchase())
    record = stored(ledger, 1)
    altered = record._replace(details=record.details.replace(str(TIME), time))
    place.alter(1, "details", altered.details)
    place.alter(1, "hash", altered.rehashed())
    place.set_head(Head(2, altered.rehashed()))
    with pytest.raises(LedgerBrokenError, match="entry 1 is of a kind or version not known here"):
        list(ledger.entries())


def test_every_kind_of_ledger_writes_the_same_chain(ledger: Ledger) -> None:
    filled(ledger)
    with closing(MemoryLedger(lambda: TIME)) as other:
        other.open(FINGERPRINT, SEED)
        filled(other)
        assert [e.hash for e in ledger.entries()] == [e.hash for e in other.entries()]


def test_equal_purchases_have_hashes_that_tell_nothing_of_each_other(ledger: Ledger) -> None:
    for number in (1, 2):
        ledger.append(purchase(1, idempotency_key=f"key {number}"))
    salts = {stored(ledger, n).details.split('"salt":"')[1][:32] for n in (1, 2)}
    assert len(salts) == 2


def test_entries_can_be_sent_between_processes(ledger: Ledger) -> None:
    entries = filled(ledger)
    assert pickle.loads(pickle.dumps(entries)) == entries
