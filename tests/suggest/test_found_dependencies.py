"""Dependencies of real tables are found again after errors were put in; none are found in tables that have none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import pacas
from pacas.core.relation import Relation
from pacas.engine.codes import coded_texts
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.grouping import Array
from pacas.experiments.datasets.load import SYNTHETIC, load
from pacas.experiments.errors.error_generator import ErrorGenerator
from pacas.formats.relations.relations import read_relation

ROWS = 6_000
RAW = {
    "food": ("food/nyc_restaurant_inspections_2016.csv.gz", "camis"),
    "trials": ("clinical/covid_trials_primary.csv.gz", "nct_id"),
}
"""Tables as they are published, and the column of which groups are drawn whole."""
CURATED = ("clinical", "discharges", "census", "adult")
MOST_COLUMNS = 19
"""So many, that one error a row comes to the same share of each column's cells."""


class Known(NamedTuple):
    """A clean table with the dependencies that hold in it, and those of which one may think either way."""

    name: str
    table: pa.Table
    true: set[tuple[str, str]]
    arguable: set[tuple[str, str]]


def known(name: str, table: pa.Table) -> Known:
    """What holds in a clean table in 997 rows of 1,000 that share their group, and not by chance; up to 970: arguable.

    Nothing is asked of columns that are (nearly) constant or (nearly) unique.
    """
    columns = {c: coded_texts(table[c]) for c in table.column_names}
    codes = {
        c: np.where(np.array([v is None for v in one.values])[one.codes], -1, one.codes.astype(np.int64))
        for c, one in columns.items()
    }
    asked = [c for c in codes if _tells(codes[c])]
    true, arguable = set(), set()
    for left in asked:
        for right in asked:
            exceptions, above_chance = _holding(codes[left], codes[right]) if left != right else (1.0, 0.0)
            if exceptions <= 0.003 and above_chance >= 0.9:
                true.add((left, right))
            elif exceptions <= 0.03 and above_chance >= 0.6:
                arguable.add((left, right))
    return Known(name, table, true, arguable)


def _tells(codes: Array) -> bool:
    counts = np.bincount(codes[codes >= 0])
    present = counts.sum()
    return bool(present and counts.max() < 0.99 * present and (counts > 0).sum() < 0.98 * present)


def _holding(left: Array, right: Array) -> tuple[float, float]:
    """The share of exceptions among rows that share a left side, and how much rarer they are than by chance."""
    there = (left >= 0) & (right >= 0)
    pairs, n = np.unique(left[there] * (right.max() + 1) + right[there], return_counts=True)
    group, value = np.divmod(pairs, right.max() + 1)
    size, most = np.bincount(group, weights=n), np.zeros(int(group.max(initial=0)) + 1)
    np.maximum.at(most, group, n)
    shared = size > 1
    rows = size[shared].sum()
    by_value = np.bincount(value, weights=n)
    if shared.sum() < 3 or rows < max(20, 0.03 * len(left)) or by_value.max() >= 0.99 * n.sum():
        return 1.0, 0.0
    agreeing, chance = (n * n / size[group]).sum() / n.sum(), (by_value / n.sum()) @ (by_value / n.sum())
    spare = n.sum() - (size > 0).sum()
    return float((size - most)[shared].sum() / rows), float(1 - (1 - agreeing) / (1 - chance) * (n.sum() - 1) / spare)


def texts(table: pa.Table) -> pa.Table:
    return pa.table({c: table[c].cast(pa.string()) for c in table.column_names})


def raw(engine: DuckEngine, path: Path, drawn: str) -> pa.Table:
    """About so many rows, in whole groups of a column."""
    file = pacas.scan_relation(path)
    table = engine.rows(engine.open(file), None, file.columns)
    groups, place = np.unique(table[drawn].to_numpy(zero_copy_only=False), return_inverse=True)
    chosen = np.random.default_rng(0).random(len(groups)) < ROWS / len(table)
    return table.filter(pa.array(chosen[place]))


@pytest.fixture(scope="module")
def tables(shared_data: Path) -> list[Known]:
    engine = DuckEngine()
    found = [known(name, raw(engine, shared_data / path, drawn)) for name, (path, drawn) in RAW.items()]
    curated = (texts(load(name, shared_data, rows=ROWS).truth.table) for name in CURATED)
    return [*found, *(known(f"{name}, curated", one) for name, one in zip(CURATED, curated, strict=True))]


def dirty(one: Known, rate: float) -> Relation:
    """Errors of all usual kinds in so many cells of each column: of those in dependencies, if there are too many."""
    named = [c for c in one.table.column_names if any(c in fd for fd in one.true)]
    struck = one.table.column_names if len(one.table.column_names) <= MOST_COLUMNS else named[:MOST_COLUMNS]
    how = ErrorGenerator(random_rate=min(rate * len(struck), 1.0), attributes=struck, seed=1)
    return how.dirty(one.table).relation if rate else Relation(one.table)


def suggested(table: Relation) -> set[tuple[str, str]]:
    found = pacas.suggest_dependencies(table, pairs=False)
    return {(each.fd.lhs[0], each.fd.rhs) for each in (*found.strong, *found.redundant)}


def counts(tables: list[Known], rate: float) -> Iterator[tuple[int, int, int]]:
    """Per table: true dependencies found, false ones found, true ones not found."""
    for one in tables:
        fds = suggested(dirty(one, rate))
        yield len(fds & one.true), len(fds - one.true - one.arguable), len(one.true - fds)


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.05])
def test_one_threshold_finds_what_holds_and_little_else(tables: list[Known], rate: float) -> None:
    right, wrong, missed = (sum(column) for column in zip(*counts(tables, rate), strict=True))
    assert right + missed > 90
    assert right / (right + wrong) >= 0.95
    assert right / (right + missed) >= 0.85


def test_a_fifth_of_all_rows_wrong_hides_no_dependency(tables: list[Known]) -> None:
    true = ["camis -> street", "zipcode -> boro", "violation_code -> violation_description"]
    how = ErrorGenerator(true, rate=0.2, side="both", value="both", seed=2)
    found = pacas.suggest_dependencies(how.dirty(tables[0].table).relation, pairs=False)
    assert set(true) <= {str(one.fd) for one in (*found.strong, *found.redundant)}


def test_exceptions_of_a_column_that_mostly_holds_the_same_tell_nothing_by_being_even(shared_data: Path) -> None:
    """Where people came from does not follow from whether they moved."""
    names = ["live_in_this_house_1_year_ago", "region_of_previous_residence", "state_of_previous_residence"]
    table = texts(read_relation(shared_data / "census/census_income_kdd.csv.gz").table.select(names))
    drawn = np.sort(np.random.default_rng(1).choice(len(table), ROWS, replace=False))
    how = ErrorGenerator(random_rate=0.15, seed=1)
    assert not {left for left, _ in suggested(how.dirty(table.take(drawn)).relation)} & {names[0]}


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.0, 0.05])
@pytest.mark.parametrize("name", SYNTHETIC)
def test_nothing_false_is_found_in_made_tables(name: str, rate: float) -> None:
    """Their dependencies have several attributes on the left, so that none of one attribute is true."""
    made = known(name, texts(load(name, rows=ROWS).truth.table))
    found = pacas.suggest_dependencies(dirty(made, rate), pairs=False)
    assert {str(one.fd) for one in (*found.strong, *found.redundant)} == set()
