"""`pacas backup`: a copy of a provider's ledger, made while it is sold from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacas.cli.opened_provider import kept_provider
from pacas.cli.options import Json, ProviderArgument, out, print_json
from pacas.core.words import counted
from pacas.storage.backup import backup


def command(
    provider: ProviderArgument,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The new file; nothing is written over.")],
    json: Json = False,
) -> None:
    """Copy a provider's ledger with its accounts into one file, as of one moment, while it is sold from.

    The copy is verified, entry by entry. It holds the secret seed and every answer that was sold: keep it like the
    table. It is a SQLite file, whatever the ledger is in; pacas restore puts it back. The signing key is not in it.

    JSON: file, entries, head

    Example: pacas backup provider.toml backup.db
    """
    file = kept_provider(provider, "has no copies")
    head = backup(file.ledger_url, file.folder, target)
    if json:
        print_json({"file": str(target), "entries": head.entries, "head": head.hash})
    else:
        out.print(f"{target} written and verified: {counted(head.entries, 'entry', 'entries')}")
        out.print(f"its head: {head.entries}:{head.hash}")
