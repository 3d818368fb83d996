"""`pacas verify`: whether a provider has signed the receipts of its sales."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.options import CertKeyOption, CertOption, Json, certificate_of, out, print_json, printable
from pacas.cli.plain_table import plain_table
from pacas.core.money import in_credits, rounded_text
from pacas.errors import FileError
from pacas.protocol.receipt import SignedReceipt
from pacas.wire.receipt_file import read_receipts
from pacas.wire.signatures import key_id, read_key_file, verify


def command(
    receipt: Annotated[
        Path, typer.Argument(metavar="RECEIPT.json", help="A receipt, or purchases that have receipts, as JSON.")
    ],
    key: Annotated[
        str, typer.Option("--key", metavar="KEY", help="The provider's public key: a PEM file, or https://…/v1/key.")
    ],
    ca: Annotated[
        Path | None, typer.Option("--ca", metavar="FILE", help="The certificates of a private authority, in PEM.")
    ] = None,
    cert: CertOption = None,
    cert_key: CertKeyOption = None,
    json: Json = False,
) -> None:
    """Verify receipts: that the provider has sold just this, at this level, for this price, by its own ledger.

    A receipt that was altered in any detail, or signed with another key, does not hold.

    Exit code 0: all receipts hold; 1: some do not.

    JSON: holds, receipts (holds, account, attribute, tuple, level, answer, price, idempotency_key, sequence, hash)

    Example: pacas verify receipt.json --key provider.pem
    """
    try:
        content = receipt.read_bytes()
    except OSError as error:
        raise FileError(f"{receipt} cannot be read ({error.strerror}); give a receipt as JSON") from None
    receipts = read_receipts(content, receipt.name)
    pem = _public_key(key, ca, certificate_of(cert, cert_key))
    hold = [verify(one, pem) for one in receipts]
    if json:
        found = [_as_json(one, holds) for one, holds in zip(receipts, hold, strict=True)]
        print_json({"holds": all(hold), "receipts": found})
    else:
        _print(receipts, hold, key_id(pem))
    if not all(hold):
        raise typer.Exit(1)


def _public_key(key: str, ca: Path | None, certificate: tuple[Path, Path] | None) -> str:
    """The key that a file or a URL names, in PEM. What asks a server is loaded where one is asked."""
    if "://" not in key:
        return read_key_file(key)
    pem: str = import_module("pacas.remote.published_key").published_key(key, ca=ca, client_certificate=certificate)
    return pem


def _as_json(signed: SignedReceipt, holds: bool) -> dict[str, Any]:
    sold = signed.receipt
    return {"holds": holds, **sold.members(), "price": in_credits(sold.price), "key_id": signed.key_id}


def _print(receipts: Sequence[SignedReceipt], hold: Sequence[bool], key: str) -> None:
    heads = ("receipt", "account", "attribute", "level", "answer", "price", "entry", "signature")
    table = plain_table(*heads, numbers=("receipt", "level", "price", "entry"))
    for number, (signed, holds) in enumerate(zip(receipts, hold, strict=True), start=1):
        sold = signed.receipt
        table.add_row(
            str(number),
            printable(sold.account),
            printable(sold.attribute),
            str(sold.level),
            printable(sold.answer),
            rounded_text(sold.price),
            str(sold.sequence),
            _verdict(signed, holds, key),
        )
    out.print(table)
    bad = [str(number) for number, holds in enumerate(hold, start=1) if not holds]
    if bad:
        out.print(Text(f"not what the provider signed: {', '.join(bad)}", style="red"))
    else:
        out.print(f"all as the provider signed them, with the key {key}")


def _verdict(signed: SignedReceipt, holds: bool, key: str) -> Text:
    if holds:
        return Text("holds", style="green")
    other = f" (of another key, {printable(signed.key_id[:16])})" if signed.key_id != key else ""
    return Text(f"does not hold{other}", style="red")
