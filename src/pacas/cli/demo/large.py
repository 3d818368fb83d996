"""A synthetic table, cleaned with values bought from its truth, scored and reported."""

from __future__ import annotations

import time
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
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.score import Score
from pacas.client.outcome.steps import Observer
from pacas.client.safe_clean import SafeClean
from pacas.core.anonymity import Policy
from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.formats.report.report import write_report
from pacas.provider.provider import Provider

FD = "GEN, DIAG -> MED"
MATCH = "ID = ID"
DRUGS, PER_FAMILY, PER_AREA = 96, 6, 24
ROWS_PER_GROUP = 20
"""So many patients share a gender and a diagnosis, more or less."""

ROWS = 20_000
TOTAL, BUDGET = 20_000, 400
SEED = 7
POLICY = Policy(("ID",), ("MED",), {"MED": 0}, k=3)


@dataclass(frozen=True, slots=True)
class Large:
    """A synthetic table's cleaning, and its score."""

    cleaning: Cleaning
    score: Score
    seconds: float
    """From the two tables to the repaired one: the provider made ready, and the cleaning."""

    def as_json(self) -> dict[str, Any]:
        cleaning = self.cleaning
        found = {
            "rows": cleaning.rows,
            "violations_before": cleaning.violations_before,
            "violations_after": cleaning.violations_after,
            "budget": cleaning.budget,
            "spent": cleaning.spent,
            "purchases": len(cleaning.purchases),
            "unrepaired": len(cleaning.unrepaired),
            "score": self.score.as_dict(),
            "seconds": round(self.seconds, 3),
        }
        return {"synthetic": found}


def clean(report: Path, engine: DuckEngine) -> Large:
    """Clean the table and write the report."""
    with progress() as tell:
        tell(f"making a table of {ROWS:,} rows")
        table = make_tables(ROWS)
        begun = time.perf_counter()
        tell("making its provider ready")
        provider = Provider(
            table.truth,
            match={"MED": MATCH},
            policies=[POLICY],
            hierarchies={"MED": hierarchy()},
            total=TOTAL,
            seed=SEED,
            engine=engine,
        )
        cleaning = SafeClean(FD, BUDGET).clean(table.dirty, provider, observer=Watched(Observer(), tell), engine=engine)
        seconds = time.perf_counter() - begun
        tell("writing the report")
        score = cleaning.score(table.truth, engine=engine)
        write_report(report, cleaning, score=score, subject=f"a synthetic table of {ROWS:,} rows")
    return Large(cleaning, score, seconds)


def tell(large: Large, report: Path) -> None:
    title(f"8. The same with {ROWS:,} rows")
    out.print(f"A synthetic table: {FD} should hold; a tenth of MED is wrong.\n")
    print_summary(large.cleaning)
    print_review(Review(large.score))
    out.print(f"\nCleaned in {large.seconds:.1f} seconds, the provider's preparations included.")
    out.print(f"{report} written; open it in a browser.")


# ---- the table, made from a seed: patients, diagnoses, medications -------------------------------------------------


class Synthetic(NamedTuple):
    """A table as its client has it, and as it should be."""

    dirty: Relation
    truth: Relation


def hierarchy() -> Hierarchy:
    """Medications in families, families in areas."""
    return Hierarchy.from_rows(
        [(f"drug-{i:02}", f"family-{i // PER_FAMILY:02}", f"area-{i // PER_AREA}", "*") for i in range(DRUGS)]
    )


def make_tables(rows: int, *, wrong: float = 0.1, seed: int = 7) -> Synthetic:
    """Patients whose gender and diagnosis determine their medication; a share of them has another one, by mistake."""
    rng = np.random.default_rng(seed)
    diagnoses = max(rows // (2 * ROWS_PER_GROUP), 1)
    gender, diagnosis = rng.integers(0, 2, rows), rng.integers(0, diagnoses, rows)
    drug = rng.integers(0, DRUGS, (2, diagnoses))[gender, diagnosis]
    mistaken = rng.random(rows) < wrong
    dirty = np.where(mistaken, rng.integers(0, DRUGS, rows), drug)
    left = {
        "ID": pa.array([f"p{i:05}" for i in range(rows)]),
        "GEN": _texts(["female", "male"], gender),
        "DIAG": _texts([f"diagnosis-{i:03}" for i in range(diagnoses)], diagnosis),
    }
    drugs = [f"drug-{i:02}" for i in range(DRUGS)]
    given, true = (Relation(pa.table(left | {"MED": _texts(drugs, codes)})) for codes in (dirty, drug))
    return Synthetic(given, true)


def _texts(labels: list[str], codes: Ints) -> pa.Array:
    return pa.array(labels).take(pa.array(codes))
