"""`--receipts DIR`: every purchase's receipt in a file of its own, before the purchase is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacas.cli.opened_provider import is_url
from pacas.errors import FileError, InputError, RemoteError
from pacas.formats.replacing import replacing
from pacas.protocol.marketplace import Forwarding, Marketplace
from pacas.protocol.messages import Answer, Refusal, Request
from pacas.protocol.receipt import SignedReceipt
from pacas.wire.shapes import ReceiptDocument

ReceiptsOption = Annotated[
    Path | None,
    typer.Option("--receipts", metavar="DIR", help="With a URL: a folder for the provider's receipts, a file each."),
]


def check_receipts(provider: str, folder: Path | None) -> None:
    if folder is not None and not is_url(provider):
        raise InputError(
            f"--receipts goes with a provider at a URL; {provider} is a file, and its sales are not signed"
        )


def keeping_receipts(marketplace: Marketplace, folder: Path | None) -> Marketplace:
    """The marketplace, with its receipts kept in a folder if one is named; the folder is made if it is not there."""
    if folder is None:
        return marketplace
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder} is no folder for receipts, and cannot be made ({error.strerror})") from None
    return KeepingReceipts(marketplace, folder)


class KeepingReceipts(Forwarding):
    """Sells like the marketplace behind it, and writes each receipt to disk before the answer is seen."""

    def __init__(self, marketplace: Marketplace, folder: Path) -> None:
        super().__init__(marketplace)
        self._folder = folder

    def pay(self, request: Request, ceiling: int, key: str) -> Answer | Refusal:
        told = super().pay(request, ceiling, key)
        if isinstance(told, Answer):
            if told.receipt is None:
                raise RemoteError("the provider has signed nothing; without --receipts, none is needed")
            with replacing(self._folder / file_name(told.receipt)) as partial:
                partial.write_text(ReceiptDocument.of(told.receipt).model_dump_json(indent=2) + "\n", "utf-8")
        return told


def file_name(signed: SignedReceipt) -> str:
    """The same for the same sale, however often it is asked about."""
    mark = "".join(c for c in signed.receipt.hash[:12] if c in "0123456789abcdef")
    return f"receipt-{signed.receipt.sequence:08}-{mark}.json"
