"""The ledger as a log: what a Merkle tree adds to an entry, to the start of a service, and to verifying receipts."""

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pacas
from pacas.protocol.messages import Request
from pacas.protocol.receipt import Receipt
from pacas.provider.ledger.chain import EMPTY
from pacas.provider.ledger.entry import Purchase
from pacas.server.signing_key import SigningKey
from pacas.server.tree_log import TreeLog
from pacas.storage.sqlite.ledger import SqliteLedger
from pacas.wire.shapes.receipts import ReceiptDocument

INTRODUCTION = """
Entries are appended to a SQLite ledger in one commit, and then taken into the tree; seconds of this process's CPU, as
others run beside it. A receipt of a service has a signature, a head signed for it alone, and an inclusion proof.
""".strip()


def chapter(folder: Path, *, small: bool) -> str:
    entries, receipts = (2_000, 200) if small else (100_000, 10_000)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place, closing(SqliteLedger(Path(place) / "ledger.db")) as ledger:
        ledger.open({"relation": "ab"}, bytes(32))
        bought = Purchase("ann", "k", Request({"GEN": "male", "AGE": "51"}, "MED", 1), 1, "NSAID")
        start = time.process_time()
        with ledger.transaction():
            for number in range(entries):
                ledger.append(replace(bought, idempotency_key=f"k{number}"))
        appended = time.process_time() - start
        key = SigningKey.generate()
        log = TreeLog(ledger, key)
        start = time.process_time()
        log.head()
        taken_in = time.process_time() - start
        kept = Path(place) / "receipts"
        kept.mkdir()
        (Path(place) / "key.pem").write_text(key.public_key)
        selling = TreeLog(ledger, key)  # as it was before the last were sold: each gets a head of its own
        hashes = [one for some in ledger.hashes_after(EMPTY) for one in some]
        selling._extend(hashes[: entries + 1 - receipts])
        last = list(ledger.entries(entries + 1 - receipts))
        start = time.process_time()
        for entry in last:
            sold = entry.purchase
            named = (sold.buyer, sold.request.attribute, sold.request.tuple, 1, sold.answer, sold.price)
            receipt = Receipt(*named, sold.idempotency_key, entry.sequence, entry.hash, sold.time)
            signed = replace(key.sign(receipt), logged=selling.logged(entry))
            (kept / f"{entry.sequence:08}.json").write_text(ReceiptDocument.of(signed).model_dump_json())
        made = time.process_time() - start
        start = time.process_time()
        assert pacas.verify(kept, Path(place) / "key.pem").holds
        verified = time.process_time() - start
    lines = [
        "| | | target |",
        "| --- | ---: | ---: |",
        f"| append an entry, without syncing | {appended / entries * 1e6:.1f} µs | |",
        f"| take it into the tree as well | {1 + taken_in / appended:.2f} × | ≤ 1.2 × |",
        f"| the tree of {entries:,} entries, when it is first asked for | {taken_in:.2f} s | |",
        f"| a receipt: signed, proved and written to a file | {made / receipts * 1e6:.0f} µs | |",
        f"| verify {receipts:,} receipts with their proofs | {verified:.1f} s | < 5 s |",
    ]
    return "\n".join([f"## The log, {entries:,} entries", "", INTRODUCTION, "", *lines])
