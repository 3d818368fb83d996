"""What a ledger's entries say, and the text and hash they are kept as.

**Encoding, version 2.** The hash of an entry is the SHA-256, in lower-case hex, of this text in UTF-8:

    "pacas ledger entry 2" LF previous LF sequence LF buyer LF key LF price LF details

`previous` is the hash of the entry before, `sequence` and `price` (nanocredits) are decimal. Names hold no line breaks;
an opening has none, and no price: its lines are empty. `details` is one JSON object: members sorted by code point, no
white space, whole numbers only, and only `"`, `\\` and the characters below U+0020 escaped. Its members are

- opening: `fingerprint` (name → lower-case hex), `kind` ("opening"), `seed` (hex), `time`, `version` (2);
- purchase: `answer`, `attribute`, `kind` ("purchase"), `level`, `list` (its list price in nanocredits; only where a
  schedule of rates applies), `rows` (the first row number and then the gaps between them; null where equality finds
  them again at once), `salt` (hex), `time`, `tuple` (column → text or null), `version` (2);
- terms that a buyer has accepted, whose price is 0: `kind` ("terms"), `prepaid` (nanocredits), `salt` (hex),
  `schedule` (pairs of list nanocredits and hundredths of a per cent), `time`, `until` (when they end, or null),
  `version` (2);
- a change of the account that the buyer is, whose price is 0: `account` (what it is now), `before` (what it was, or
  null), `kind` ("account"), `salt` (hex), `time`, `version` (2). Both are objects of `credit` (nanocredits or null),
  `expires`, `previous`, `previous_expires`, `quotes_per_minute`, `revoked`, `role` and `token`, the tokens as SHA-256
  of "pacas account token" LF and the token's own, in hex, and `certificate` (its SHA-256), if it is bound to one; where
  they are the same, the account is only entered.

`time` is when it was written: whole seconds since 1970, UTC. **Version 1** has neither it nor `version`, and its text
begins with "pacas ledger entry 1"; a chain may go over from one to the other. A ledger without a clock writes it still.

The opening's previous hash is 64 zeros. The salt follows from the secret seed and the sequence number, so that a hash
can be published: nobody can find a value by hashing guesses.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate
from operator import lt, sub
from typing import Any, NamedTuple, cast

from pydantic_core import PydanticSerializationError, to_json

from pacas.core.rates.schedule import Schedule
from pacas.core.rates.tab import AgreedTerms, Tab
from pacas.errors import InputError
from pacas.protocol.messages import LARGEST, Request
from pacas.protocol.names import check_buyer, check_key, check_name
from pacas.provider.ledger.account_change import AccountChange

GENESIS = "0" * 64
"""The previous hash of entry 0."""

NOTHING_BOUGHT = Tab()
_DIGEST = re.compile(r"(?:[0-9a-f]{2})+")
_ENTRY, _TIMED, _SALT = (sha256(b"pacas ledger %b\n" % what) for what in (b"entry 1", b"entry 2", b"salt"))
"""How the texts that are hashed begin: to go on from a copy takes a third of the time that a new hash would."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Entry 0: the fingerprint (part → hex digest) of what is sold from, and the support set's secret seed."""

    fingerprint: Mapping[str, str] = field(repr=False)
    seed: bytes = field(repr=False)
    time: int | None = field(default=None, compare=False)
    """When it was written, in seconds since 1970; None in version 1."""

    def __post_init__(self) -> None:
        _check_time(self.time)
        for name, digest in self.fingerprint.items():
            check_name(name, "a part of the fingerprint")
            if not _DIGEST.fullmatch(digest):
                raise InputError(f"the fingerprint of {name} must be a hex digest in lower case")
        object.__setattr__(self, "fingerprint", dict(self.fingerprint))

    def changed(self, now: Opening) -> list[str]:
        """The parts that are not what they were, by name; a part that came or went is one of them."""
        names = dict.fromkeys([*self.fingerprint, *now.fingerprint])
        parts = [name for name in names if self.fingerprint.get(name) != now.fingerprint.get(name)]
        return parts if hmac.compare_digest(self.seed, now.seed) else [*parts, "seed"]


@dataclass(frozen=True, slots=True)
class Purchase:
    """Who bought what, at what price in nanocredits, and what was answered; `rows` are the matched row numbers."""

    buyer: str
    idempotency_key: str = field(repr=False)
    request: Request = field(repr=False)
    price: int
    answer: str = field(repr=False)
    rows: tuple[int, ...] | None = field(default=None, repr=False)
    time: int | None = field(default=None, compare=False)
    """When it was written, in seconds since 1970; None in version 1."""
    listed: int | None = None
    """Its list price in nanocredits, where a schedule says what that costs; None: the price itself."""

    @property
    def list_price(self) -> int:
        return self.price if self.listed is None else self.listed

    def __post_init__(self) -> None:
        _check_time(self.time)
        if self.listed is not None:
            _check_number(self.listed, "a list price in nanocredits")
        check_buyer(self.buyer)
        check_key(self.idempotency_key)
        _check_number(self.price, "a price in nanocredits")
        _check_number(self.request.level, "a level")
        if self.rows is not None:
            _check_rows(self.rows)


