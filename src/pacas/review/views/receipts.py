"""The receipts page: what the provider has signed for, whether the signatures hold, and the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pacas.errors import FileError, InputError
from pacas.pages.typed_number import typed_number
from pacas.review.session import ReviewSession
from pacas.wire.receipt_file import read_receipts

ROWS = 100


def receipts_page(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    """The purchases of this run, each with its receipt; `verify` asks the provider's key about all of them."""
    job = session.job
    verdicts: Mapping[str, bool] = {}
    key_id = None
    if asked.get("verify"):
        key_id, verdicts = _verified(session)
    purchases = session.run.recalled.purchases
    pages = max(-(-len(purchases) // ROWS), 1)
    page = min(max(typed_number(asked.get("page")) or 1, 1), pages)
    lines = []
    for number, one in enumerate(purchases[(page - 1) * ROWS : page * ROWS], start=(page - 1) * ROWS + 1):
        file = job.receipts.get(one.key)
        lines.append(
            {
                "number": number,
                "attribute": one.attribute,
                "row": one.row,
                "level": one.level,
                "value": one.value,
                "price": one.price,
                "file": file,
                **_signed(session, file),
                "holds": None if file is None else verdicts.get(file),
            }
        )
    return {
        "lines": lines,
        "signs": job.receipts_folder is not None,
        "folder": None if job.receipts_folder is None else str(job.receipts_folder),
        "spent": session.spent,
        "bought": len(purchases),
        "key_id": key_id,
        "all_hold": bool(verdicts) and all(verdicts.values()),
        "failing": [file for file, holds in verdicts.items() if not holds],
        "page": page,
        "pages": pages,
        "can_verify": job.verify is not None and bool(job.receipts),
    }


def receipt_file(session: ReviewSession, name: str) -> Path:
    """The file of a receipt that this run has."""
    folder = session.job.receipts_folder
    if folder is None or name not in session.job.receipts.values():
        raise InputError("there is no such receipt")
    return folder / name


def _signed(session: ReviewSession, file: str | None) -> dict[str, Any]:
    """What a receipt says of the provider's ledger."""
    nothing = {"entry": None, "time": None}
    if file is None:
        return nothing
    try:
        receipt = read_receipts(receipt_file(session, file).read_bytes(), file)[0].receipt
    except (OSError, FileError):
        return nothing
    return {"entry": receipt.sequence, "time": receipt.time}


def _verified(session: ReviewSession) -> tuple[str, dict[str, bool]]:
    job = session.job
    if job.verify is None or job.receipts_folder is None or not job.receipts:
        raise InputError("there is no receipt to verify")
    found = job.verify([job.receipts_folder / name for name in dict.fromkeys(job.receipts.values())])
    holds = {Path(one.file).name: one.holds for one in found.receipts}
    return found.key_id, holds | {Path(file).name: False for file in found.unreadable}
