"""A small cleaning that touches everything: several dependencies with one right side, nulls, a stranger, a policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import pacas
from pacas.client.outcome.cleaning import Cleaning
from pacas.core.hierarchy import Hierarchy
from pacas.engine.contract import Engine
from pacas.provider.ledger.ledger import Ledger

ROWS = 120
FDS = ["EMPLOYER, GRADE -> JOB", "BADGE -> JOB", "ZIP -> CITY"]
JOBS = Hierarchy.from_rows([(f"{family}{n}", family, "*") for family in "xyz" for n in range(4)])
CITIES = Hierarchy.from_rows([(f"city{n}", f"region{n % 3}", "*") for n in range(9)])


def truth() -> pa.Table:
    rng = np.random.default_rng(11)
    employer, grade, zip_ = (rng.integers(0, most, ROWS) for most in (9, 3, 20))
    job = (employer * 3 + grade) % 12
    return pa.table(
        {
            "PERSON": [f"p{n:03}" for n in range(ROWS)],
            "EMPLOYER": [f"e{n}" for n in employer],
            "GRADE": [str(n) for n in grade],
            "BADGE": [f"b{j}{n % 4}" for n, j in enumerate(job)],
            "JOB": [f"{'xyz'[j // 4]}{j % 4}" for j in job],
            "ZIP": [str(n) for n in zip_],
            "CITY": [f"city{n % 9}" for n in zip_],
        }
    )


def dirty() -> pa.Table:
    rng = np.random.default_rng(12)
    table = truth()
    wrong: dict[str, list[str | None]] = {"JOB": [*JOBS.ground_labels, None], "CITY": [*CITIES.ground_labels, "?"]}
    for name, others in wrong.items():
        values = table[name].to_pylist()
        for row in rng.choice(ROWS, 15, replace=False):
            values[row] = others[rng.integers(0, len(others))]
        table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.string()))
    return table


def shuffled(table: pa.Table) -> pa.Table:
    return table.take(np.random.default_rng(1).permutation(len(table)))


def provider(engine: Engine[Any] | None = None, ledger: Ledger | None = None) -> pacas.Provider:
    return pacas.Provider(
        truth(),
        match={"JOB": "PERSON = PERSON", "CITY": "PERSON = PERSON"},
        policies=[pacas.Policy(x=("PERSON",), y=("JOB",), k=3)],
        hierarchies={"JOB": JOBS, "CITY": CITIES},
        total=200,
        seed=5,
        ledger=ledger,
        engine=engine,
    )


def cleaner(fds: Sequence[str] = FDS) -> pacas.SafeClean:
    return pacas.SafeClean(fds, 6, rounds=2)


def told(cleaning: Cleaning) -> dict[str, Any]:
    """All that a cleaning comes to, but for the names of its purchases."""
    return {
        "table": cleaning.relation.table.to_pydict(),
        "purchases": [(p.attribute, p.rows.tolist(), p.level, p.value, p.price) for p in cleaning.purchases],
        "spent": cleaning.spent,
        "violations": (cleaning.violations_before, cleaning.violations_after),
        "unrepaired": [(u.attribute, u.rows.tolist(), u.reason) for u in cleaning.unrepaired],
    }
