"""From the name of a provider to the provider: the file, the engine and the ledger, wired together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from pacas.cli.data_options import opened_engine
from pacas.cli.options import progress
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine
from pacas.errors import InputError
from pacas.formats.provider.make_provider import make_provider
from pacas.formats.provider.provider_file import ProviderFile, read_provider_file
from pacas.protocol.names import check_buyer
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import LOCAL, Provider
from pacas.storage.url import ledger_path, open_ledger

ProviderArgument = Annotated[str, typer.Argument(metavar="PROVIDER", help="The provider's file, provider.toml.")]
BuyerOption = Annotated[
    str | None,
    typer.Option("--as", metavar="BUYER", help="With a file: the buyer's name.", show_default=LOCAL),
]

FROM_FILE = EngineChoice()
"""An engine that nothing is said of here: the provider's file does."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def open_provider(file: ProviderFile, engine: Engine[Any], tell: Callable[[str], None] = lambda what: None) -> Provider:
    """The provider that a file describes, with the ledger that it names.

    Where a mistake keeps the provider from opening a ledger whose file was not there before, none is left behind; a
    schema of a database is left as it is, with nothing in it.
    """
    opened: list[Ledger] = []
    makes_a_file = ledger_path(file.ledger_url, file.folder) is not None and not _files(file)

    def open_file() -> Ledger:
        opened.append(open_ledger(file.ledger_url, file.folder))
        return opened[0]

    try:
        return make_provider(file, engine, open_file, tell)
    except BaseException as error:
        for unused in opened:
            for_nothing = isinstance(error, InputError) and makes_a_file and unused.opening() is None
            unused.close()
            if for_nothing:
                _remove(file)
        raise


@contextmanager
def opened_provider(
    path: Path, given: EngineChoice = FROM_FILE, *, beside: Engine[Any] | None = None
) -> Iterator[Provider]:
    """A provider for one command, everything closed at its end; progress is shown while it is made ready.

    The engine is the one that is given, else the file's; one that runs beside it may serve both.
    """
    file = read_provider_file(path)
    with opened_engine(given.over(file.engine_choice), beside) as engine:
        with progress() as tell:
            tell(f"reading {path.name}")
            provider = open_provider(file, engine, tell)
        with closing(provider.ledger):
            yield provider


def is_url(named: str) -> bool:
    """Whether a provider is named by where it answers, not by its file."""
    return bool(_URL.match(named))


def provider_path(named: str) -> Path:
    """The file that names a provider, for what only its owner can do."""
    if is_url(named):
        raise InputError("this is for the provider's owner, where its data is; give its provider.toml, not a URL")
    return Path(named)


def buyer_name(given: str | None) -> str:
    """Who buys from a provider in this process."""
    name = LOCAL if given is None else given
    check_buyer(name)
    return name


def _files(file: ProviderFile) -> list[Path]:
    """What there is of the ledger on the disk."""
    path = ledger_path(file.ledger_url, file.folder)
    names = [] if path is None else [path, *(path.with_name(path.name + more) for more in ("-wal", "-shm"))]
    return [name for name in names if name.exists()]


def _remove(file: ProviderFile) -> None:
    """Take away a ledger that was made for nothing: who else reads the file finds the same mistake, too."""
    for name in _files(file):
        name.unlink(missing_ok=True)
