"""Results of an evaluation that was never run: numbers that follow from the settings, so that plots can be checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from pacas.experiments.runs.figure import REAL_DATA, SCALES, Collection, all_settings
from pacas.experiments.runs.figures import FIGURES
from pacas.experiments.runs.results import SCHEMA, Runs
from pacas.experiments.runs.setting import OVERWRITTEN, PRIVATE, Setting

SMALL = SCALES["small"]


def measured(setting: Setting) -> dict[str, Any]:
    """The seeds 1 to 4 add 0.01 to 0.04, or as many cells; the mean lies 0.025 above what the settings say."""
    error = (20.0 if setting.method == PRIVATE else 0.5 if setting.guard == "linked" else 0.7) - 0.01 * setting.k
    rows = setting.rows or 2_000
    line = {
        "actual_rows": rows,
        "relative_error": error + setting.seed / 100,
        "error": 100 * (error + setting.seed / 100) * setting.error_rate,
        "dirty_error": 100.0 * setting.error_rate,
        "unseen": round(1000 * setting.random_rate) + setting.seed,
        "unseen_after": round(900 * setting.random_rate) + setting.seed,
        "unseen_share": 0.3 if setting.side == OVERWRITTEN else 0.0,
        "general": round(1000 * setting.error_rate) + setting.seed,
        "unrepaired": setting.seed,
        "cpu_seconds": rows / 1000 + setting.seed / 100,
        "seconds": rows / 1000,
        "version": "0.1.0",
        "commit": "0123456789ab",
    }
    line |= {f"quarter_{number}": 10 * number for number in range(1, 5)}
    if setting.buys:
        line |= {f"declined_{level}": max(0.0, 0.4 + 0.1 * setting.level - 0.2 * level) for level in range(6)}
        line |= {f"seconds_{part}": 0.1 * at for at, part in enumerate(("detect", "ask", "pay", "repair"), start=1)}
        line |= {"cpu_provider": 0.2 * setting.per_cell, "spent_share": setting.budget}
    return line


def runs_of(settings: Iterable[Setting], collection: Collection = REAL_DATA) -> Runs:
    """These runs, by way of a table, as an evaluation reads them."""
    lines = [setting.as_dict() | measured(setting) for setting in settings]
    table = pa.table({name: [line.get(name) for line in lines] for name in SCHEMA.names}, schema=SCHEMA)
    return Runs.of(table, collection, SMALL)


def all_runs(*names: str, keep: Callable[[Setting], bool] = lambda setting: True) -> Runs:
    """The runs of some figures that are to be kept."""
    figures = tuple(FIGURES[name] for name in names or FIGURES)
    return runs_of(setting for setting in all_settings(figures, REAL_DATA, SMALL) if keep(setting))