@dataclass(frozen=True, slots=True)
class AcceptedTerms:
    """A buyer has accepted an offer, and buys on its terms from then on; `key` is the offer's among the buyer's."""

    buyer: str
    key: str
    agreed: AgreedTerms
    time: int | None = field(default=None, compare=False)
    """When it was written, in seconds since 1970; None where nobody tells the time."""

    def __post_init__(self) -> None:
        _check_time(self.time)
        _check_time(self.agreed.until)
        check_buyer(self.buyer)
        check_key(self.key)
        _check_number(self.agreed.prepaid, "what is prepaid, in nanocredits,")


AboutBuyer = Purchase | AcceptedTerms | AccountChange
"""What an entry after the opening says of a buyer."""


def put_on_tab(tabs: dict[str, Tab], told: AboutBuyer) -> None:
    """Put the next entry on its buyer's tab."""
    tab = tabs.get(told.buyer, NOTHING_BOUGHT)
    if isinstance(told, AcceptedTerms):
        tabs[told.buyer] = tab.agree(told.agreed, told.time)
    elif isinstance(told, Purchase):
        tabs[told.buyer] = tab.bought(told.list_price, told.time)


class Record(NamedTuple):
    """An entry as it is stored: the columns of its row."""

    sequence: int
    previous: str
    hash: str
    buyer: str | None
    idempotency_key: str | None
    price: int | None
    details: str

    def __repr__(self) -> str:
        return f"Record(sequence={self.sequence})"

    @property
    def is_terms(self) -> bool:
        """Is it no purchase, but terms? `kind` is the first member of these alone."""
        return self.details.startswith(_TERMS)

    @property
    def is_account(self) -> bool:
        """Is it no purchase, but a change of an account? `account` is the first member of these alone."""
        return self.details.startswith(_ACCOUNT)

    def rehashed(self) -> str:
        """The hash of what the record says, which is its hash if it is as it was written."""
        buyer, key, price = (self.buyer, self.idempotency_key, self.price) if self.sequence else ("", "", "")
        return _hash(self.sequence, self.previous, buyer, key, price, self.details)


class Entry(NamedTuple):
    """One line of the ledger, and the hashes that chain it to the line before."""

    sequence: int
    previous: str
    hash: str
    payload: Opening | AboutBuyer

    @property
    def purchase(self) -> Purchase:
        """The purchase that it is; entry 0 is none, nor are terms and changes of accounts."""
        if not isinstance(self.payload, Purchase):
            raise InputError(f"entry {self.sequence} is no purchase")
        return self.payload

    @property
    def about_buyer(self) -> AboutBuyer:
        """What it says of a buyer; entry 0 is about none."""
        if isinstance(self.payload, Opening):
            raise InputError(f"entry {self.sequence} is the opening, and about no buyer")
        return self.payload


def opening_record(opening: Opening) -> Record:
    """Entry 0 as it is stored."""
    details = _canonical(
        {"fingerprint": dict(sorted(opening.fingerprint.items())), "kind": "opening", "seed": opening.seed.hex()}
        | ({} if opening.time is None else {"time": opening.time, "version": 2})
    )
    return Record(0, GENESIS, _hash(0, GENESIS, "", "", "", details), None, None, None, details)


def purchase_record(purchase: Purchase, sequence: int, previous: str, seed: bytes) -> Record:
    """A purchase as it is stored after the entry with the hash `previous`."""
    request = purchase.request
    details = _canonical(
        {
            "answer": purchase.answer,
            "attribute": request.attribute,
            "kind": "purchase",
            "level": request.level,
            **({} if purchase.listed is None else {"list": purchase.listed}),
            "rows": None if purchase.rows is None else _gaps(purchase.rows),
            "salt": _salt(seed, sequence),
            **({} if purchase.time is None else {"time": purchase.time}),
            "tuple": dict(sorted(request.tuple.items())),
            **({} if purchase.time is None else {"version": 2}),
        }
    )
    named = (purchase.buyer, purchase.idempotency_key, purchase.price)
    return Record(sequence, previous, _hash(sequence, previous, *named, details), *named, details)


def terms_record(agreement: AcceptedTerms, sequence: int, previous: str, seed: bytes) -> Record:
    """Terms as they are stored after the entry with the hash `previous`."""
    agreed = agreement.agreed
    details = _canonical(
        {
            "kind": "terms",
            "prepaid": agreed.prepaid,
            "salt": _salt(seed, sequence),
            "schedule": agreed.schedule.pairs(),
            **({} if agreement.time is None else {"time": agreement.time}),
            "until": agreed.until,
            **({} if agreement.time is None else {"version": 2}),
        }
    )
    named = (agreement.buyer, agreement.key, 0)
    return Record(sequence, previous, _hash(sequence, previous, *named, details), *named, details)


