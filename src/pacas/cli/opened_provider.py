"""From the name of a provider to the provider: the file, the engine and the ledger, wired together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pacas.cli.data_options import opened_engine
from pacas.cli.options import Tell, is_url, progress
from pacas.engine.choosing import EngineChoice
from pacas.engine.contract import Engine
from pacas.errors import InputError
from pacas.formats.provider.make_provider import make_provider
from pacas.formats.provider.provider_file import ProviderFile, read_provider_file
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.provider import Provider
from pacas.storage.url import ledger_path, open_ledger


def read_provider(named: str) -> ProviderFile:
    """Read the file of a provider that is not named by a URL: its owner's commands need the file."""
    if is_url(named):
        raise InputError("this is for the provider's owner, where its data is; give its provider.toml, not a URL")
    return read_provider_file(Path(named))


def open_provider(file: ProviderFile, engine: Engine[Any], tell: Tell = lambda what: None) -> Provider:
    """The provider that a file describes, with the ledger that it names.

    Where a mistake keeps the provider from opening a ledger whose file was not there before, none is left behind; a
    schema of a database is left as it is, with nothing in it.
    """
    opened: list[Ledger] = []
    files = _ledger_files(file)
    makes_a_file = bool(files) and not any(name.exists() for name in files)

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
    file: ProviderFile, given: EngineChoice | None = None, *, beside: Engine[Any] | None = None
) -> Iterator[Provider]:
    """A provider for one command, everything closed at its end; progress is shown while it is made ready.

    The engine is the one that is given, else the file's; one that runs beside it may serve both.
    """
    choice = file.engine_choice if given is None else given.over(file.engine_choice)
    with opened_engine(choice, beside) as engine:
        with progress() as tell:
            tell(f"reading {file.path.name}")
            provider = open_provider(file, engine, tell)
        with closing(provider.ledger):
            yield provider


def files_of(file: ProviderFile) -> Iterator[Path]:
    """What a provider reads, and its ledger and its key."""
    yield file.path
    yield from (file.folder / relation.data for relation in (file.relation, *file.relations.values()))
    yield from (file.folder / source for source in file.hierarchies.values() if isinstance(source, str))
    if file.pricing.support.file is not None:
        yield file.folder / file.pricing.support.file
    if file.pricing.prior not in (None, "uniform"):
        yield file.folder / str(file.pricing.prior)
    yield from (file.folder / section.dictionary for section in file.dependency if section.dictionary is not None)
    yield file.signing_key
    yield from _ledger_files(file)


def _ledger_files(file: ProviderFile) -> list[Path]:
    """The names of the files of a ledger that is on this disk."""
    path = ledger_path(file.ledger_url, file.folder)
    return [] if path is None else [path, *(path.with_name(path.name + more) for more in ("-wal", "-shm"))]


def _remove(file: ProviderFile) -> None:
    """Take away a ledger that was made for nothing: who else reads the file finds the same mistake, too."""
    for name in _ledger_files(file):
        name.unlink(missing_ok=True)
