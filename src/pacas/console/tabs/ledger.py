"""Ledger: entries without what was asked and answered, whether the chain holds, and what others have noted of it."""

from __future__ import annotations

from itertools import islice
from math import ceil
from typing import NamedTuple

from starlette.responses import Response
from starlette.routing import Route

from pacas.console.board import Board
from pacas.console.visits import Visit, Visits, redirect
from pacas.errors import FileError, InputError, LedgerBrokenError
from pacas.protocol.receipt import SignedReceipt
from pacas.provider.ledger.account_history import changed_words
from pacas.provider.ledger.chain import noted_head
from pacas.provider.ledger.entry import AcceptedTerms, Entry, Purchase
from pacas.provider.ledger.ledger import Ledger
from pacas.wire.receipt_file import read_receipts
from pacas.wire.signatures import verify

PAGE = 50
"""Entries on a page."""
MOST = 1000
"""Receipts that are compared at once."""


class Line(NamedTuple):
    """An entry, without what it is about whom."""

    sequence: int
    time: int | None
    buyer: str
    attribute: str
    """Where there is no level: what happened instead of a sale."""
    level: int | None
    price: int
    hash: str


class Compared(NamedTuple):
    """What came of a comparison."""

    holds: bool
    text: str


def routes(board: Board, visits: Visits) -> list[Route]:
    ledger = board.service.provider.ledger

    async def entries(visit: Visit) -> Response:
        return await _page(board, visit)

    async def verify_now(visit: Visit) -> Response:
        verified = await board.ask(board.figures.verify)
        board.note(visit, "verify", holds=verified.found.holds, entries=verified.found.head.entries)
        if verified.found.holds:
            visit.session.say(f"All {verified.found.head.entries:,} entries are as they were written.")
        else:
            visit.session.say(f"The ledger does not hold: {verified.found.problem}.", "bad")
        return redirect("/ledger")

    async def compare(visit: Visit) -> Response:
        pasted = visit.form.get("pasted", "").strip()
        if not pasted:
            raise InputError("paste a head (ENTRIES:HASH) or a receipt (JSON) to compare with")
        if (noted := noted_head(pasted)) is not None:
            found = await board.ask(lambda: ledger.verify(noted))
            text = (
                f"The ledger still has this head: entry {noted.entries - 1:,} is the one that was noted, and all "
                f"{found.head.entries:,} entries follow from it."
            )
            compared = [Compared(True, text) if found.holds else Compared(False, f"It does not: {found.problem}.")]
        else:
            compared = await board.ask(lambda: _compare_receipts(board, pasted))
        board.note(visit, "compare", holds=all(one.holds for one in compared))
        return await _page(board, visit, compared)

    return [
        visits.get("/ledger", entries),
        visits.post("/ledger/verify", verify_now),
        visits.post("/ledger/compare", compare),
    ]


async def _page(board: Board, visit: Visit, compared: list[Compared] | None = None) -> Response:
    head = await board.ask(board.service.provider.ledger.head)
    pages = max(1, ceil((head.entries - 1) / PAGE))
    number = min(max(1, visit.number("page", 1)), pages)
    last = head.entries - 1 - (number - 1) * PAGE
    first = max(1, last - PAGE + 1)
    lines, problem = await board.ask(lambda: _lines(board.service.provider.ledger, first, last))
    return board.page(
        visit,
        "ledger.html",
        head=head,
        verified=board.figures.verified,
        lines=lines[::-1],
        problem=problem,
        number=number,
        pages=pages,
        compared=compared,
        key_id=board.service.signing.key_id,
    )


def _lines(ledger: Ledger, first: int, last: int) -> tuple[list[Line], str | None]:
    """Some entries, as far as the chain holds between them, and what is wrong after that."""
    found: list[Line] = []
    try:
        for entry in islice(ledger.entries(first), last - first + 1):
            found.append(_line(entry))
    except LedgerBrokenError as error:
        return found, error.problem
    return found, None


def _line(entry: Entry) -> Line:
    told = entry.about_buyer
    if not isinstance(told, Purchase):
        what = "terms accepted" if isinstance(told, AcceptedTerms) else changed_words(told)
        return Line(entry.sequence, told.time, told.buyer, what, None, 0, entry.hash)
    asked = told.request
    return Line(entry.sequence, told.time, told.buyer, asked.attribute, asked.level, told.price, entry.hash)


def _compare_receipts(board: Board, pasted: str) -> list[Compared]:
    """Whether receipts are signed here, and what the ledger has under their names."""
    try:
        receipts = read_receipts(pasted.encode("utf-8", "replace"), "what was pasted")
    except FileError as error:
        raise InputError(f"{error}; or a head, ENTRIES:HASH") from None
    if len(receipts) > MOST:
        raise InputError(f"these are {len(receipts):,} receipts; compare at most {MOST:,} at once")
    return [_compare(board, signed) for signed in receipts]


def _compare(board: Board, signed: SignedReceipt) -> Compared:
    receipt = signed.receipt
    name = f"Receipt of entry {receipt.sequence:,}"
    if not verify(signed, board.service.signing.public_key_of(signed.key_id)):
        return Compared(False, f"{name}: it was altered, or another key than {board.service.signing.key_id} signed it.")
    try:
        entry = board.service.provider.ledger.find(receipt.account, receipt.idempotency_key)
    except InputError:  # a name that no entry can have
        entry = None
    if entry is None:
        return Compared(False, f"{name}: it was signed here, and the ledger has no such purchase.")
    if not _is_same(signed, entry.purchase, entry):
        return Compared(False, f"{name}: it was signed here, and the ledger's entry {entry.sequence:,} says otherwise.")
    return Compared(True, f"{name}: signed here, and the ledger has the very same, with this hash.")


def _is_same(signed: SignedReceipt, sold: Purchase, entry: Entry) -> bool:
    receipt, asked = signed.receipt, sold.request
    return (
        (receipt.sequence, receipt.hash, receipt.price, receipt.answer, receipt.time)
        == (entry.sequence, entry.hash, sold.price, sold.answer, sold.time)
        and (receipt.attribute, receipt.level) == (asked.attribute, asked.level)
        and dict(receipt.tuple) == dict(asked.tuple)
    )
