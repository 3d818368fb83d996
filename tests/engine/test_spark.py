"""What only Spark does: number rows by a key, read tables and folders, notice that they change."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas.client.classes.check import check
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.contract import KeyedFrame
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.new_cells import NewCells
from pacas.errors import FileError, InputError, SchemaError
from pacas.formats.relations.relations import locate

ROWS = 500


@pytest.fixture(scope="module")
def engine(spark_session: Any) -> Iterator[Any]:
    from pacas.engine.spark.engine import SparkEngine

    made = SparkEngine(spark_session, bucket=130)
    yield made
    made.close()


def people(seed: int = 1) -> pa.Table:
    """Rows in the order of ID, with errors, nulls, general values, and spellings of numbers."""
    rng = np.random.default_rng(seed)

    def column(values: list[str | None]) -> pa.Array:
        return pa.array([values[i] for i in rng.integers(0, len(values), ROWS)], pa.string())

    return pa.table(
        {
            "ID": np.arange(ROWS) * 3 - 100,
            "A": column([*map(str, range(60)), None, "*"]),
            "B": column([*map(str, range(80)), "", "g"]),
            "N": column(["51", "51.0", "052", "1e15", "-0", "0", "x", None]),
            "C": column(["a", "b", "g", "?", None, "*"]),
        }
    )


TREE = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*"), ("c", "h", "*")])
NUMBERS = Hierarchy.from_rows([("51", "[51,60]", "*"), ("0", "[0,50]", "*")], numeric=True)


def shuffled(table: pa.Table, seed: int = 2) -> pa.Table:
    return table.take(np.random.default_rng(seed).permutation(len(table)))


def keyed(engine: Any, table: pa.Table, key: str = "ID") -> KeyedFrame:
    return KeyedFrame(engine.session.createDataFrame(shuffled(table)), (key,))


# ---- row numbers -----------------------------------------------------------------------------------------------------


def test_rows_are_numbered_in_the_order_of_the_key(engine: Any) -> None:
    table = people()
    opened = engine.open(keyed(engine, table), ["C", "ID"])
    assert len(opened) == ROWS
    assert engine.rows(opened, None, ["ID", "C"]).column(0).to_pylist() == [str(i) for i in table["ID"].to_pylist()]
    found = engine.rows(opened, np.array([499, 0, 7]), ["ID", "C"]).to_pydict()
    assert found["ID"] == ["1397", "-100", "-79"]
    assert found["C"] == [table["C"][row].as_py() for row in (499, 0, 7)]


def test_a_key_of_several_columns_numbers_rows_column_by_column(engine: Any) -> None:
    pairs = [(a, b) for a in "zyxé" for b in range(30)]
    table = pa.table({"A": [a for a, _ in pairs], "B": [b for _, b in pairs], "V": [f"{a}{b}" for a, b in pairs]})
    frame = KeyedFrame(engine.session.createDataFrame(shuffled(table)), ("A", "B"))
    assert engine.rows(engine.open(frame, ["V"]), None, ["V"])["V"].to_pylist() == [f"{a}{b}" for a, b in sorted(pairs)]


def test_a_key_that_repeats_or_is_null_is_refused_with_the_number_of_rows(engine: Any) -> None:
    twice = pa.table({"K": [1, 2, 2, 3, 3], "V": ["secret"] * 5})
    with pytest.raises(InputError, match="the key K of the table repeats in 2 rows"):
        engine.open(KeyedFrame(engine.session.createDataFrame(twice), ("K",)))
    missing = pa.table({"K": [1, None, 3], "V": ["secret"] * 3})
    with pytest.raises(InputError, match="the key K of the table is null in 1 rows"):
        engine.open(KeyedFrame(engine.session.createDataFrame(missing), ("K",)))


def test_a_frame_needs_a_key_that_it_has(engine: Any) -> None:
    frame = engine.session.createDataFrame(pa.table({"ID": [1], "A": ["secret"]}))
    with pytest.raises(InputError, match="needs a key"):
        KeyedFrame(frame, ())
    with pytest.raises(SchemaError, match="no column 'IDS' in the table; did you mean 'ID'"):
        KeyedFrame(frame, ("IDS",))
    with pytest.raises(InputError, match="have no order; give"):
        check(frame, ["ID -> A"], engine=engine)
    with pytest.raises(InputError, match="which DuckDB cannot open"):
        check(KeyedFrame(frame, ("ID",)), ["ID -> A"], engine=DuckEngine(threads=1))
    assert "secret" not in repr(KeyedFrame(frame, ("ID",)))


# ---- the same answers as the embedded engine's -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def opened(engine: Any) -> Any:
    """The people, all columns of them, opened once."""
    return engine.open(keyed(engine, people()))


@pytest.mark.parametrize("lhss", [[["A", "N"]], [["A"], ["B"], ["N"]], [["A", "B"], ["B", "N"]]])
def test_mixed_groups_are_those_of_the_embedded_engine(engine: Any, opened: Any, lhss: list[list[str]]) -> None:
    duck = DuckEngine(threads=1)
    hierarchies = {"B": TREE, "N": NUMBERS, "C": TREE}
    expected = duck.mixed_groups(duck.open(Relation.of(people())), lhss, "C", hierarchies)
    found = engine.mixed_groups(opened, lhss, "C", hierarchies)
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.offsets.tolist() == expected.offsets.tolist()
    assert list(map(found.hierarchy.label, found.codes)) == list(map(expected.hierarchy.label, expected.codes))
    assert found.violations.tolist() == expected.violations.tolist()


def test_long_chains_of_groups_are_one_component(engine: Any) -> None:
    """Row i shares A with the next row and B with the one before: 300 links, found in the same passes as one."""
    n = 300
    table = pa.table(
        {
            "ID": range(n),
            "A": [str(i // 2) for i in range(n)],
            "B": [str((i + 1) // 2) for i in range(n)],
            "C": ["x"] * (n - 1) + ["y"],
        }
    )
    found = engine.mixed_groups(engine.open(keyed(engine, table)), [["A"], ["B"]], "C", {})
    assert (len(found), found.rows.tolist()) == (1, list(range(n)))


def test_a_check_finds_what_the_embedded_engine_finds(engine: Any) -> None:
    table = people()
    dependencies = ["A -> C", "B, N -> C", "A -> B"]
    expected = check(table, dependencies, {"C": TREE}, engine=DuckEngine(threads=1))
    found = check(keyed(engine, table), dependencies, {"C": TREE}, engine=engine)
    assert [(d.violations, d.groups) for d in found.dependencies] == [
        (d.violations, d.groups) for d in expected.dependencies
    ]
    assert [(c.attribute, c.rows.tolist(), c.errors) for c in found.classes] == [
        (c.attribute, c.rows.tolist(), c.errors) for c in expected.classes
    ]


def test_answers_that_are_too_large_for_one_piece_come_in_batches(
    engine: Any, opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pacas.engine.spark.spark_sql.BATCH", 100)
    table = people()
    duck = DuckEngine(threads=1)
    expected = duck.mixed_groups(duck.open(Relation.of(table)), [["A"], ["B"]], "C", {})
    assert engine.mixed_groups(opened, [["A"], ["B"]], "C", {}).rows.tolist() == expected.rows.tolist()
    assert engine.rows(opened, None, ["ID"])["ID"].to_pylist() == [str(i) for i in table["ID"].to_pylist()]
    column = engine.columns(opened, ["C"])["C"]
    assert [column.values[code] for code in column.codes] == table["C"].to_pylist()


FLOATS = [0.1, 1e-5, 123456789.125, 2.0**-44, 1e15, 1e16, 1.5e300, -0.0, float("nan"), float("inf"), 5.0, None]


def test_typed_columns_of_a_folder_read_as_the_embedded_engine_reads_them(engine: Any, tmp_path: Path) -> None:
    with np.errstate(over="ignore"):
        single = pa.array(np.array([v or 0.0 for v in FLOATS]).astype(np.float32))
    moments = pa.array([0, 1_500_000, 86_400_000_000, -1, *range(8)])
    table = pa.table(
        {
            "ID": range(len(FLOATS)),
            "double": pa.array(FLOATS),
            "single": single,
            "cents": pa.array(range(len(FLOATS))).cast(pa.decimal128(38, 10)),
            "moment": moments.cast(pa.timestamp("us")),
            "instant": moments.cast(pa.timestamp("us", "UTC")),
        }
    )
    duck = DuckEngine(threads=1)
    expected = duck.rows(duck.open(Relation.of(table)), None, table.column_names).to_pydict()
    pq.write_table(shuffled(table), tmp_path / "part.parquet")
    opened = engine.open(engine.scan(str(tmp_path), "ID"))
    assert engine.rows(opened, None, table.column_names).to_pydict() == expected


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_decimals_are_spelled_with_all_their_places_in_either_mode_of_spark(engine: Any, ansi: str) -> None:
    small = [Decimal(v) for v in ("1E-10", "-1E-10", "0", "-15E-9", "1E-6", "-999E-9", "-0.5", "120E-9")]
    least = Decimal("1E-38")
    table = pa.table(
        {
            "ID": range(len(small) + 1),
            "ten": pa.array([*small, None], pa.decimal128(20, 10)),
            "wide": pa.array([*(v * 10**9 + v for v in small), None], pa.decimal128(38, 19)),
            "seven": pa.array([Decimal(n).scaleb(-7) for n in (1, -1, 0, 9, -10, 10**7, -(10**8), 5)] + [None]),
            "six": pa.array([Decimal(n).scaleb(-6) for n in (1, -1, 0, 9, -10, 10**6, -(10**7), 5)] + [None]),
            "all": pa.array([least, -least, Decimal(0), *[least * 12] * 5, None], pa.decimal128(38, 38)),
            "five": pa.array([Decimal(n).scaleb(-5) for n in (1, -1, 0, 9, -10, 99999, -99999, 5)] + [None]),
            "whole": pa.array([Decimal(0), Decimal(-1), Decimal("9" * 38), *[Decimal(7)] * 5, None]),
        }
    )
    duck = DuckEngine(threads=1)
    expected = duck.rows(duck.open(Relation.of(table)), None, table.column_names).to_pydict()
    session = engine.session.newSession()
    session.conf.set("spark.sql.ansi.enabled", ansi)
    other = type(engine)(session)
    opened = other.open(KeyedFrame(session.createDataFrame(table), ("ID",)))
    assert other.rows(opened, None, table.column_names).to_pydict() == expected
    other.close()


def test_a_column_of_lists_is_refused_by_name(engine: Any) -> None:
    frame = engine.session.createDataFrame(pa.table({"ID": [1], "A": [["secret"]]}))
    with pytest.raises(SchemaError, match=r"column 'A' of the table is of Spark's type array<string>; make it text"):
        engine.open(KeyedFrame(frame, ("ID",)))


# ---- tables and folders ----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of four Parquet files, rows in no order."""
    table, path = shuffled(people()), tmp_path / "people"
    path.mkdir()
    for part in range(4):
        pq.write_table(table.slice(part * 125, 125), path / f"part-{part}.parquet")
    return path


