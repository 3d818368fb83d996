"""A synthetic table to clean, and its truth, made from a seed: patients, diagnoses, medications."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pacas.core.hierarchy import Hierarchy
from pacas.core.histogram import Ints
from pacas.core.relation import Relation

FD = "GEN, DIAG -> MED"
MATCH = "ID = ID"
DRUGS, PER_FAMILY, PER_AREA = 96, 6, 24
ROWS_PER_GROUP = 20
"""So many patients share a gender and a diagnosis, more or less."""


class Synthetic(NamedTuple):
    """What a client has, and what is true."""

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
