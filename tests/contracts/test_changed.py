"""What every engine must do when cells are new: to show the relation with them, or to notice that others wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import ENGINES

from pacas.core.relation import Relation
from pacas.engine.contract import Engine, Table
from pacas.engine.files.folder import scan_folder
from pacas.engine.new_cells import NewCells
from pacas.errors import InputError
from pacas.formats.relations.relations import scan_relation


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine[Any]]:
    made = request.param(request)
    yield made
    made.close()


@pytest.fixture
def table(engine: Engine[Any]) -> Table:
    opened: Table = engine.open(Relation.of({"A": ["x", "x", "y", None], "B": ["1", "2", "3", "4"]}))
    return opened


def cells(rows: Sequence[int], *values: str | None) -> NewCells:
    return NewCells(np.array(rows, dtype=np.int64), values)


def texts(engine: Engine[Any], table: Table) -> dict[str, list[str | None]]:
    found = engine.rows(table, np.arange(len(table)), table.columns)
    return {name: found.column(name).to_pylist() for name in table.columns}


def test_new_cells_stand_where_they_are_put_and_nowhere_else(engine: Engine[Any], table: Table) -> None:
    changed = engine.changed(table, {"B": cells([2, 0], "30", None), "A": cells([3], "z")})
    assert texts(engine, changed) == {"A": ["x", "x", "y", "z"], "B": [None, "2", "30", "4"]}
    assert len(changed) == 4 and changed.name == table.name
    assert texts(engine, table) == {"A": ["x", "x", "y", None], "B": ["1", "2", "3", "4"]}


def test_a_column_that_was_not_there_is_null_elsewhere(engine: Engine[Any], table: Table) -> None:
    changed = engine.changed(table, {"mark": cells([1], "0")})
    assert changed.columns == ("A", "B", "mark")
    assert texts(engine, changed)["mark"] == [None, "0", None, None]
    assert engine.mixed_groups(changed, [["A"]], "mark", {}).rows.tolist() == [0, 1]


def test_what_is_changed_may_be_changed_again_and_asked_about(engine: Engine[Any], table: Table) -> None:
    once = engine.changed(table, {"B": cells([0, 1], "same", "same")})
    twice = engine.changed(once, {"A": cells([3], "y")})
    assert engine.mixed_groups(twice, [["A"]], "B", {}).rows.tolist() == [2, 3]
    assert engine.histogram(twice, ["B"], {}).values[0] == ("same",)
    assert engine.columns(twice, ["A"])["A"].values == ["x", "y"]


def test_an_index_of_what_is_changed_finds_the_new_values(engine: Engine[Any], table: Table) -> None:
    changed = engine.changed(table, {"A": cells([0], "y")})
    index = engine.index(changed, ["A"], ["B"], {})
    found = index.find(engine.rows(table, np.array([2]), ["A"]))
    assert found.column("row").to_pylist() == [0, 2] and found.column("B").to_pylist() == ["1", "3"]
    index.close()


def test_no_new_cells_change_nothing(engine: Engine[Any], table: Table) -> None:
    assert texts(engine, engine.changed(table, {})) == texts(engine, table)
    assert texts(engine, engine.changed(table, {"B": cells([])})) == texts(engine, table)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_table_that_changes_between_two_questions_is_noticed(engine: Engine[Any], tmp_path: Path, kind: str) -> None:
    file = tmp_path / "people" / "part.parquet"
    file.parent.mkdir()
    pq.write_table(pa.table({"ID": [1, 2], "A": ["x", "x"], "B": ["1", "2"]}), file)
    source = scan_relation(file) if kind == "file" else scan_folder(file.parent, ["ID"])
    table = engine.open(source, ["A", "B"])
    assert len(engine.mixed_groups(table, [["A"]], "B", {})) == 1
    pq.write_table(pa.table({"ID": [1, 2, 3], "A": ["x", "y", "z"], "B": ["1", "2", "3"]}), file)
    with pytest.raises(InputError, match="has changed since it was first read; let its writers finish"):
        engine.histogram(table, ["B"], {})
