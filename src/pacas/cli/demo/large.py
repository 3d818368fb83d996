"""A synthetic table, cleaned by a client that weighs and buys from its truth at sealed quotes; scored and reported.

Some cells are wrong one by one, which the rest of their group tells; in some groups a bad import has replaced most of
the rows, which nobody tells but who knows better. Beside it, what the paper's quotes would tell of the same patients.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pacas.cli.clean.review import Review, print_review
from pacas.cli.clean.run import Watched
from pacas.cli.clean.summary import print_summary
from pacas.cli.demo.show import title
from pacas.cli.options import out, progress
from pacas.cli.plain_table import plain_table
from pacas.client.outcome.changes import with_changes
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.hindsight import Hindsight
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.score import CellCounts, Score
from pacas.client.outcome.score import score as scored
from pacas.client.outcome.steps import Observer
from pacas.client.safe_clean import WEIGH, SafeClean
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.core.money import rounded_text
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.questions import as_source
from pacas.formats.report.report import write_report
from pacas.provider.leak.guessing import GuessedMore
from pacas.provider.leak.meter import LeakMeter
from pacas.provider.provider import Provider
from pacas.provider.quote_mode import QuoteMode

FD = "GEN, DIAG -> MED"
MATCH = "ID = ID"
FAMILIES, AREAS = (2, 4, 6, 12), 4
"""How many medications the families of an area have, and how many areas there are."""
DRUGS = sum(FAMILIES) * AREAS
ROWS_PER_GROUP = 20
"""So many patients share a gender and a diagnosis, more or less."""

ROWS = 20_000
TOTAL, BUDGET = 60_000, 300
SEED = 7
POLICY = Policy(("GEN", "AGE"), ("MED",), {"MED": 0}, k=3, allow_linkage=True)
"""Whoever knows gender and age. Some 160 patients share both, and one of them is kept back."""
PAPERS_POLICY = Policy(("ID",), ("MED",), {"MED": 0}, k=3)
"""Whoever knows a patient's number; so that all found are in X, as D5 asks."""


@dataclass(frozen=True, slots=True)
class Told:
    """What free quotes tell: whose change as patients exchange their medications, and what the meter finds."""

    changed: float
    """The share of patients with another ladder."""
    kept_back: float
    """The share of patients who are refused at level 1 before any sale."""
    guessed: GuessedMore
    """How often an attacker finds the family."""

    def as_json(self) -> dict[str, Any]:
        guessed = {"public_guess": round(self.guessed.public_guess, 6), "leak": round(self.guessed.leak, 6)}
        return {"changed": self.changed, "kept_back": self.kept_back, **guessed}


@dataclass(frozen=True, slots=True)
class Large:
    """A synthetic table's cleaning at sealed quotes, its score, and what the paper's quotes and sealed ones tell."""

    cleaning: Cleaning
    score: Score
    hindsight: Hindsight
    for_nothing: Score
    """What the client's own evidence would have come to without money."""
    told: Mapping[str, Told]
    seconds: float
    """From the two tables to the repaired one: the provider made ready, and the cleaning."""

    @property
    def weighing(self) -> Judgement:
        assert self.cleaning.weighing is not None, "it weighs"
        return self.cleaning.weighing

    def wrong_cells(self) -> dict[str, int]:
        """As the table came, and as each way leaves it."""
        counts = {"vote": self.hindsight.vote, "no_money": self.for_nothing, "bought": self.score}
        left = {way: _counts(found).wrong_after for way, found in counts.items()}
        return {"before": _counts(self.score).wrong, **left}

    def as_json(self) -> dict[str, Any]:
        cleaning = self.cleaning
        found = {
            "rows": cleaning.rows,
            "violations_before": cleaning.violations_before,
            "violations_after": cleaning.violations_after,
            "budget": cleaning.budget,
            "spent": cleaning.spent,
            "purchases": len(cleaning.purchases),
            "free": self.weighing.free,
            "paid": self.weighing.paid,
            "vote": self.weighing.voted,
            "unrepaired": len(cleaning.unrepaired),
            "score": self.score.as_dict(),
            "wrong_cells": self.wrong_cells(),
            "seconds": round(self.seconds, 3),
            "quotes": {mode: told.as_json() for mode, told in self.told.items()},
        }
        return {"synthetic": found}


def _counts(found: Score) -> CellCounts:
    counts = found.attributes["MED"].counts
    assert counts is not None, "all that it holds is in the tree"
    return counts


def clean(report: Path, engine: DuckEngine) -> Large:
    """Clean the table and write the report."""
    with progress() as tell:
        tell(f"making a table of {ROWS:,} rows")
        table = make_tables(ROWS)
        begun = time.perf_counter()
        tell("making its provider ready")
        provider = _provider(table.truth, engine, QuoteMode.SEALED)
        cleaner, watched = SafeClean(FD, BUDGET, strategy=WEIGH), Watched(Observer(), tell)
        cleaning = cleaner.clean(table.dirty, provider, observer=watched, engine=engine)
        seconds = time.perf_counter() - begun
        tell("asking what quotes tell")
        told = {mode.value: _told(table.truth, engine, mode) for mode in (QuoteMode.PAPER, QuoteMode.SEALED)}
        tell("writing the report")
        score = cleaning.score(table.truth, engine=engine)
        hindsight = cleaning.hindsight(table.truth, engine=engine)
        write_report(report, cleaning, score=score, hindsight=hindsight, subject=f"a synthetic table of {ROWS:,} rows")
        assert cleaning.weighing is not None and hindsight is not None, "it weighs"
        free = with_changes(table.dirty, cleaning.weighing.changes_at(0), engine)
        for_nothing = scored(free, table.truth, table.dirty, {"MED": hierarchy()}, engine=engine)
    return Large(cleaning, score, hindsight, for_nothing, told, seconds)


