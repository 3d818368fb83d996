"""The receipts page: what providers have signed for, whether the signatures hold, and the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pacas.errors import FileError, InputError
from pacas.pages.typed_number import typed_number
from pacas.review.session import ReviewSession
from pacas.review.views.orders import providers_part
from pacas.wire.receipt_file import read_receipts

ROWS = 100


def receipts_page(session: ReviewSession, asked: Mapping[str, str]) -> dict[str, Any]:
    """The purchases of this run, each with its receipt; `verify` asks the providers' keys about all of them."""
    job, receipts = session.job, session.job.receipts()
    checked = _verified(session, receipts) if asked.get("verify") else []
    verdicts = {file: holds for one in checked for file, holds in one.verdicts.items()}
    purchases = session.run.recalled.purchases
    pages = max(-(-len(purchases) // ROWS), 1)
    page = min(max(typed_number(asked.get("page")) or 1, 1), pages)
    lines = []
    for number, one in enumerate(purchases[(page - 1) * ROWS : page * ROWS], start=(page - 1) * ROWS + 1):
        file = receipts.get(one.key)
        lines.append(
            {
                "number": number,
                "attribute": one.attribute,
                "row": one.row,
                "level": one.level,
                "value": one.value,
                "price": one.price,
                "provider": one.provider,
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
        "checked": checked,
        **providers_part(session),
        "page": page,
        "pages": pages,
        "can_verify": bool(job.verify) and bool(receipts),
    }


def receipt_file(session: ReviewSession, name: str) -> Path:
    """The file of a receipt that this run has."""
    folder = session.job.receipts_folder
    if folder is None or name not in session.job.receipts().values():
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


class VerifiedReceipts(NamedTuple):
    """The receipts of one provider: its key, and by file whether it holds."""

    provider: str | None
    key_id: str
    verdicts: dict[str, bool]

    @property
    def failing(self) -> list[str]:
        return [file for file, holds in self.verdicts.items() if not holds]


def _verified(session: ReviewSession, receipts: Mapping[str, str]) -> list[VerifiedReceipts]:
    job, folder = session.job, session.job.receipts_folder
    if not job.verify or folder is None or not receipts:
        raise InputError("there is no receipt to verify")
    by_provider: dict[str | None, list[str]] = {}
    for file in dict.fromkeys(receipts.values()):
        by_provider.setdefault(file.rpartition("/")[0] or None, []).append(file)
    found = []
    for provider, files in by_provider.items():
        told = job.verify[provider]([folder / file for file in files])
        holds = {Path(one.file).name: one.holds for one in told.receipts}
        holds |= {Path(file).name: False for file in told.unreadable}
        found.append(
            VerifiedReceipts(provider, told.key_id, {file: holds.get(Path(file).name, False) for file in files})
        )
    return found
