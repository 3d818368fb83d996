"""`pacas verify`: whether a provider has signed the receipts of its sales."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from pacas.cli.options import AT_HAND, HowToReach, Json, out, print_json, printable, progress, says_how_to_reach
from pacas.cli.plain_table import plain_table
from pacas.core.money import in_credits, rounded_text
from pacas.core.words import counted
from pacas.remote.verifying import CheckedReceipt, CheckedReceipts, verify

SHOWN = 20
"""Receipts that are listed; of more, only those that do not hold."""


@says_how_to_reach
def command(
    receipts: Annotated[
        list[str],
        typer.Argument(
            metavar="RECEIPT.json…",
            help="Receipts, or purchases that have receipts, as JSON: files, folders, patterns such as 'r/*.json'.",
        ),
    ],
    key: Annotated[
        str, typer.Option("--key", metavar="KEY", help="The provider's public key: a PEM file, or https://…/v1/key.")
    ],
    history: Annotated[
        str | None,
        typer.Option(
            metavar="KEYS",
            help="Keys that have followed KEY, or were before it: https://…/v1/key, or a file; by default at --log.",
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            "--log", metavar="URL", help="The provider's URL: its log must hold all, and have forgotten nothing."
        ),
    ] = None,
    heads: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --log: the heads seen so far; log-heads.jsonl beside the receipts."),
    ] = None,
    witnessed: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --log: heads that a witness has cosigned (pacas witness).")
    ] = None,
    witness_key: Annotated[
        Path | None, typer.Option("--witness-key", metavar="FILE", help="With --witnessed: the witness's public key.")
    ] = None,
    reach: HowToReach = AT_HAND,
    json: Json = False,
) -> None:
    """Verify receipts: that the provider has sold just this, at this level, for this price, by its own ledger.

    A receipt that was altered in any detail, or signed with another key, does not hold. A key that the provider has
    changed to (pacas key rotate) counts like the one that is known, if its published history proves it. Of several
    files, one that cannot be read as a receipt does not hold either. A receipt that brings a head of the provider's
    log must be in it. With --log, the provider proves that its log has grown out of every head that was seen, here, in
    the receipts and by a witness: a provider that forgets a sale, or shows different logs, is found out.

    Exit code 0: all receipts hold, and the log; 1: some do not.

    JSON: holds, receipts (holds, file, account, attribute, tuple, level, answer, price, idempotency_key, sequence,
    hash, logged), unreadable (file, problem), problems (of the log), log (size, root, time: with --log)

    Example: pacas verify receipts/ --key provider.pem
    """
    with progress() as tell:
        found = verify(
            receipts,
            key,
            history=history,
            log=log,
            token=reach.token,
            heads=heads,
            witnessed=witnessed,
            witness_key=witness_key,
            ca=reach.ca,
            client_certificate=reach.certificate,
            insecure=reach.insecure,
            progress=tell,
        )
    if json:
        unreadable = [{"file": file, "problem": problem} for file, problem in found.unreadable.items()]
        more = {"unreadable": unreadable, "problems": list(found.problems)}
        asked = {} if found.log is None else {"log": found.log.members()}
        print_json({"holds": found.holds, "receipts": list(map(_as_json, found.receipts)), **more, **asked})
    else:
        _print(found)
    if not found.holds:
        raise typer.Exit(1)


def _as_json(one: CheckedReceipt) -> dict[str, Any]:
    sold = one.signed.receipt
    told = sold.members() | {"price": in_credits(sold.price), "key_id": one.signed.key_id}
    told |= {"logged": one.signed.logged is not None}
    return {"holds": one.holds, "file": one.file, **told}


def _print(found: CheckedReceipts) -> None:
    listed = found.receipts if len(found) <= SHOWN else found.failing
    if listed:
        _print_table(found, listed)
    for file, problem in found.unreadable.items():
        out.print(Text(printable(f"{file}: {problem}"), style="red"))
    bad = [printable(name) for name in dict.fromkeys([*_named(found), *found.unreadable])]
    if bad:
        out.print(Text(f"not what the provider signed: {', '.join(bad)}", style="red"))
    for problem in found.problems:
        out.print(Text(problem, style="bold red"))
    if found.log is not None and not found.problems:
        out.print(f"the log, of {counted(found.log.size, 'entry', 'entries')} now, has all of them and forgot nothing")
    told = counted(len(found), "receipt")
    if found.problems:
        return
    if found.holds:
        out.print(f"{told}: all as the provider signed them, with the {_keys(found)}")
    elif len(found) > SHOWN or found.unreadable:
        out.print(f"{told}: {len(found) - len(found.failing):,} hold, {len(found.failing):,} not")


def _keys(found: CheckedReceipts) -> str:
    """The keys that have signed; of receipts that hold."""
    names = list(dict.fromkeys(one.signed.key_id for one in found.receipts)) or [found.key_id]
    return f"key{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _named(found: CheckedReceipts) -> list[str]:
    """What does not hold: its file, or its number where all are in one."""
    if len({one.file for one in found.receipts}) == 1 and not found.unreadable:
        return [str(number) for number, one in enumerate(found.receipts, start=1) if not one.holds]
    return [one.file for one in found.failing]


def _print_table(found: CheckedReceipts, listed: tuple[CheckedReceipt, ...]) -> None:
    heads = ("receipt", "account", "attribute", "level", "answer", "price", "entry", "signature")
    table = plain_table(*heads, numbers=("receipt", "level", "price", "entry"))
    number = {id(one): place for place, one in enumerate(found.receipts, start=1)}
    for one in listed:
        sold = one.signed.receipt
        table.add_row(
            str(number[id(one)]),
            printable(sold.account),
            printable(sold.attribute),
            str(sold.level),
            printable(sold.answer),
            rounded_text(sold.price),
            str(sold.sequence),
            _verdict(one, found.key_id),
        )
    out.print(table)


def _verdict(one: CheckedReceipt, key: str) -> Text:
    if one.holds:
        return Text("holds", style="green")
    other = f" (of another key, {printable(one.signed.key_id[:16])})" if one.signed.key_id != key else ""
    return Text(f"does not hold{other}", style="red")
