"""Folders of Parquet files on DuckDB: rows numbered by a key, in place or sorted."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parquet_folders import ENGINE, texts, write

from pacas.engine.contract import RelationFolder
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.files.folder import scan_folder
from pacas.errors import FileError, InputError, SchemaError
from pacas.formats.relations.relations import scan_relation


def numbers(folder: Path, *key: str) -> list[str | None]:
    """The column N by row number, each row asked for by its own."""
    table = ENGINE.open(scan_folder(folder, key), ["N"])
    listed: list[str | None] = ENGINE.rows(table, np.arange(len(table)), ["N"]).column(0).to_pylist()
    return listed


# ---- numbers --------------------------------------------------------------------------------------------------------


def test_rows_are_numbered_in_the_order_of_the_key(tmp_path: Path) -> None:
    shuffled = random.Random(3).sample(range(500), 500)
    files = {f"{i}.parquet": {"ID": part, "N": [f"n{n}" for n in part]} for i in range(5) if (part := shuffled[i::5])}
    assert numbers(write(tmp_path, files), "ID") == [f"n{n}" for n in range(500)]


def test_files_in_order_are_read_in_place_whatever_their_names(tmp_path: Path) -> None:
    files = {f"part-{i}.parquet": {"ID": [10 * i, 10 * i + 1], "N": [f"{i}a", f"{i}b"]} for i in range(12)}
    folder = write(tmp_path, files)  # by name, part-10 comes before part-2
    assert numbers(folder, "ID") == [f"{i}{x}" for i in range(12) for x in "ab"]
    engine = DuckEngine(threads=2)
    engine.open(scan_folder(folder, ["ID"]), ["N"])
    made = engine._connection.sql("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall()
    assert made == [(0,)], "nothing was copied"


@pytest.mark.parametrize(
    ("key", "order"),
    [
        (["b", "a", "ab", "Z", "é", "ä"], ["Z", "a", "ab", "b", "ä", "é"]),  # by bytes
        ([2.5, -1.0, float("nan"), float("inf"), 0.0], [-1.0, 0.0, 2.5, float("inf"), float("nan")]),
        ([10, 9, -3], [-3, 9, 10]),
        ([True, False], [False, True]),
        ([date(2020, 1, 2), date(1999, 12, 31)], [date(1999, 12, 31), date(2020, 1, 2)]),
        ([Decimal("2.50"), Decimal("-1.00")], [Decimal("-1.00"), Decimal("2.50")]),
        (["", "a"], ["", "a"]),  # an empty text is a value of a key
    ],
)
def test_keys_of_any_type_are_ordered_as_their_type_is(tmp_path: Path, key: list[Any], order: list[Any]) -> None:
    write(tmp_path, {"0.parquet": {"ID": key, "N": [str(v) for v in key]}})
    assert numbers(tmp_path, "ID") == [str(v) or None for v in order]


def test_a_key_of_several_columns(tmp_path: Path) -> None:
    rows = [(x, y) for y in (2, 1) for x in ("b", "a")]
    table = {"A": [x for x, _ in rows], "B": [y for _, y in rows], "N": [f"{x}{y}" for x, y in rows]}
    folder = write(tmp_path, {"0.parquet": table})
    assert numbers(folder, "A", "B") == ["a1", "a2", "b1", "b2"]
    assert numbers(folder, "B", "A") == ["a1", "b1", "a2", "b2"]


def test_many_row_groups_keep_their_order(tmp_path: Path) -> None:
    ids = list(range(20_000))
    pq.write_table(pa.table({"ID": ids, "N": list(map(str, ids))}), tmp_path / "0.parquet", row_group_size=500)
    assert numbers(tmp_path, "ID") == list(map(str, ids))
    pq.write_table(
        pa.table({"ID": ids[::-1], "N": list(map(str, ids[::-1]))}), tmp_path / "0.parquet", row_group_size=9
    )
    assert numbers(tmp_path, "ID") == list(map(str, ids))


@pytest.mark.parametrize("ids", [[1, 2, 2, 3], [3, 2, 2, 2, 1], [1, 1]])
def test_a_key_that_repeats_is_refused(tmp_path: Path, ids: list[int]) -> None:
    write(tmp_path / "people", {f"{i}.parquet": {"ID": [n], "N": ["x"]} for i, n in enumerate(ids)})
    again = len(ids) - len(set(ids))
    with pytest.raises(InputError, match=f"^the key ID of people repeats in {again} rows; give columns that tell all"):
        texts(tmp_path / "people", "ID")


@pytest.mark.parametrize(("second", "without"), [([None, 2], 1), ([None, None], 2)])
def test_a_key_that_is_null_is_refused(tmp_path: Path, second: list[int | None], without: int) -> None:
    table = {"A": [1, 2], "B": pa.array(second, pa.int64())}
    write(tmp_path / "people", {"0.parquet": table})
    with pytest.raises(InputError, match=f"^the key A, B of people is null in {without} rows; give columns that never"):
        texts(tmp_path / "people", "A", "B")


# ---- what is read ---------------------------------------------------------------------------------------------------


def test_values_are_the_texts_that_a_single_file_has(tmp_path: Path) -> None:
    table = pa.table(
        {
            "ID": [2, 1, 3],
            "float": [1.0, 0.1, None],
            "text": ["", "x", None],
            "day": [date(2020, 1, 2), None, date(2021, 1, 1)],
            "moment": [datetime(2020, 1, 2, 3, 4), None, datetime(2021, 1, 1)],
            "cents": pa.array([Decimal("1.50"), None, Decimal("2.00")]),
        }
    )
    pq.write_table(table.sort_by("ID"), tmp_path / "one.parquet")
    expected = ENGINE.rows(ENGINE.open(scan_relation(tmp_path / "one.parquet")), None, table.column_names).to_pydict()
    assert texts(write(tmp_path / "people", {"a.parquet": table}), "ID") == expected
    assert expected["float"] == ["0.1", "1", None]


def test_only_some_columns_are_read_and_the_key_need_not_be_one(tmp_path: Path) -> None:
    folder = write(tmp_path, {"0.parquet": {"ID": [2, 1], "A": ["b", "a"], "B": ["x", "y"]}})
    assert texts(folder, "ID", columns=["B"]) == {"B": ["y", "x"]}
    with pytest.raises(SchemaError, match="no column 'C'"):
        texts(folder, "ID", columns=["C"])


def test_names_that_differ_in_case_alone_are_two_columns(tmp_path: Path) -> None:
    folder = write(tmp_path, {"0.parquet": {"ID": [2, 1], "a": ["b", "a"], "A": ["x", "y"]}})
    assert texts(folder, "ID") == {"ID": ["1", "2"], "a": ["a", "b"], "A": ["y", "x"]}


def test_partitions_are_columns(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        {
            "YEAR=2021/CITY=a%2Fb/0.parquet": {"ID": [1]},
            "YEAR=2020/CITY=x/0.parquet": {"ID": [2, 0]},
            "YEAR=2020/CITY=__HIVE_DEFAULT_PARTITION__/0.parquet": {"ID": [3]},
        },
    )
    assert scan_folder(folder, ["ID"]).columns == ("ID", "YEAR", "CITY")
    assert texts(folder, "ID") == {
        "ID": ["0", "1", "2", "3"],
        "YEAR": ["2020", "2021", "2020", "2020"],
        "CITY": ["x", "a/b", "x", None],
    }
    assert texts(folder, "YEAR", "ID")["ID"] == ["0", "2", "3", "1"]


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["01", "1e"], ["01", "1e"]),
        (["01", "-7"], ["1", "-7"]),
        (["1.50", "2"], ["1.5", "2"]),
        (["2020-01-02", "1999-12-31"], ["2020-01-02", "1999-12-31"]),
        (["2020-01-02", "x"], ["2020-01-02", "x"]),
    ],
)
def test_a_partition_is_a_number_or_a_date_where_all_look_like_it(
    tmp_path: Path, values: list[str], read: list[str]
) -> None:
    write(tmp_path, {f"P={value}/0.parquet": {"ID": [i]} for i, value in enumerate(values)})
    assert texts(tmp_path, "ID")["P"] == read


def test_a_folder_inside_a_partition_of_something_else_has_no_column_of_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "ID=7" / "people", {"0.parquet": {"ID": [2, 1]}})
    assert texts(folder, "ID") == {"ID": ["1", "2"]}


def test_hidden_files_and_files_of_other_kinds_are_no_data(tmp_path: Path) -> None:
    folder = write(tmp_path, {"0.parquet": {"ID": [1]}, "_temporary/1.parquet": {"ID": [2]}, ".2.parquet": {"ID": [3]}})
    (folder / "_SUCCESS").touch()
    (folder / ".0.parquet.crc").write_bytes(b"\0")
    (folder / "README.txt").write_text("about it")
    assert texts(folder, "ID") == {"ID": ["1"]}


def test_files_without_rows_do_no_harm(tmp_path: Path) -> None:
    empty = pa.table({"ID": pa.array([], pa.int64())})
    folder = write(tmp_path, {"0.parquet": empty, "1.parquet": {"ID": [2, 1]}, "2.parquet": empty})
    assert texts(folder, "ID") == {"ID": ["1", "2"]}
    with pytest.raises(InputError, match="nothing has a header but no rows"):
        texts(write(tmp_path / "nothing", {"0.parquet": empty}), "ID")


def test_names_that_sql_would_take_for_patterns(tmp_path: Path) -> None:
    folder = write(tmp_path / "it's [a] *", {"0?.parquet": {"ID": [1]}, "0x.parquet": {"ID": [0]}})
    assert texts(folder, "ID") == {"ID": ["0", "1"]}


def test_a_moment_has_one_text_wherever_the_machine_is(tmp_path: Path) -> None:
    when = pa.array([datetime(2020, 1, 1, 12)], pa.timestamp("us", "UTC"))
    folder = write(tmp_path / "people", {"0.parquet": {"ID": [1], "T": when}})
    program = (
        "import sys; from pacas import scan_folder; from pacas.engine.duck.engine import DuckEngine; "
        "engine = DuckEngine(threads=1); table = engine.open(scan_folder(sys.argv[1], ['ID'])); "
        "print(engine.rows(table, None, ['T'])['T'][0].as_py())"
    )
    command, elsewhere = [sys.executable, "-c", program, str(folder)], os.environ | {"TZ": "Asia/Tokyo"}
    done = subprocess.run(command, env=elsewhere, capture_output=True, text=True, check=True)
    assert done.stdout == "2020-01-01 12:00:00+00\n"


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_a_folder_needs_a_key(tmp_path: Path) -> None:
    folder = write(tmp_path / "people", {"0.parquet": {"ID": [1]}})
    with pytest.raises(InputError, match=r"^people needs a key: .*; give key = \"ID\" in the file, or --key ID$"):
        scan_folder(folder, [])
    with pytest.raises(SchemaError, match="no column 'Id' in people; did you mean 'ID'"):
        scan_folder(folder, ["Id"])


def test_what_is_no_folder_of_parquet_files(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nothing does not exist; give a folder of Parquet files"):
        scan_folder(tmp_path / "nothing", ["ID"])
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match=r"file is a file; give a folder"):
        scan_folder(tmp_path / "file", ["ID"])
    with pytest.raises(FileError, match=r"is a folder without Parquet files"):
        scan_folder(tmp_path, ["ID"])
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(FileError, match=r"broken\.parquet is not a complete Parquet file"):
        scan_folder(tmp_path, ["ID"])


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"0.parquet": {"ID": [1]}, "1.parquet": {"ID": ["1"]}},
            "1.parquet in people has other columns or types than 0",
        ),
        ({"0.parquet": {"ID": [1]}, "1.parquet": {"ID": [1], "A": [1]}}, "1.parquet in people has other columns or"),
        (
            {"0.parquet": {"ID": [1]}, "sub/1.parquet": {"ID": [1]}},
            r"people has Parquet files in sub, which is no partition \(column=value\)",
        ),
        ({"0.parquet": {"ID": [1]}, "A=1/1.parquet": {"ID": [1]}}, "is in other partitions than the rest"),
        ({"id=1/0.parquet": {"ID": [1]}}, "column 'id' of people is in its files and in its folders' names"),
        (
            {"0.parquet": {"ID": [1], "file_row_number": [1]}},
            "'file_row_number' of people has a name that DuckDB needs",
        ),
    ],
)
def test_files_that_do_not_belong_together(tmp_path: Path, files: Mapping[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        scan_folder(write(tmp_path / "people", files), ["ID"])


def test_columns_in_another_order_are_the_same_columns(tmp_path: Path) -> None:
    folder = write(tmp_path, {"0.parquet": {"ID": [1], "A": ["a"]}, "1.parquet": {"A": ["b"], "ID": [0]}})
    assert texts(folder, "ID") == {"ID": ["0", "1"], "A": ["b", "a"]}


# ---- digests --------------------------------------------------------------------------------------------------------


def test_a_folder_is_known_by_its_files(people: Path) -> None:
    source = scan_folder(people, ["ID"])
    before = ENGINE.digest(source)
    (people / "_SUCCESS").touch()
    assert ENGINE.digest(source) == before == ENGINE.digest(RelationFolder(people, source.columns, ("A",)))
    (people / "0.parquet").rename(people / "9.parquet")
    renamed = ENGINE.digest(source)
    write(people, {"9.parquet": {"ID": [9], "A": ["x"], "N": [1]}})
    assert len({before, renamed, ENGINE.digest(source)}) == 3
