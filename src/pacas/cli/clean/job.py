"""A cleaning that is ready to start: everything that can be found wrong before money is spent has been looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pacas.cli.clean.choices import HowToClean, check_budget
from pacas.cli.data_options import HowToRead
from pacas.cli.market.named_panel import NamedPanel
from pacas.cli.market.named_provider import NamedProvider
from pacas.client.buying.offers import MaxLevel
from pacas.client.classes.named_cells import Cell
from pacas.client.found.found_cells import numbered
from pacas.client.safe_clean import WEIGH, SafeClean
from pacas.core.relation import no_such_row
from pacas.core.words import counted
from pacas.engine.contract import Engine, RelationFile, RelationFolder, Source
from pacas.engine.files.excel import MOST_ROWS
from pacas.errors import FileError, InputError, SchemaError, did_you_mean
from pacas.formats.cells_file import CellsFile
from pacas.formats.client_file import ClientFile
from pacas.formats.relations.cleaned import check_output, default_output
from pacas.formats.relations.relations import EXCEL, kind_to_write, scan_relation
from pacas.formats.replacing import check_is_text, check_writable
from pacas.formats.report.report import check_report


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks of a cleaning, the two parties' files read."""

    client: ClientFile
    read: HowToRead
    """How the table is read, in place of what the client's file says."""
    provider: NamedProvider | NamedPanel | None
    """None where nothing is to be bought."""
    budget: str
    """That of the command line, or else of a file."""
    how: HowToClean
    truth: Path | None = None
    report: Path | None = None
    doubtful: Path | None = None
    changes: Path | None = None
    lineage: str | None = None
    explain: tuple[str, str] | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A table, how to clean it, and where the result goes."""

    source: Source
    cleaner: SafeClean
    choices: Mapping[str, Any]
    """The options that decide what is bought and written, as they were given."""
    output: Path
    truth: RelationFile | None
    report: Path | None
    doubtful: Path | None
    changes: Path | None
    key: Sequence[str]
    """The columns that name rows."""
    cell: tuple[int, str] | None
    """The row and attribute to explain."""
    remarks: Sequence[str] = ()
    """What was left out of what was read, a line each."""

    @property
    def journal(self) -> Path:
        return journal_of(self.output)


def make_job(options: Options, engine: Engine[Any]) -> Job:
    check_budget(options.budget)
    client, how = options.client, options.how
    found = how.found
    source = client.scan(engine, options.read.key, options.read.reading)
    key = options.read.key or client.key
    cells, remarks = _found(found, key, source, engine)
    max_level = parse_max_level(how.max_level or (), _repairable(client, cells))
    cleaner = SafeClean(
        client.dependencies(),
        options.budget,
        hierarchies=client.read_hierarchies(source, engine),
        max_level=max_level,
        strategy=how.strategy,
        careful=how.careful,
        look_further=how.look_further,
        allocation=how.allocation,
        prefer=how.prefer,
        repair=how.repair,
        rounds=how.rounds,
        cells=cells,
        columns=client.own_columns,
    )
    if options.provider is None and cleaner.strategy != WEIGH:
        raise InputError("the paper's strategy repairs with what it buys; give --provider, or take --strategy weigh")
    if options.doubtful is not None and cleaner.strategy != WEIGH:
        raise InputError("--doubtful: only a client that weighs knows doubts; leave it out, or --strategy paper")
    output = how.output or default_output(source)
    if options.dry_run:
        _check_dry(options)
    else:
        _check_files(options, output, source, found)
        _check_fits(output, source, engine)
    truth = None if options.truth is None else _truth(options.truth, source, engine)
    cell = None if options.explain is None else explained_cell(options.explain, source, engine)
    choices = {"max_level": max_level, **cleaner.choices}
    lists = (options.report, options.doubtful, options.changes)
    return Job(source, cleaner, choices, output, truth, *lists, key, cell, remarks)


def _found(
    files: Sequence[CellsFile], key: Sequence[str], source: Source, engine: Engine[Any]
) -> tuple[list[Cell], list[str]]:
    """The cells that other tools have found, by row; and what their files say of no cell."""
    encoding = source.encoding if isinstance(source, RelationFile) else None
    found = [file.read(key, encoding) for file in files]
    cells = [cell for one in found for cell in numbered(one, source, engine)]
    return cells, [
        f"{one.name}: {counted(one.left_out, 'failure')} of no single cell left out" for one in found if one.left_out
    ]


def _check_fits(output: Path, source: Source, engine: Engine[Any]) -> None:
    """Raise where an Excel sheet is asked for that could not hold the rows."""
    if isinstance(source, RelationFile) and source.format != EXCEL and kind_to_write(output) == EXCEL:
        rows = len(engine.open(source, source.columns[:1]))
        if rows > MOST_ROWS:
            raise FileError(f"{output.name}: {rows:,} rows, and an Excel sheet has room for {MOST_ROWS:,}; write .csv")


def _check_dry(options: Options) -> None:
    """Raise where a look back at a dry run is asked for: it writes nothing and buys nothing."""
    asked = {
        "--explain tells why a value was written": options.explain,
        "--report tells what was written": options.report,
        "--doubtful lists what was written": options.doubtful,
        "--changes lists what was written": options.changes,
        "--truth scores what was written": options.truth,
        "--lineage tells what was written": options.lineage,
    }
    for what, given in asked.items():
        if given is not None:
            raise InputError(f"{what}, and a dry run writes nothing; leave out one of the two")


def explained_cell(given: tuple[str, str], source: Source, engine: Engine[Any]) -> tuple[int, str]:
    """The cell of `--explain ROW ATTR`."""
    row, attribute = given
    if not (row.isascii() and row.isdigit() and len(row) < 19):
        raise InputError(f"--explain takes a row, counted from 0, and an attribute, such as 4 MED; no row is {row!r}")
    if attribute not in source.columns:
        raise SchemaError.missing(attribute, source.columns, source.name)
    table = engine.open(source, [attribute])
    if int(row) >= len(table):
        raise InputError(f"--explain: {no_such_row(int(row), table, source.name)}")
    return int(row), attribute


def parse_max_level(given: Sequence[str], attributes: Sequence[str]) -> MaxLevel:
    """`2` for all attributes, or `MED=2` for some; not both."""
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return _level(given[0], given[0])
    levels: dict[str, int] = {}
    for text in given:
        attribute, sign, level = text.rpartition("=")
        if not sign:
            raise InputError(
                f"--max-level takes one level for all, or ATTR=LEVEL for each; {text!r} stands with others"
            )
        if attribute not in attributes:
            raise InputError(f"--max-level: nothing repairs {attribute!r}; {did_you_mean(attribute, attributes)}")
        if attribute in levels:
            raise InputError(f"--max-level names {attribute!r} twice")
        levels[attribute] = _level(level, text)
    return levels


def _level(level: str, text: str) -> int:
    if not (level.isascii() and level.isdigit() and len(level) < 10):
        raise InputError(f"--max-level takes a level from 0 (ground) on, such as 2 or MED=2, not {text!r}")
    return int(level)


def _repairable(client: ClientFile, cells: Sequence[tuple[int, str]]) -> list[str]:
    named = [attribute for _, attribute in cells]
    return list(dict.fromkeys([*(fd.rhs for fd in client.dependencies()), *named]))


def _truth(path: Path, source: Source, engine: Engine[Any]) -> RelationFile:
    truth = scan_relation(path)
    common = [column for column in truth.columns if column in source.columns]
    if not common:
        raise InputError(f"--truth: {truth.name} has no column of {source.name}")
    rows, expected = (len(engine.open(table, common[:1])) for table in (truth, source))
    if rows != expected:
        raise InputError(f"--truth: {truth.name} has {rows:,} rows and {source.name} has {expected:,}")
    return truth


# ---- where a cleaning writes, and what it must not write over ------------------------------------------------------


def _check_files(options: Options, output: Path, source: Source, found: Sequence[CellsFile]) -> None:
    """Raise if something that is to be written could not be, or would take the place of what is read or written."""
    read = [*client_files(options.client, found), *([] if options.provider is None else options.provider.files())]
    check_written(output, options.report, source, options.truth, read)
    written = [output, journal_of(output), *([] if options.report is None else [options.report])]
    read += [] if options.truth is None else [options.truth]
    for option, path in {"--doubtful": options.doubtful, "--changes": options.changes}.items():
        if path is not None:
            check_list(path, option, written, read, source)
            written.append(path)
    if options.lineage is not None and "://" not in options.lineage:
        _check_apart(Path(options.lineage), "--lineage", written, read, source)


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


def check_list(path: Path, option: str, written: list[Path], read: list[Path], source: Source) -> None:
    """Raise if a list of cells could not be written, or would take the place of anything else."""
    check_is_text(path)
    check_writable(path)
    _check_apart(path, option, written, read, source)


def _check_apart(path: Path, option: str, written: list[Path], read: list[Path], source: Source) -> None:
    if any(_is_same(path, other) for other in written):
        raise FileError(f"{path} is written by this run; give another {option}")
    data = [source.path] if isinstance(source, RelationFile | RelationFolder) else []
    _check_unread(path, option, [*read, *data])


def client_files(client: ClientFile, cells: Sequence[CellsFile]) -> list[Path]:
    """What a client reads besides its table."""
    trees = [client.path.parent / source for source in client.hierarchies.values() if isinstance(source, str)]
    return [client.path, *trees, *(file.path for file in cells)]


def _check_unread(written: Path, option: str, read: list[Path]) -> None:
    if any(_is_same(written, path) for path in read):
        raise FileError(f"{written} is read by this run; give another {option}, and it stays as it is")


def _is_same(a: Path, b: Path) -> bool:
    """Whether two paths are, or would be, one file, or the second is a folder that the first is in."""
    if a.exists() and b.exists() and a.samefile(b):
        return True
    return a.resolve() == b.resolve() or (b.is_dir() and a.resolve().is_relative_to(b.resolve()))
