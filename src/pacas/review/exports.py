"""What a review gives away as files: the cleaned table, every changed cell, and the report."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pacas.client.outcome.cleaning import Cleaning
from pacas.engine.contract import RelationFile
from pacas.engine.files.encoding import UTF_8
from pacas.errors import InputError
from pacas.formats.formulas import neutralise_csv
from pacas.formats.relations.changed_csv import delimiter_to_write
from pacas.formats.relations.cleaned import write_cleaned
from pacas.formats.relations.relations import COMPRESSED, EXCEL, PARQUET, kind_to_write
from pacas.formats.report.changes_file import write_changes
from pacas.formats.report.report import write_report
from pacas.review.session import ReviewSession

TABLE, CHANGES, REPORT = "table", "changes.csv", "report.html"


def export(session: ReviewSession, what: str, *, neutral: bool) -> Path:
    """A file in a folder of its own, which goes when it is sent."""
    cleaning, job = session.known().cleaning, session.job
    folder = Path(tempfile.mkdtemp(prefix="pacas-export-"))
    try:
        if what == TABLE:
            return _table(cleaning, folder, job.output.name, neutral=neutral)
        if what == CHANGES:
            write_changes(folder / CHANGES, cleaning, key=job.key, receipts=job.receipts(), neutral=neutral)
        else:
            write_report(folder / REPORT, cleaning, subject=job.source.name)
        return folder / what
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _table(cleaning: Cleaning, folder: Path, name: str, *, neutral: bool) -> Path:
    source = cleaning.source
    if not isinstance(source, RelationFile):
        raise InputError(f"{source.name} is written as a folder, where --output says; a browser cannot take that")
    path = folder / name
    if not neutral or kind_to_write(path) in (PARQUET, EXCEL):  # which tell texts from formulas themselves
        write_cleaned(cleaning, path)
        return path
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    remark = write_cleaned(cleaning, plain)
    neutralise_csv(plain, delimiter_to_write(source, plain), source.encoding if remark is None else UTF_8)
    return plain