def account_record(change: AccountChange, sequence: int, previous: str, seed: bytes) -> Record:
    """A change of an account as it is stored after the entry with the hash `previous`."""
    details = _canonical(
        {
            "account": change.after.members(),
            "before": None if change.before is None else change.before.members(),
            "kind": "account",
            "salt": _salt(seed, sequence),
            **({} if change.time is None else {"time": change.time, "version": 2}),
        }
    )
    named = (change.buyer, change.key, 0)
    return Record(sequence, previous, _hash(sequence, previous, *named, details), *named, details)


def entry_of(record: Record) -> Entry:
    """The entry that a record keeps; a ValueError if it keeps none that is known here."""
    details = json.loads(record.details)
    payload: Opening | AboutBuyer
    try:
        if record.is_terms and record.sequence:
            payload = _agreement(record, details)
        elif record.is_account and record.sequence:
            payload = _account_change(record, details)
        else:
            payload = _purchase(record, details) if record.sequence else _opening(details)
    except (InputError, KeyError, TypeError, AttributeError):
        raise ValueError("members that are missing or wrong") from None
    return Entry(record.sequence, record.previous, record.hash, payload)


def _hash(sequence: int, previous: str, buyer: object, key: object, price: object, details: str) -> str:
    text = f"{previous}\n{sequence}\n{buyer}\n{key}\n{price}\n{details}"
    hashed = (_TIMED if text.endswith(_OF_VERSION_2) else _ENTRY).copy()
    hashed.update(text.encode())
    return hashed.hexdigest()


_OF_VERSION_2 = ',"version":2}'
"""How its details end: `version` is the last member, and of version 1 it is `tuple`, `seed`, `until` or `salt`."""
_TERMS = '{"kind":"terms",'
_ACCOUNT = '{"account":'


def _opening(details: dict[str, Any]) -> Opening:
    _check_kind(details, "opening")
    return Opening(details["fingerprint"], bytes.fromhex(details["seed"]), _time(details))


def _purchase(record: Record, details: dict[str, Any]) -> Purchase:
    _check_kind(details, "purchase")
    request = Request(details["tuple"], details["attribute"], details["level"])
    rows = None if details["rows"] is None else tuple(accumulate(details["rows"]))
    named = cast(tuple[str, str, int], (record.buyer, record.idempotency_key, record.price))
    time, listed = _time(details), details.get("list")
    return Purchase(named[0], named[1], request, named[2], details["answer"], rows, time, listed)


def _agreement(record: Record, details: dict[str, Any]) -> AcceptedTerms:
    _check_kind(details, "terms")
    named = cast(tuple[str, str], (record.buyer, record.idempotency_key))
    agreed = AgreedTerms(Schedule.of_pairs(details["schedule"]), details["prepaid"], details["until"])
    return AcceptedTerms(*named, agreed, _time(details))


def _account_change(record: Record, details: dict[str, Any]) -> AccountChange:
    _check_kind(details, "account")
    named = cast(tuple[str, str], (record.buyer, record.idempotency_key))
    return AccountChange.read(*named, details, _time(details))


def _time(details: dict[str, Any]) -> int | None:
    """When an entry was written; a ValueError if it is of a version that is not known here."""
    version, time = details.get("version", 1), details.get("time")
    if (version, type(time)) not in ((1, type(None)), (2, int)):
        raise ValueError("a version that is not known")
    return cast("int | None", time)


def _check_kind(details: dict[str, Any], kind: str) -> None:
    if details["kind"] != kind:
        raise ValueError(f"not a {kind}")


def _canonical(details: dict[str, Any]) -> str:
    """The one text of an entry's details, whose members come sorted. A lone surrogate has no UTF-8, and is refused."""
    try:
        return to_json(details).decode()
    except (PydanticSerializationError, UnicodeEncodeError):
        raise InputError("a purchase holds text that is not valid Unicode") from None


def _salt(seed: bytes, sequence: int) -> str:
    hashed = _SALT.copy()
    hashed.update(b"%d\n%b" % (sequence, seed))
    return hashed.hexdigest()[:32]


def _gaps(rows: tuple[int, ...]) -> list[int]:
    return [*rows[:1], *map(sub, rows[1:], rows)]


def _check_number(number: int, what: str) -> None:
    if type(number) is not int or not 0 <= number <= LARGEST:
        raise InputError(f"{what} must be a whole number from 0 to {LARGEST}")


def _check_time(time: int | None) -> None:
    if time is not None:
        _check_number(time, "a time in seconds")


def _check_rows(rows: tuple[int, ...]) -> None:
    if set(map(type, rows)) - {int} or not all(map(lt, (-1, *rows), rows)):
        raise InputError("row numbers must be whole, not negative, and rise")
