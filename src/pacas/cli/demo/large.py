"""A synthetic table, cleaned with values bought from its truth, scored and reported."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pacas.cli.clean.review import Review, print_review
from pacas.cli.clean.run import Watched
from pacas.cli.clean.summary import print_summary
from pacas.cli.demo.show import title
from pacas.cli.demo.table import FD, MATCH, hierarchy, make_tables
from pacas.cli.options import out, progress
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.score import Score
from pacas.client.outcome.steps import Observer
from pacas.client.safe_clean import SafeClean
from pacas.core.anonymity import Policy
from pacas.engine.duck.engine import DuckEngine
from pacas.formats.report.report import write_report
from pacas.provider.provider import Provider

ROWS = 20_000
TOTAL, BUDGET = 20_000, 400
SEED = 7
POLICY = Policy(("ID",), ("MED",), {"MED": 0}, k=3)


@dataclass(frozen=True, slots=True)
class Large:
    """What became of the table."""

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
