"""Whether a ledger's records are the history that was written: every entry, unaltered, in its place.

From inside, a ledger shows an entry that is altered, missing, inserted or moved, and a cut tail as long as the head
record was not cut with it. Whoever can write where it is kept can still write a whole new history, or put back an old
copy; only a `Head` noted elsewhere shows that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from pacas.errors import InputError, LedgerBrokenError, LedgerWentBackError
from pacas.protocol.messages import LARGEST
from pacas.provider.ledger.accounts import Account
from pacas.provider.ledger.entry import GENESIS, Entry, Record, entry_of

PAGE = 1000
"""Records that are held in memory at a time."""


class Head(NamedTuple):
    """How many entries there are, and the hash of the last: what to note elsewhere, to compare with later."""

    entries: int
    hash: str


Link = tuple[int, str, str]
"""What chains a record: its sequence number, the hash of the one before it, and its own."""
EMPTY = Head(0, GENESIS)
_NOTED = re.compile(r"(\d{1,18}):([0-9a-f]{64})", re.ASCII)


def noted_head(text: str) -> Head | None:
    """A head as `pacas audit` and the console print it, ENTRIES:HASH; None if the text is none.

    >>> noted_head(f" 3:{'AB' * 32} ")
    Head(entries=3, hash='abababababababababababababababababababababababababababababababab')
    """
    found = _NOTED.fullmatch(text.strip().lower())
    return None if found is None else Head(int(found[1]), found[2])


Visit = Callable[[Entry], None]


class Total(NamedTuple):
    """What one buyer has bought: how many purchases, and their prices together in nanocredits."""

    purchases: int = 0
    spent: int = 0

    def plus(self, price: int) -> Total:
        """The total after one more purchase."""
        if self.spent + price > LARGEST:
            raise InputError(f"a buyer's purchases together must cost at most {LARGEST} nanocredits")
        return Total(self.purchases + 1, self.spent + price)


@dataclass(frozen=True, slots=True)
class Verification:
    """How far the chain holds, and the first thing that is wrong with it."""

    head: Head
    problem: str | None = None
    first_bad: int | None = None
    accounts: tuple[Account, ...] = field(default=(), repr=False, compare=False)
    """The accounts as they were beside it at that moment, if it holds."""

    @property
    def holds(self) -> bool:
        return self.problem is None


class Records(Protocol):
    """What is stored, as it is read: the records, how many there should be, and the totals."""

    def page(self, start: int, limit: int) -> list[Record]:
        """The first `limit` records from sequence number `start` on, in order."""

    def head(self) -> Head | None:
        """The head record, or None if it is not there."""

    def totals(self) -> dict[str, Total]:
        """The total of every buyer."""

    def accounts(self) -> list[Account]:
        """All accounts that are kept beside the records, by name in order."""

    def damage(self) -> str | None:
        """What is wrong with the store itself, such as an index that does not fit its table."""


def records_from(store: Records, start: int) -> Iterator[Record]:
    """All records from a sequence number on, a page at a time."""
    while page := store.page(start, PAGE):
        yield from page
        start = page[-1].sequence + 1


def check_link(record: Record, after: Head) -> None:
    """The record is the next entry after the head given, as it was written."""
    if record.sequence != after.entries:
        stray = record.sequence < after.entries
        what = f"entry {record.sequence} belongs to no history" if stray else f"entry {after.entries} is missing"
        raise LedgerBrokenError(what, min(record.sequence, after.entries))
    if record.previous != after.hash:
        raise LedgerBrokenError(f"entry {record.sequence} does not follow the one before it", record.sequence)
    check_record(record)


def check_record(record: Record) -> None:
    """The record says what was hashed."""
    is_named = (record.buyer is not None, record.idempotency_key is not None, record.price is not None)
    if record.hash != record.rehashed() or is_named != (bool(record.sequence),) * 3:
        raise LedgerBrokenError(f"entry {record.sequence} is altered or moved", record.sequence)


def checked_entry(record: Record) -> Entry:
    """The entry that a record keeps, if the record says what was hashed."""
    check_record(record)
    return known_entry(record)


def known_entry(record: Record) -> Entry:
    """The entry that a checked record keeps."""
    try:
        return entry_of(record)
    except ValueError:
        problem = f"entry {record.sequence} is of a kind or version not known here"
        raise LedgerBrokenError(problem, record.sequence) from None


def head_record(store: Records) -> Head:
    """The head record, which every ledger has."""
    head = store.head()
    if head is None:
        raise LedgerBrokenError("the head record is missing")
    return head


def check_holds(head: Head, known: Head, then: Record | None) -> None:
    """A ledger with this head holds all that was known of it; `then` is the entry after that, where there is one.

    Counts alone would not tell: an older copy may have grown again to as many entries.
    """
    if head.entries < known.entries:
        raise LedgerWentBackError(f"it counts {head.entries} entries, and {known.entries} were known")
    followed = head if then is None else Head(then.sequence, then.previous)
    if followed.entries == known.entries and followed.hash != known.hash:
        raise LedgerWentBackError(f"entry {known.entries - 1} is not the one that was known")


def last_head(store: Records) -> Head:
    """The head record, compared with the last entry: a chain that is broken at its end is never continued."""
    head = head_record(store)
    last = store.page(head.entries - 1, 2)
    for found in last[1 if head.entries else 0 :]:
        raise LedgerBrokenError(f"entry {found.sequence} is not counted by the head record", found.sequence)
    if head.entries and (not last or last[0].sequence != head.entries - 1):
        raise LedgerBrokenError(f"entry {head.entries - 1} is missing", head.entries - 1)
    if head.hash != (last[0].hash if last else GENESIS):
        raise LedgerBrokenError("the head record is not that of the last entry", max(head.entries - 1, 0))
    return head


def verify_chain(store: Records, noted: Head | None = None, visit: Visit | None = None) -> Verification:
    """Check every record, the head record and the totals; and the head that was noted earlier, if there is one.

    `visit` is shown each entry that holds, in order.
    """
    walk = _Walk(noted, visit)
    try:
        walk.over(records_from(store, -LARGEST))
        walk.end(store)
    except LedgerBrokenError as error:
        return Verification(walk.head, error.problem, error.sequence)
    return Verification(walk.head, accounts=tuple(store.accounts()))


class _Walk:
    """One pass over the records, as far as they hold."""

    def __init__(self, noted: Head | None, visit: Visit | None) -> None:
        self.head = EMPTY
        self._noted, self._visit = noted, visit
        self._totals: dict[str, tuple[int, int]] = {}

    def over(self, records: Iterable[Record]) -> None:
        for record in records:
            check_link(record, self.head)
            if self._visit is not None:
                self._visit(known_entry(record))
            self.head = Head(record.sequence + 1, record.hash)
            if self._noted is not None and self._noted.entries == self.head.entries:
                self._compare_with_noted(self._noted)
            if record.buyer is not None and record.price is not None and not record.is_account:
                purchases, spent = self._totals.get(record.buyer, (0, 0))
                self._totals[record.buyer] = (purchases + (not record.is_terms), spent + record.price)

    def end(self, store: Records) -> None:
        self._compare_with_head_record(head_record(store))
        self._compare_totals(store.totals())
        if self._noted is not None and self._noted.entries > self.head.entries:
            self._missing(f"the head that was noted counts {self._noted.entries}")
        if damage := store.damage():
            raise LedgerBrokenError(damage)

    def _compare_with_noted(self, noted: Head) -> None:
        if noted.hash != self.head.hash:
            raise LedgerBrokenError(
                f"entry {noted.entries - 1} is not the one whose hash was noted: the history was rewritten up to it",
                noted.entries - 1,
            )

    def _compare_with_head_record(self, head: Head) -> None:
        if head.entries > self.head.entries:
            self._missing(f"the head record counts {head.entries}")
        if head != self.head:
            last = max(self.head.entries - 1, 0)
            raise LedgerBrokenError(f"the head record is not that of the last entry, {last}", last)

    def _compare_totals(self, totals: Mapping[str, Total]) -> None:
        wrong = [buyer for buyer in {**self._totals, **totals} if self._totals.get(buyer) != totals.get(buyer)]
        if wrong:
            raise LedgerBrokenError(f"the totals of {len(wrong)} buyers are not the sums of their purchases")

    def _missing(self, because: str) -> None:
        raise LedgerBrokenError(f"entry {self.head.entries} is missing: {because} entries", self.head.entries)
