"""The provider that a file describes: the file, the engine and the ledger, wired together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from pacas.engine.contract import Engine
from pacas.errors import ConfigError, FileError, InputError
from pacas.formats.provider.make_provider import make_provider
from pacas.formats.provider.provider_file import ProviderFile
from pacas.formats.provider.sections import RegistrySection
from pacas.opening.open_circle import open_circle
from pacas.provider.ledger.checkpoint import Checkpoints, Signer
from pacas.provider.ledger.ledger import Ledger
from pacas.provider.ledger.memory_ledger import MemoryLedger
from pacas.provider.provider import Provider
from pacas.provider.quoter.declared import EarlierSales
from pacas.provider.shop.contract import Tell
from pacas.storage.url import ledger_kind, ledger_path, open_checkpoints, open_ledger, read_ledger, state_file


def open_described(
    file: ProviderFile, engine: Engine[Any], tell: Tell = lambda what: None, *, read_only: bool = False
) -> Provider:
    """The provider that a file describes, with the ledger that it names.

    Where a mistake keeps the provider from opening a ledger whose file was not there before, none is left behind; a
    schema of a database is left as it is, with nothing in it. A ledger that is only read is not made: without one the
    provider is as if nothing had been sold.
    """
    opened: list[Ledger] = []
    files = _ledger_files(file)
    makes_a_file = bool(files) and not any(name.exists() for name in files)

    def open_file() -> Ledger:
        opened.append(
            (read_ledger(file.ledger_url, file.folder) or MemoryLedger())
            if read_only
            else open_ledger(file.ledger_url, file.folder)
        )
        return opened[0]

    try:
        circle = open_circle(file, is_asked=not read_only)
        checkpoints = None if read_only else _checkpoints(file)
        return make_provider(file, engine, open_file, _sold_before(file), tell, circle, checkpoints)
    except BaseException as error:
        for unused in opened:
            for_nothing = isinstance(error, InputError) and makes_a_file and unused.opening() is None
            unused.close()
            if for_nothing:
                _remove(file)
        raise


def _checkpoints(file: ProviderFile) -> Checkpoints | None:
    """What lets a start over many entries be short; who only reads, as an audit does, reads them all."""

    def signer() -> Signer | None:
        if not file.signing_key.exists():  # it is made when it is first served
            return None
        try:
            key: Signer = import_module("pacas.server.signing_key").SigningKey.load_or_create(file.signing_key)
        except FileError:  # who needs the key says so
            return None
        return key

    if ledger_kind(file.ledger_url) == "memory":
        return None
    return Checkpoints(lambda: open_checkpoints(file.ledger_url, file.folder), signer)


def files_of(file: ProviderFile) -> Iterator[Path]:
    """What a provider reads, and its ledger and its key."""
    yield file.path
    yield from (file.folder / relation.data for relation in (file.relation, *file.relations.values()))
    yield from (file.folder / source for source in file.hierarchies.values() if isinstance(source, str))
    if file.pricing.support.file is not None:
        yield file.folder / file.pricing.support.file
    if isinstance(file.pricing.prior, str) and file.pricing.prior != "uniform":
        yield file.folder / file.pricing.prior
    if isinstance(file.pricing.members, RegistrySection):
        yield file.folder / file.pricing.members.registry
    yield from (file.folder / section.dictionary for section in file.dependency if section.dictionary is not None)
    yield from (file.folder / name for name in (file.circle.secret, file.circle.token, file.circle.ca) if name)
    yield file.signing_key
    yield from _ledger_files(file)
    if (state := state_file(file.ledger_url, file.folder)) is not None:
        yield state.path


def _sold_before(file: ProviderFile) -> list[EarlierSales]:
    """What was sold from the earlier ledgers that a file names."""
    try:
        return [_earlier_sales(file, url) for url in file.ledger.sold_before]
    except InputError as error:
        raise ConfigError(f"ledger.sold_before: {str(error).removeprefix('ledger.url: ')}") from None


def _earlier_sales(file: ProviderFile, url: str) -> EarlierSales:
    path = ledger_path(url, file.folder)
    if url == file.ledger_url or (path is not None and not path.exists()):
        raise InputError("there is no earlier ledger of that name; give another, or none")
    with closing(open_ledger(url, file.folder)) as before:
        opening = before.opening()
        if opening is None:
            raise InputError("nothing was sold from the ledger; leave it out")
        return EarlierSales(before.requests(), opening.fingerprint)


def _ledger_files(file: ProviderFile) -> list[Path]:
    """The names of the files of a ledger that is on this disk."""
    path = ledger_path(file.ledger_url, file.folder)
    return [] if path is None else [path, *(path.with_name(path.name + more) for more in ("-wal", "-shm"))]


def _remove(file: ProviderFile) -> None:
    """Take away a ledger that was made for nothing: who else reads the file finds the same mistake, too."""
    for name in _ledger_files(file):
        name.unlink(missing_ok=True)
