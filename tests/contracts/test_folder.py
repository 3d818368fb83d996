"""What every engine must do with a folder of Parquet files: number its rows by a key, and write it with new cells.

A folder may be a Delta table: then its log says which of its files count, and what they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import ENGINES
from jobs_and_cities import cleaner, dirty, provider, shuffled, told

from pacas.core.relation import Relation
from pacas.engine.contract import Engine
from pacas.engine.files.digest import source_digest
from pacas.engine.files.folder import scan_folder
from pacas.engine.new_cells import NewCells
from pacas.errors import FileError, InputError, SchemaError

HOLDING = [each for each in ENGINES if each.id != "spilling"]  # which opens folders as DuckDB always does


@pytest.fixture(scope="module", params=HOLDING)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine[Any]]:
    made = request.param(request)
    yield made
    made.close()


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    for name, columns in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path)
    return folder


def texts(engine: Engine[Any], folder: Path, *key: str) -> dict[str, list[str | None]]:
    table = engine.open(scan_folder(folder, key))
    found = engine.rows(table, None, table.columns)
    return {name: found.column(name).to_pylist() for name in table.columns}


def cells(rows: Sequence[int], *values: str | None) -> NewCells:
    return NewCells(np.array(rows, dtype=np.int64), values)


TYPED = {
    "ID": [30, 10, 20],
    "TEXT": ["z", "", None],
    "WHOLE": pa.array([3, None, 2], pa.int32()),
    "FLOAT": [0.1, 5.0, None],
    "DAY": [date(2020, 2, 29), None, date(1999, 12, 31)],
    "MONEY": pa.array([Decimal("1.50"), Decimal("2.00"), None], pa.decimal128(9, 2)),
    "FLAG": [True, False, None],
    "TIME": pa.array([datetime(2020, 1, 1, 12), None, datetime(1999, 1, 1)], pa.timestamp("us")),
}
SPELLED = {
    "ID": ["10", "20", "30"],
    "TEXT": [None, None, "z"],
    "WHOLE": [None, "2", "3"],
    "FLOAT": ["5", None, "0.1"],
    "DAY": [None, "1999-12-31", "2020-02-29"],
    "MONEY": ["2.00", None, "1.50"],
    "FLAG": ["false", None, "true"],
    "TIME": [None, "1999-01-01 00:00:00", "2020-01-01 12:00:00"],
}


def test_rows_are_numbered_by_the_key_and_typed_columns_read_as_text(engine: Engine[Any], tmp_path: Path) -> None:
    parts = {f"{i}.parquet": {name: pa.array(values)[i : i + 1] for name, values in TYPED.items()} for i in range(3)}
    folder = write(tmp_path / "a folder [1]", parts)
    assert texts(engine, folder, "ID") == SPELLED


def test_a_key_of_several_columns_orders_by_the_first_then_the_next(engine: Engine[Any], tmp_path: Path) -> None:
    folder = write(
        tmp_path, {"0.parquet": {"A": ["é", "z", "a"], "B": [1, 10, 2]}, "1.parquet": {"A": ["z"], "B": [9]}}
    )
    assert texts(engine, folder, "A", "B") == {"A": ["a", "z", "z", "é"], "B": ["2", "9", "10", "1"]}
    assert texts(engine, folder, "B") == {"A": ["é", "a", "z", "z"], "B": ["1", "2", "9", "10"]}


def test_what_folders_names_say_is_a_column_too(engine: Engine[Any], tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        {
            "YEAR=2025/ZIP=01/0.parquet": {"ID": [4, 2]},
            "YEAR=2026/ZIP=x%20y/0.parquet": {"ID": [1]},
            "YEAR=2026/ZIP=__HIVE_DEFAULT_PARTITION__/0.parquet": {"ID": [3]},
        },
    )
    (folder / "_SUCCESS").touch()
    (folder / "notes.txt").write_text("not data")
    assert texts(engine, folder, "ID") == {
        "ID": ["1", "2", "3", "4"],
        "YEAR": ["2026", "2025", "2026", "2025"],
        "ZIP": ["x y", "01", None, "01"],
    }


def test_a_key_that_repeats_or_is_null_is_refused_in_the_same_words(engine: Engine[Any], tmp_path: Path) -> None:
    twice = write(tmp_path / "twice", {"0.parquet": {"K": [1, 2]}, "1.parquet": {"K": [2, 3]}})
    with pytest.raises(
        InputError, match=r"^the key K of twice repeats in 1 rows; give columns that tell all rows apart$"
    ):
        engine.open(scan_folder(twice, ["K"]))
    null = write(tmp_path / "null", {"0.parquet": {"K": [1, None]}})
    with pytest.raises(InputError, match=r"^the key K of null is null in 1 rows; give columns that never are$"):
        engine.open(scan_folder(null, ["K"]))


def test_new_cells_are_written_and_all_else_is_as_it_was(engine: Engine[Any], tmp_path: Path) -> None:
    parts = {f"{i}.parquet": {name: pa.array(values)[i : i + 1] for name, values in TYPED.items()} for i in range(3)}
    folder = write(tmp_path / "given", parts)
    table = engine.open(scan_folder(folder, ["ID"]), ["TEXT"])
    new = {
        "TEXT": cells([1, 0], "it's", "new"),
        "WHOLE": cells([0, 2], "51", None),
        "FLOAT": cells([1], "2.5"),
        "DAY": cells([0], "2026-11-16"),
        "MONEY": cells([2], "[1,2]"),
        "FLAG": cells([2], "*"),
    }
    engine.write(table, new, tmp_path / "written")
    written = pq.read_table(tmp_path / "written").sort_by("ID")
    assert written.to_pydict() == {
        "ID": [10, 20, 30],
        "TEXT": ["new", "it's", "z"],
        "WHOLE": [51, 2, None],
        "FLOAT": [5.0, 2.5, 0.1],
        "DAY": [date(2026, 11, 16), date(1999, 12, 31), date(2020, 2, 29)],
        "MONEY": ["2.00", None, "[1,2]"],
        "FLAG": ["false", None, "*"],
        "TIME": [None, datetime(1999, 1, 1), datetime(2020, 1, 1, 12)],
    }
    assert written.schema.field("WHOLE").type == pa.int32()
    assert texts(engine, folder, "ID") == SPELLED, "what was given is as it was"


def test_a_value_that_only_looks_like_the_columns_type_makes_it_text(engine: Engine[Any], tmp_path: Path) -> None:
    folder = write(tmp_path / "given", {"0.parquet": {"ID": [1, 2], "N": [7, 8], "D": [date(2020, 1, 1)] * 2}})
    table = engine.open(scan_folder(folder, ["ID"]))
    engine.write(table, {"N": cells([0], "51.0"), "D": cells([1], "2020")}, tmp_path / "written")
    written = pq.read_table(tmp_path / "written").sort_by("ID").to_pydict()
    assert written == {"ID": [1, 2], "N": ["51.0", "8"], "D": ["2020-01-01", "2020"]}


def test_a_moment_with_a_new_value_stays_a_moment(engine: Engine[Any], tmp_path: Path) -> None:
    when = pa.array([datetime(2020, 1, 1), datetime(2020, 1, 2)], pa.timestamp("us", "UTC"))
    folder = write(tmp_path / "given", {"0.parquet": {"ID": [1, 2], "T": when, "U": when}})
    table = engine.open(scan_folder(folder, ["ID"]))
    new = {"T": cells([1], "2020-01-01 00:00:00+00"), "U": cells([0], "2020")}
    engine.write(table, new, tmp_path / "written")
    written = pq.read_table(tmp_path / "written").sort_by("ID")
    assert written["T"].cast(pa.timestamp("us", "UTC")) == pa.chunked_array([when.take(pa.array([0, 0]))])
    assert written["U"].to_pylist() == ["2020", "2020-01-02 00:00:00+00"]


def test_a_partition_is_written_as_a_column_that_reads_alike(engine: Engine[Any], tmp_path: Path) -> None:
    folder = write(tmp_path / "given", {f"ZIP=0{i}/0.parquet": {"ID": [i], "A": ["x"]} for i in range(2)})
    table = engine.open(scan_folder(folder, ["ID"]))
    engine.write(table, {"A": cells([1], "y")}, tmp_path / "written")
    expected = {"ID": ["0", "1"], "A": ["x", "y"], "ZIP": ["0", "1"]}
    assert texts(engine, tmp_path / "written", "ID") == expected


@pytest.mark.parametrize("there", ["folder", "file"])
def test_what_is_there_already_is_not_written_over(engine: Engine[Any], tmp_path: Path, there: str) -> None:
    folder = write(tmp_path / "given", {"0.parquet": {"ID": [1]}})
    table = engine.open(scan_folder(folder, ["ID"]))
    target = folder if there == "folder" else tmp_path / "file"
    if there == "file":
        target.write_text("mine")
    with pytest.raises(FileError, match="is there already"):
        engine.write(table, {}, target)
    with pytest.raises(FileError, match="does not exist"):
        engine.write(table, {}, tmp_path / "no" / "such")
    with pytest.raises(SchemaError, match="no column 'IDS' in given; did you mean 'ID'"):
        engine.write(table, {"IDS": cells([0], "1")}, tmp_path / "written")
    (tmp_path / "empty").mkdir()
    engine.write(table, {}, tmp_path / "empty")
    assert texts(engine, tmp_path / "empty", "ID") == {"ID": ["1"]}


def test_a_table_in_memory_is_not_written_as_a_folder(engine: Engine[Any], tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        engine.write(engine.open(Relation.of({"A": ["secret"]})), {}, tmp_path / "written")
    assert "secret" not in str(caught.value)


def test_a_digest_is_that_of_the_files(engine: Engine[Any], tmp_path: Path) -> None:
    one, same, other = (
        write(tmp_path / name, {"0.parquet": {"ID": [1, 2], "A": ["x", value]}})
        for name, value in [("one", "y"), ("same", "y"), ("other", "z")]
    )
    digest = {folder.name: engine.digest(scan_folder(folder, ["ID"])) for folder in (one, same, other)}
    assert digest["one"] == digest["same"] != digest["other"]


# ---- Delta tables ---------------------------------------------------------------------------------------------------


@pytest.fixture
def deltalake() -> Any:
    return pytest.importorskip("deltalake", reason="no deltalake here; install pacas[delta]")


def test_the_log_says_which_files_count(engine: Engine[Any], tmp_path: Path, deltalake: Any) -> None:
    folder = tmp_path / "a table [1]%20"
    for number in range(11):
        rows = {"P": ["01", "x"], "ID": [2 * number, 2 * number + 1], "A": ["old", "old"]}
        mode = "overwrite" if number == 3 else "append"
        deltalake.write_deltalake(tmp_path / "made", pa.table(rows), mode=mode, partition_by=["P"])
    table = deltalake.DeltaTable(tmp_path / "made")
    table.delete("ID in (7, 8)")
    table.create_checkpoint()
    table.update(updates={"A": "'new'"}, predicate="ID > 18")
    table.optimize.compact()
    (tmp_path / "made").rename(folder)
    kept = [6, *range(9, 22)]
    assert texts(engine, folder, "ID") == {
        "P": ["x" if row % 2 else "01" for row in kept],
        "ID": list(map(str, kept)),
        "A": ["new" if row > 18 else "old" for row in kept],
    }


def test_partitions_of_a_delta_table_have_the_types_of_its_columns(
    engine: Engine[Any], tmp_path: Path, deltalake: Any
) -> None:
    partitions = [name for name in TYPED if name != "ID"]
    columns = TYPED | {"TEXT": ["é =%", "01", None], "INSTANT": pa.array(TYPED["TIME"]).cast(pa.timestamp("us", "UTC"))}
    deltalake.write_deltalake(tmp_path / "p", pa.table(columns), partition_by=[*partitions, "INSTANT"])
    instants = {"INSTANT": [None, "1999-01-01 00:00:00+00", "2020-01-01 12:00:00+00"]}
    assert texts(engine, tmp_path / "p", "ID") == SPELLED | {"TEXT": ["01", None, "é =%"]} | instants


def test_columns_of_a_delta_table_may_come_later_and_be_stored_otherwise(
    engine: Engine[Any], tmp_path: Path, deltalake: Any
) -> None:
    when = pa.array([datetime(2020, 1, 1, 12)], pa.timestamp("us", "UTC"))
    deltalake.write_deltalake(tmp_path / "p", pa.table({"T": when, "ID": [2]}))
    (old,) = (tmp_path / "p").glob("*.parquet")
    pq.write_table(pq.read_table(old), old, use_deprecated_int96_timestamps=True)
    later = pa.table({"ID": [1], "T": when, "N": [7]})
    deltalake.write_deltalake(tmp_path / "p", later, mode="append", schema_mode="merge")
    expected = {"T": ["2020-01-01 12:00:00+00"] * 2, "ID": ["1", "2"], "N": ["7", None]}
    assert texts(engine, tmp_path / "p", "ID") == expected


def test_a_delta_table_is_written_as_a_plain_folder(engine: Engine[Any], tmp_path: Path, deltalake: Any) -> None:
    given = {"ZIP": ["01", "02", "02"], "ID": [1, 2, 3], "A": ["x", "y", "z"]}
    deltalake.write_deltalake(tmp_path / "given", pa.table(given), partition_by=["ZIP"])
    deltalake.DeltaTable(tmp_path / "given").delete("ID = 2")
    table = engine.open(scan_folder(tmp_path / "given", ["ID"]), ["A"])
    engine.write(table, {"A": cells([1], "new")}, tmp_path / "written")
    expected = {"ZIP": ["01", "02"], "ID": ["1", "3"], "A": ["x", "new"]}
    assert texts(engine, tmp_path / "written", "ID") == expected
    assert not (tmp_path / "written" / "_delta_log").exists()


def test_a_commit_to_a_delta_table_is_noticed(engine: Engine[Any], tmp_path: Path, deltalake: Any) -> None:
    rows = pa.table({"ID": [1, 2], "A": ["x", "y"]})
    deltalake.write_deltalake(tmp_path / "given", rows)
    source = scan_folder(tmp_path / "given", ["ID"])
    table = engine.open(source)
    deltalake.write_deltalake(tmp_path / "given", pa.table({"ID": [0], "A": ["z"]}), mode="append")
    has_changed = r"^given has changed since it was first read; let its writers finish, then begin again$"
    with pytest.raises(InputError, match=has_changed):
        engine.rows(table, None, ["A"])
    with pytest.raises(InputError, match=has_changed):
        engine.write(table, {"A": cells([0], "new")}, tmp_path / "written")
    assert [entry.name for entry in tmp_path.iterdir()] == ["given"]


def test_a_delta_table_has_one_digest_on_every_engine(engine: Engine[Any], tmp_path: Path, deltalake: Any) -> None:
    deltalake.write_deltalake(tmp_path / "given", pa.table({"ID": [1]}))
    source = scan_folder(tmp_path / "given", ["ID"])
    assert engine.digest(source) == source_digest(source)


def test_a_delta_table_is_cleaned_like_the_table_in_memory(engine: Engine[Any], tmp_path: Path, deltalake: Any) -> None:
    table = shuffled(dirty())
    for part in range(3):
        rows = table.slice(part * 40, 40)
        deltalake.write_deltalake(tmp_path / "given", rows, mode="append", partition_by=["GRADE", "ZIP"])
    expected = told(cleaner().clean(dirty(), provider(), run="run"))
    found = cleaner().clean(scan_folder(tmp_path / "given", ["PERSON"]), provider(), run="run", engine=engine)
    assert told(found) == expected
