"""The evaluation from end to end: runs, then a tidy table, claims, plots and a report in one directory.

Paper: §7.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pacas.experiments.claim import Judged
from pacas.experiments.claims import judge_all
from pacas.experiments.plots.draw import check_can_draw, draw
from pacas.experiments.plots.means import Means, means
from pacas.experiments.plots.report import write_report
from pacas.experiments.runs.figure import REAL_DATA, SYNTHETIC_DATA, Collection, Figure, Scale, all_settings, find_scale
from pacas.experiments.runs.figures import find_figures
from pacas.experiments.runs.results import Results, Runs, write_table
from pacas.experiments.runs.running import EvaluationProgress, run_missing
from pacas.experiments.runs.setting import PAPER

SYNTHETIC = "synthetic"


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is to be run, on which data, and where it goes."""

    figures: tuple[Figure, ...]
    collection: Collection
    scale: Scale
    data: Path | None
    output: Path
    quotes: str = PAPER

    @classmethod
    def of(cls, figure: str, data: str, scale: str, output: Path, quotes: str = PAPER) -> EvaluationPlan:
        """A plan by the names that the command line takes; `data` is a directory, or `synthetic`."""
        synthetic = data == SYNTHETIC
        return cls(
            find_figures(figure, quotes),
            SYNTHETIC_DATA if synthetic else REAL_DATA,
            find_scale(scale),
            None if synthetic else Path(data),
            output,
            quotes,
        )


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was written, and what it says of the paper's claims."""

    results: Path
    plots: tuple[Path, ...]
    report: Path
    claims: tuple[Judged, ...]
    runs: int
    """How many were made now; others were there already."""
    means: tuple[Means, ...]
    """What each figure shows, in figures."""


def evaluate(
    plan: EvaluationPlan, *, jobs: int = 1, progress: Callable[[EvaluationProgress], None] = lambda step: None
) -> Evaluation:
    """Run what is missing, and write everything anew."""
    check_can_draw()
    settings = all_settings(plan.figures, plan.collection, plan.scale)
    results = Results(plan.output)
    made = run_missing(settings, results, plan.data, jobs=jobs, progress=progress)
    table = results.table(settings)
    parquet, _ = write_table(table, plan.output)
    runs = Runs.of(table, plan.collection, plan.scale, plan.quotes)
    claims = tuple(judged for judged in judge_all(runs) if judged.figure in {f.name for f in plan.figures})
    document = [judged.as_dict() | {"why": judged.why} for judged in claims]
    (plan.output / "claims.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    shown = tuple(means(figure, runs) for figure in plan.figures)
    plots = tuple(path for figure in plan.figures for path in draw(figure, runs, plan.output))
    report = write_report(plan.output, plan.figures, runs, claims)
    return Evaluation(parquet, plots, report, claims, made, shown)
