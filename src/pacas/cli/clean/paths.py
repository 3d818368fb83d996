"""Where a cleaning writes, and what it must not write over: found out before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pacas.cli.opened_provider import is_url, provider_path
from pacas.engine.contract import Source
from pacas.errors import FileError
from pacas.formats.client_file import ClientFile
from pacas.formats.provider.provider_file import read_provider_file
from pacas.formats.relations.cleaned import check_output
from pacas.formats.report.report import check_report
from pacas.storage.url import ledger_path


def journal_of(output: Path) -> Path:
    """Where the record of what is bought for an output stands: beside it."""
    return output.with_name(f"{output.name}.journal")


def check_written(output: Path, report: Path | None, file: Source, truth: Path | None, read: list[Path]) -> None:
    """Raise if the output or the report could not be written, or would take the place of a file that is read.

    Only the truth may be the output itself, if an earlier run wrote it: so a run is looked at again.
    """
    check_output(output, file, again=journal_of(output).exists())
    if truth is not None and not journal_of(output).exists():
        read = [*read, truth]
    _check_unread(output, "--output", read)
    if report is not None:
        check_report(report)
        _check_unread(report, "--report", read)


def client_files(path: Path, client: ClientFile, cells: Path | None) -> list[Path]:
    """What a client reads besides its table."""
    trees = [path.parent / source for source in client.hierarchies.values() if isinstance(source, str)]
    return [path, *trees, *([] if cells is None else [cells])]


def provider_files(named: str) -> list[Path]:
    """What a provider in this process reads, and its ledger and its key; at a URL it has nothing here."""
    return [] if is_url(named) else list(_files_of(provider_path(named)))


def _files_of(path: Path) -> Iterator[Path]:
    file = read_provider_file(path)
    yield path
    yield from (file.folder / relation.data for relation in (file.relation, *file.relations.values()))
    yield from (file.folder / source for source in file.hierarchies.values() if isinstance(source, str))
    if file.pricing.support.file is not None:
        yield file.folder / file.pricing.support.file
    yield file.signing_key
    ledger = ledger_path(file.ledger_url, file.folder)
    if ledger is not None:
        yield from (ledger.with_name(ledger.name + more) for more in ("", "-wal", "-shm"))


def _check_unread(written: Path, option: str, read: list[Path]) -> None:
    if any(_is_same(written, path) for path in read):
        raise FileError(f"{written} is read by this run; give another {option}, and it stays as it is")


def _is_same(a: Path, b: Path) -> bool:
    """Whether two names are of one file, or would be if it were there; or the first is in a folder, the second."""
    if a.exists() and b.exists() and a.samefile(b):
        return True
    return a.resolve() == b.resolve() or (b.is_dir() and a.resolve().is_relative_to(b.resolve()))
