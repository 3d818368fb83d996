"""`pacas restore`: a copy of a ledger in its place, and what that forgets."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from time import time
from typing import Annotated

import typer
from rich.text import Text

from pacas.cli.opened_provider import kept_provider
from pacas.cli.options import Json, ProviderArgument, out, print_json
from pacas.core.money import credits_words, in_credits
from pacas.core.words import counted
from pacas.errors import StorageError
from pacas.formats.provider.provider_file import ProviderFile
from pacas.server.monitoring.presence import GONE
from pacas.storage.backup import forgotten, restore
from pacas.storage.url import open_serving


def command(
    provider: ProviderArgument,
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A file that pacas backup has made.")],
    forget: Annotated[
        bool, typer.Option("--forget", help="Go back even if sales are forgotten: what they told is not.")
    ] = False,
    json: Json = False,
) -> None:
    """Put a copy in the ledger's place, and say what that forgets; servers that run sell nothing from it any more.

    What is forgotten is counted by the ledger that is there, or by its state file. A sale that is forgotten may be made
    again, and safety no longer counts it; buyers who hold its receipt see by pacas verify --log that it is gone. So
    nothing is done then, unless --forget is given. A ledger that was a file is kept beside it.

    Exit code 0: restored; 1: sales would be forgotten, and nothing was done.

    JSON: restored, forgotten (null, or entries, purchases, buyers, spent; the last three null where they cannot be
    read), stopped (processes that served it), moved_to

    Example: pacas restore provider.toml backup.db
    """
    file = kept_provider(provider, "has no copies")
    lost = forgotten(file.ledger_url, file.folder, source)
    is_done = lost is None or forget
    stopped = _serving(file)
    away = restore(file.ledger_url, file.folder, source, NOTICED if stopped else 0.0) if is_done else None
    if json:
        sums = None
        if lost is not None:
            known = (lost.purchases, lost.buyers, in_credits(lost.spent)) if lost.is_known else (None, None, None)
            sums = {"entries": lost.entries, **dict(zip(("purchases", "buyers", "spent"), known, strict=True))}
        told = {"stopped": stopped if is_done else 0, "moved_to": None if away is None else str(away)}
        print_json({"restored": is_done, "forgotten": sums, **told})
    else:
        if lost is not None:
            money = f", {credits_words(lost.spent)}" if lost.is_known else ""
            line = f"{'forgotten' if is_done else 'would be forgotten'}: {lost.words()}{money}"
            out.print(Text(line, style="bold red"))
        if is_done:
            out.print("restored" + ("" if away is None else f"; the ledger that was there is {away.name}"))
            if stopped:
                out.print(f"{counted(stopped, 'process', 'processes')} served it: start them anew, they sell no more")
        else:
            out.print("nothing was done; give --forget to go back nevertheless")
    if not is_done:
        raise typer.Exit(1)


NOTICED = 1.0
"""Seconds in which processes that serve a ledger have noticed that it went back, and noted what they know of it."""


def _serving(file: ProviderFile) -> int:
    """How many processes were seen to serve the ledger a moment ago."""
    with suppress(StorageError), closing(open_serving(file.ledger_url, file.folder)) as processes:
        return len(processes.others("", int(time() - GONE)))
    return 0
