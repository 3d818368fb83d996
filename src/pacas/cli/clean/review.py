"""A look back at a cleaning: its score against the truth, why one cell has its value, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from pacas.cli.clean.job import Job
from pacas.cli.options import out, printable
from pacas.cli.plain_table import plain_table
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.explain import Explanation, as_dict, explain, in_words
from pacas.client.outcome.hindsight import Hindsight
from pacas.client.outcome.score import AttributeScore, CellCounts, Score
from pacas.core.money import in_credits
from pacas.engine.contract import Engine
from pacas.errors import FileError
from pacas.formats.report.changes_file import write_changes, write_doubtful
from pacas.formats.report.report import write_report

QUARTERS = ("0 – ¼", "¼ – ½", "½ – ¾", "¾ – 1")
"""Of the distance between a value and the truth, where that of the root is 1."""


@dataclass(frozen=True, slots=True)
class Review:
    """A cleaning's score against the truth, and why a cell has its value, where they were asked for."""

    score: Score | None = None
    hindsight: Hindsight | None = None
    explanation: Explanation | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "repair_error": None if self.score is None else self.score.repair_error,
            "score": None if self.score is None else self.score.as_dict(),
            "hindsight": None if self.hindsight is None else _hindsight(self.hindsight),
            "explanation": None if self.explanation is None else as_dict(self.explanation),
        }


def _hindsight(hindsight: Hindsight) -> dict[str, Any]:
    errors = [{"spent": in_credits(spent), "error": error} for spent, error in hindsight.errors]
    return {"vote": hindsight.vote.total.as_dict(), "true": errors}


def make_review(job: Job, cleaning: Cleaning, engine: Engine[Any], receipts: Mapping[str, str]) -> Review:
    """Score and explain, as asked for, and write the report. The table is written already, and the journal closed."""
    score = None if job.truth is None else cleaning.score(job.truth, engine=engine)
    hindsight = None if job.truth is None else cleaning.hindsight(job.truth, engine=engine)
    explanation = None if job.cell is None else explain(cleaning, *job.cell, engine=engine)
    if job.doubtful is not None and cleaning.weighing is not None:
        write_doubtful(job.doubtful, cleaning.weighing)
    if job.changes is not None:
        write_changes(job.changes, cleaning, key=job.key, receipts=receipts)
    if job.report is not None:
        try:
            write_report(job.report, cleaning, score=score, hindsight=hindsight, subject=job.source.name)
        except FileError as error:
            raise FileError(f"{error}; the table is in {job.output}: with --resume the report costs nothing") from None
    return Review(score, hindsight, explanation)


def print_review(review: Review) -> None:
    if review.score is not None:
        _print_score(review.score)
    if review.explanation is not None:
        out.print()
        for line in in_words(review.explanation):
            out.print(printable(line))


def _print_score(score: Score) -> None:
    rows = _rows(score)
    out.print()
    out.print(_errors(rows))
    counts = {name: found.counts for name, found in rows.items() if found.counts and found.counts.changed}
    if counts:
        most = max(len(c.levels) for c in counts.values())
        levels = [f"level {level}" for level in range(most)]
        out.print()
        out.print(_shares("repairs by level", levels, {name: c.level_shares for name, c in counts.items()}))
        out.print()
        out.print(_shares("repairs by distance", QUARTERS, {name: c.quarter_shares for name, c in counts.items()}))


def _rows(score: Score) -> dict[str, AttributeScore]:
    """The attributes that are or were not as they should be, and the total, unless it is that of one."""
    told = {printable(a): found for a, found in score.attributes.items() if found.is_telling}
    return told if len(told) == 1 else told | {"in total": score.total}


def _errors(rows: Mapping[str, AttributeScore]) -> Table:
    heads = ("repair error", "wrong cells", "precision", "recall", "F1")
    table = plain_table("against the truth", *heads, numbers=heads)
    for name, found in rows.items():
        counts = found.counts or CellCounts()
        ratios = ("–" if ratio is None else f"{ratio:.3f}" for ratio in (counts.precision, counts.recall, counts.f1))
        error = _change(found.repair_error_before or 0.0, found.repair_error, "{:,.3f}")
        table.add_row(name, error, _change(counts.wrong, counts.wrong_after, "{:,}"), *ratios)
    return table


def _change(before: float, after: float, form: str) -> Text:
    style = "green" if after < before else "red" if after > before else ""
    return Text.assemble(f"{form.format(before)} → ", (form.format(after), style))


def _shares(what: str, heads: Sequence[str], rows: Mapping[str, Sequence[float]]) -> Table:
    table = plain_table(what, *heads, numbers=heads)
    for name, shares in rows.items():
        table.add_row(name, *(f"{share:.1%}" for share in shares))
    return table