def test_a_folder_of_parquet_files_is_a_relation(engine: Any, folder: Path) -> None:
    opened = engine.open(engine.scan(str(folder), "ID"), ["A", "ID"])
    assert engine.rows(opened, None, ["A"])["A"].to_pylist() == [a or None for a in people()["A"].to_pylist()]


def test_a_table_is_found_by_its_name(engine: Any, folder: Path) -> None:
    engine.session.read.parquet(str(folder)).createOrReplaceTempView("clinic_people")
    opened = engine.open(engine.scan("clinic_people", ["ID"]))
    assert (len(opened), opened.name) == (ROWS, "clinic_people")
    engine.session.catalog.dropTempView("clinic_people")


@pytest.mark.parametrize(
    "where", ["no_such_table", "/no/such/folder", "file:///no/such/folder", "file:/no/such/folder"]
)
def test_a_table_that_is_not_there_is_one_clear_line(engine: Any, where: str) -> None:
    with pytest.raises(FileError, match=r"does not exist|is not there") as caught:
        engine.scan(where, "ID")
    assert "\n" not in str(caught.value)


def test_a_delta_table_is_read_by_its_log_where_spark_has_no_reader(engine: Any, tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake", reason="no deltalake here; install pacas[delta]")
    folder = tmp_path / "people"
    deltalake.write_deltalake(folder, pa.table({"ID": [2, 1], "A": ["b", "a"]}), partition_by=["A"])
    source = engine.scan(str(folder), "ID")
    assert engine.rows(engine.open(source), None, ["A"])["A"].to_pylist() == ["a", "b"]
    deltalake.write_deltalake(folder, pa.table({"ID": [3], "A": ["c"]}), mode="append")
    with pytest.raises(InputError, match="people has changed since it was first read"):
        engine.open(source)


@pytest.mark.parametrize("scheme", ["file://", "file:", "file:///"])
def test_a_delta_table_at_an_address_is_read_by_its_log(engine: Any, tmp_path: Path, scheme: str) -> None:
    deltalake = pytest.importorskip("deltalake", reason="no deltalake here; install pacas[delta]")
    folder = tmp_path / "some people"
    deltalake.write_deltalake(folder, pa.table({"ID": [1, 2], "A": ["a", "b"]}))
    deltalake.write_deltalake(folder, pa.table({"ID": [7], "A": ["only"]}), mode="overwrite")
    opened = engine.open(engine.scan(f"{scheme}{folder}", "ID"))
    assert engine.rows(opened, None, ["A"])["A"].to_pylist() == ["only"]


@pytest.mark.parametrize("address", ["viewfs://lake/clinic/people", "viewfs://pond/clinic/peop*"])
def test_a_delta_table_elsewhere_is_refused_where_spark_has_no_reader(engine: Any, folder: Path, address: str) -> None:
    session = engine.session.newSession()
    for lake in ("lake", "pond"):
        session.conf.set(f"fs.viewfs.mounttable.{lake}.link./clinic", f"file://{folder.parent}")
    other = type(engine)(session)
    assert len(other.open(other.scan(address, "ID"), ["A"])) == ROWS
    (folder / "_delta_log").mkdir()
    with pytest.raises(InputError, match=r"is a Delta table, .*; put Delta's package on the class path of Spark$"):
        other.scan(address, "ID")
    other.close()


def test_an_address_that_spark_has_no_way_to_is_one_clear_line(engine: Any) -> None:
    with pytest.raises(FileError, match=r"^dbfs:/people: Spark cannot read it") as caught:
        engine.scan("dbfs:/people", "ID")
    assert "\n" not in str(caught.value)


def test_without_deltalake_and_a_reader_of_sparks_one_line_names_both(
    engine: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "_delta_log").mkdir()
    monkeypatch.setitem(sys.modules, "deltalake", None)
    both = r"pip install 'pacas\[delta\]', or put Delta's package on the class path of Spark$"
    with pytest.raises(InputError, match=both):
        engine.scan(str(folder), "ID")
    with pytest.raises(InputError, match=both):
        locate("people", folder.parent, ["ID"], engine)


def test_spark_reads_delta_itself_where_it_has_a_reader(engine: Any, folder: Path) -> None:
    from pyspark.sql.datasource import DataSource, DataSourceReader

    class Reader(DataSourceReader):
        def read(self, partition: Any) -> Iterator[tuple[int, str]]:
            yield 1, "by Spark"

    class Delta(DataSource):
        """Stands for Delta's own package."""

        @classmethod
        def name(cls) -> str:
            return "delta"

        def schema(self) -> str:
            return "ID BIGINT, A STRING"

        def reader(self, schema: Any) -> DataSourceReader:
            return Reader()

    (folder / "_delta_log").mkdir()
    session = engine.session.newSession()
    session.dataSource.register(Delta)
    other = type(engine)(session)
    source = locate("people", folder.parent, ["ID"], other)
    assert isinstance(source, KeyedFrame)
    for found in (source, other.scan(f"file:{folder}", "ID")):
        assert other.rows(other.open(found), None, ["A"])["A"].to_pylist() == ["by Spark"]
    other.close()


# ---- tables that change ----------------------------------------------------------------------------------------------


def test_a_folder_that_is_written_again_before_it_is_opened_again_is_noticed(engine: Any, folder: Path) -> None:
    source = engine.scan(str(folder), "ID")
    engine.open(source, ["A"])
    os.utime(folder / "part-2.parquet", ns=(1, 1))
    with pytest.raises(InputError, match="has changed since it was first read"):
        engine.open(source, ["C"])


def test_a_frame_with_other_cells_when_it_is_opened_again_is_noticed(engine: Any, tmp_path: Path) -> None:
    """No file tells: the frame is computed, and what it is computed from has changed."""
    from pyspark.sql import functions as F

    state = tmp_path / "state"
    state.write_text("secret")
    path = str(state)

    def now(ids: pa.Array) -> pa.Array:
        with open(path) as stream:
            return pa.array([stream.read()] * len(ids))

    now.__annotations__ = {"ids": pa.Array, "return": pa.Array}
    frame = engine.session.range(50).withColumn("V", F.arrow_udf(now, "string")("id"))
    source = KeyedFrame(frame, ("id",), "the lake")
    engine.open(source, ["V"])
    engine.open(source, ["id", "V"])
    state.write_text("another")
    with pytest.raises(InputError, match="the lake has changed since it was first read"):
        engine.open(source, ["V", "id"])


def test_a_table_that_nobody_asks_about_any_more_leaves_nothing_behind(engine: Any) -> None:
    def names() -> set[str]:
        return set(engine.session.sql("SHOW VIEWS").toArrow()["viewName"].to_pylist())

    gc.collect()
    before = names()
    opened = engine.open(keyed(engine, people()), ["C"])
    engine.mixed_groups(opened, [["C"]], "C", {})
    assert names() == before | {opened.sql_name}
    del opened
    gc.collect()
    assert names() == before


# ---- repairs ---------------------------------------------------------------------------------------------------------


def test_repairs_write_the_new_cells_and_nothing_else(engine: Any) -> None:
    table = people()
    opened = engine.open(keyed(engine, table), ["C"])
    rows = np.array([499, 0, 7])
    new = engine.repaired(opened, {"C": NewCells(rows, ["new", None, "b"]), "A": NewCells(np.array([7]), ["it's"])})
    expected = {name: table[name].to_pylist() for name in table.column_names}
    for row, value in zip(rows.tolist(), ["new", None, "b"], strict=True):
        expected["C"][row] = value
    expected["A"][7] = "it's"
    assert new.frame.orderBy("ID").toArrow().to_pydict() == expected
    assert engine.rows(engine.open(new), np.array([0, 7]), ["C"])["C"].to_pylist() == [None, "b"]
    assert engine.repaired(opened, {"C": NewCells(np.array([], dtype=np.int64), [])}) is opened.source


def test_a_repaired_column_keeps_its_type_where_the_new_values_have_it(engine: Any) -> None:
    table = pa.table({"ID": [1, 2, 3], "AGE": [51, None, 7], "WEIGHT": [0.5, 3.0, None]})
    opened = engine.open(keyed(engine, table))
    one = np.array([1])
    kept = engine.repaired(opened, {"AGE": NewCells(one, ["60"])}).frame.orderBy("ID").toArrow().to_pydict()
    assert kept == {"ID": [1, 2, 3], "AGE": [51, 60, 7], "WEIGHT": [0.5, 3.0, None]}
    text = engine.repaired(opened, {"AGE": NewCells(one, ["[51,60]"]), "WEIGHT": NewCells(one, ["light"])})
    found = text.frame.orderBy("ID").toArrow().to_pydict()
    assert found == {"ID": [1, 2, 3], "AGE": ["51", "[51,60]", "7"], "WEIGHT": ["0.5", "light", None]}


def test_only_a_frame_with_a_key_is_repaired_on_spark(engine: Any) -> None:
    opened = engine.open(Relation.of({"A": ["1"]}))
    with pytest.raises(InputError, match="was not opened from a folder or a Spark frame with a key"):
        engine.repaired(opened, {})
    with pytest.raises(SchemaError, match="no column 'D' in the table"):
        engine.repaired(engine.open(keyed(engine, people()), ["C"]), {"D": NewCells(np.array([0]), ["x"])})