def _provider(truth: Relation, engine: DuckEngine, mode: QuoteMode) -> Provider:
    """Found by their number; at the paper's quotes everybody is an X-group."""
    paper = mode is QuoteMode.PAPER
    return Provider(
        truth,
        match={"MED": MATCH},
        policies=[PAPERS_POLICY if paper else POLICY],
        hierarchies={"MED": hierarchy()},
        quotes=mode,
        total=TOTAL,
        seed=SEED if paper else None,
        engine=engine,
    )


def _told(truth: Relation, engine: DuckEngine, mode: QuoteMode) -> Told:
    """Ask about everybody, before and after all medications are exchanged at random."""
    medications = truth.table["MED"].take(pa.array(np.random.default_rng(SEED).permutation(len(truth))))
    exchanged = Relation(truth.table.set_column(truth.table.column_names.index("MED"), "MED", medications))
    provider = _provider(truth, engine, mode)
    before, after = (
        p.quote_batch("MED", {"ID": truth.table["ID"]}).prices for p in (provider, _provider(exchanged, engine, mode))
    )
    (found,) = LeakMeter(provider, engine, as_source(truth)).attributes()
    return Told(float((before != after).any(axis=1).mean()), float((before[:, 1] < 0).mean()), found.guessed)


def tell(large: Large, report: Path) -> None:
    title(f"10. {ROWS:,} rows at sealed quotes, and a client that weighs")
    out.print(f"A synthetic table: {FD} should hold. A tenth of MED is wrong, and a")
    out.print("bad import has replaced half of the rows or more in one group of twenty.")
    out.print("What the client's own rows settle is repaired for nothing. It buys where a")
    out.print("credit is expected to remove most error.\n")
    print_summary(large.cleaning)
    print_review(Review(large.score))
    _tell_ways(large)
    out.print(f"\nCleaned in {large.seconds:.1f} seconds, the provider's preparations included.")
    _tell_quotes(large.told)
    out.print(f"{report} written; open it in a browser.")


def _tell_ways(large: Large) -> None:
    wrong, spent = large.wrong_cells(), rounded_text(large.cleaning.spent_nanocredits)
    table = plain_table("what was done", "wrong cells", numbers=("wrong cells",))
    words = ("nothing", "a free majority vote", "repaired by own evidence, no money", f"{spent} credits spent")
    for said, number in zip(words, wrong.values(), strict=True):
        table.add_row(said, f"{number:,}")
    out.print()
    out.print(table)


def _tell_quotes(told: Mapping[str, Told]) -> None:
    numbers = ("the paper's", "sealed")
    table = plain_table("free quotes, and all patients", *numbers, numbers=numbers)
    both = told.values()
    table.add_row("refused at level 1 before any sale", *(f"{one.kept_back:.1%}" for one in both))
    table.add_row("quoted otherwise once they exchange medications", *(f"{one.changed:.1%}" for one in both))
    table.add_row("family guessed right with quotes", *(f"{_with_quotes(one):.1%}" for one in both))
    table.add_row("… and without", *(f"{one.guessed.public_guess:.1%}" for one in both))
    out.print()
    out.print(table)


def _with_quotes(told: Told) -> float:
    return told.guessed.public_guess + told.guessed.leak


# ---- the table, made from a seed: patients, diagnoses, medications -------------------------------------------------


class Synthetic(NamedTuple):
    """A table as its client has it, and as it should be."""

    dirty: Relation
    truth: Relation


def hierarchy() -> Hierarchy:
    """Medications in families, families in areas."""
    families = [(area, number) for area in range(AREAS) for number, size in enumerate(FAMILIES) for _ in range(size)]
    return Hierarchy.from_rows(
        [(f"drug-{i:02}", f"family-{area}{number}", f"area-{area}", "*") for i, (area, number) in enumerate(families)]
    )


def make_tables(rows: int, *, wrong: float = 0.1, imported: float = 0.05, seed: int = 7) -> Synthetic:
    """Patients whose gender and diagnosis determine their medication; a share of them has another one, by mistake.

    In a share of the groups most of the rows have got one other medication, the same one, by a bad import.
    """
    rng = np.random.default_rng(seed)
    diagnoses = max(rows // (2 * ROWS_PER_GROUP), 1)
    gender, diagnosis = rng.integers(0, 2, rows), rng.integers(0, diagnoses, rows)
    drug = rng.integers(0, DRUGS, (2, diagnoses))[gender, diagnosis]
    mistaken = rng.random(rows) < wrong
    dirty = np.where(mistaken, rng.integers(0, DRUGS, rows), drug)
    replaced = np.where(rng.random((2, diagnoses)) < imported, rng.uniform(0.5, 0.9, (2, diagnoses)), 0)
    instead = rng.integers(0, DRUGS, (2, diagnoses))[gender, diagnosis]
    dirty = np.where(rng.random(rows) < replaced[gender, diagnosis], instead, dirty)
    left = {
        "ID": pa.array([f"p{i:05}" for i in range(rows)]),
        "GEN": _texts(["female", "male"], gender),
        "AGE": _texts([str(age) for age in range(20, 80)], rng.integers(0, 60, rows)),
        "DIAG": _texts([f"diagnosis-{i:03}" for i in range(diagnoses)], diagnosis),
    }
    drugs = [f"drug-{i:02}" for i in range(DRUGS)]
    given, true = (Relation(pa.table(left | {"MED": _texts(drugs, codes)})) for codes in (dirty, drug))
    return Synthetic(given, true)


def _texts(labels: list[str], codes: Ints) -> pa.Array:
    return pa.array(labels).take(pa.array(codes))
