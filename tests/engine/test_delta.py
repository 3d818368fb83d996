"""Delta tables as folders: the log says which files count and what they hold; what is not read exactly is refused."""

from __future__ import annotations

import base64
import json
import os
import shutil
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas.engine.duck.engine import DuckEngine
from pacas.engine.files.delta_lake import read_log
from pacas.engine.files.folder import scan_folder
from pacas.engine.new_cells import NewCells
from pacas.errors import FileError, InputError, PacasError, SchemaError

deltalake = pytest.importorskip("deltalake", reason="no deltalake here; install pacas[delta]")

ENGINE = DuckEngine(threads=2)
Action = dict[str, Any]


def write(folder: Path, columns: Any, *partition_by: str, mode: str = "append", **more: Any) -> Path:
    deltalake.write_deltalake(folder, pa.table(columns), mode=mode, partition_by=list(partition_by) or None, **more)
    return folder


def texts(folder: Path, *key: str) -> dict[str, list[str | None]]:
    table = ENGINE.open(scan_folder(folder, key))
    found: dict[str, list[str | None]] = ENGINE.rows(table, None, table.columns).to_pydict()
    return found


def relogged(folder: Path, change: Callable[[Action], Action | None]) -> Path:
    """A table whose first commit is another one."""
    commit = folder / "_delta_log" / f"{0:020}.json"
    actions = [change(json.loads(line)) for line in commit.read_text().splitlines()]
    commit.write_text("\n".join(json.dumps(action) for action in actions if action))
    return folder


def asks(*features: str, version: int = 3) -> Callable[[Action], Action]:
    """That readers must know these features."""
    listed = {"readerFeatures": features, "writerFeatures": features} if version == 3 else {}
    protocol = {"protocol": {"minReaderVersion": version, "minWriterVersion": 7 if version == 3 else 5} | listed}
    return lambda action: protocol if "protocol" in action else action


def within(kind: str, change: Callable[[Action], Action]) -> Callable[[Action], Action]:
    return lambda action: {kind: change(action[kind])} if kind in action else action


def one_line(folder: Path, said: str, kind: type[PacasError] = InputError) -> None:
    with pytest.raises(kind, match=said) as caught:
        scan_folder(folder, ["ID"])
    assert "\n" not in str(caught.value)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write(tmp_path / "people", {"ID": [2, 1], "A": ["b", "a"]})


# ---- which files count ----------------------------------------------------------------------------------------------


def test_after_many_commits_the_rows_are_those_that_delta_finds(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    for number in range(12):
        rows = range(number * 10, number * 10 + 10)
        write(folder, {"ID": list(rows), "P": [row % 3 for row in rows], "A": [f"a{row}" for row in rows]}, "P")
    table = deltalake.DeltaTable(folder)
    table.delete("ID % 4 = 0")
    table.update(updates={"A": "'new'"}, predicate="ID > 100")
    table.create_checkpoint()
    table.optimize.compact()
    table.delete("P = 2")
    write(folder, {"ID": [1000], "P": [0], "A": ["last"]}, "P")
    expected = deltalake.DeltaTable(folder).to_pyarrow_table().sort_by("ID")
    assert texts(folder, "ID") == {c: [str(v) for v in expected[c].to_pylist()] for c in ("ID", "P", "A")}
    assert len(list(folder.rglob("*.parquet"))) > 2 * len(read_log(folder).files), "most files are of the past"


def test_overwritten_files_do_not_count(people: Path) -> None:
    write(people, {"ID": [7], "A": ["only"]}, mode="overwrite")
    assert texts(people, "ID") == {"ID": ["7"], "A": ["only"]}


def test_a_table_without_rows_is_said_so(people: Path) -> None:
    deltalake.DeltaTable(people).delete()
    one_line(people, "^people has a header but no rows$")


def test_a_log_that_begins_with_a_checkpoint_of_the_second_kind(people: Path) -> None:
    log = people / "_delta_log"
    relogged(people, asks("v2Checkpoint"))
    actions = [a for a in map(json.loads, (log / f"{0:020}.json").read_text().splitlines()) if "commitInfo" not in a]
    checkpoint = log / f"{0:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    checkpoint.write_text("\n".join(map(json.dumps, [{"checkpointMetadata": {"version": 0}}, *actions])))
    (log / f"{0:020}.json").unlink()
    assert texts(people, "ID") == {"ID": ["1", "2"], "A": ["a", "b"]}


@pytest.mark.parametrize("name", ["a folder [1]%20", "it's #1", "back\\slash", "new\nline"])
def test_any_name_of_a_folder_will_do(people: Path, name: str) -> None:
    assert texts(people.rename(people.with_name(name)), "ID")["A"] == ["a", "b"]


def test_a_folder_by_a_relative_name(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(people)
    assert texts(Path("."), "ID")["A"] == texts(Path("../people"), "ID")["A"] == ["a", "b"]


# ---- partitions and columns -----------------------------------------------------------------------------------------

TYPED = {
    "text": pa.array(["01", "a/b c", None]),
    "whole": pa.array([3, None, -2], pa.int16()),
    "float": pa.array([0.1, 5.0, None]),
    "single": pa.array([0.1, 5.0, None], pa.float32()),
    "money": pa.array([Decimal("1.50"), Decimal("2.00"), None], pa.decimal128(9, 2)),
    "flag": pa.array([True, False, None]),
    "day": pa.array([date(2020, 2, 29), None, date(1999, 12, 31)]),
    "moment": pa.array([datetime(2020, 1, 1, 12), None, datetime(1999, 1, 1, 0, 0, 0, 5)], pa.timestamp("us")),
    "instant": pa.array([datetime(2020, 1, 1, 12), None, datetime(1999, 1, 1)], pa.timestamp("us", "UTC")),
}


@pytest.mark.parametrize("name", TYPED)
def test_a_partition_reads_as_the_column_that_it_is(tmp_path: Path, name: str) -> None:
    columns = {"P": TYPED[name], "ID": [1, 2, 3]}
    partitioned, plain = write(tmp_path / "partitioned", columns, "P"), write(tmp_path / "plain", columns)
    assert texts(partitioned, "ID") == texts(plain, "ID")
    assert scan_folder(partitioned, ["ID"]).columns == ("P", "ID"), "the table's order, not the files'"


@pytest.mark.parametrize("place", ["xY/data", "xY/data.parquet", "P=y/data.parquet", "P=x/_data.parquet"])
def test_a_partition_is_what_the_log_says_wherever_its_file_is(tmp_path: Path, place: str) -> None:
    folder = write(tmp_path / "people", {"ID": [1], "P": ["x"]}, "P")
    (file,) = read_log(folder).files
    (folder / place).parent.mkdir(exist_ok=True)
    file.rename(folder / place)
    relogged(folder, within("add", lambda add: add | {"path": place}))
    assert texts(folder, "ID") == texts(copy(folder, {}), "ID") == {"ID": ["1"], "P": ["x"]}


def test_a_column_that_came_later_is_null_before(people: Path) -> None:
    write(people, {"ID": [3], "A": ["c"], "N": [7]}, schema_mode="merge")
    deltalake.DeltaTable(people).alter.add_columns([deltalake.Field("F", deltalake.schema.PrimitiveType("double"))])
    assert texts(people, "ID") == {
        "ID": ["1", "2", "3"],
        "A": ["a", "b", "c"],
        "N": [None, None, "7"],
        "F": [None, None, None],
    }
    assert texts(people, "A")["ID"] == ["1", "2", "3"]


@pytest.mark.parametrize("old", [1, 2])
def test_a_moment_is_the_same_however_it_is_stored(tmp_path: Path, old: int) -> None:
    when = pa.array([datetime(2020, 1, 1, 12), datetime(1999, 1, 1)], pa.timestamp("us", "UTC"))
    folder = write(tmp_path / "people", {"ID": [1, 2], "T": when})
    write(folder, {"ID": [3, 4], "T": when})
    for file in list(read_log(folder).files)[:old]:
        pq.write_table(pq.read_table(file), file, use_deprecated_int96_timestamps=True)
    assert texts(folder, "ID")["T"] == ["2020-01-01 12:00:00+00", "1999-01-01 00:00:00+00"] * 2
    assert texts(copy(folder, {}), "ID")["T"] == ["2020-01-01 12:00:00+00", "1999-01-01 00:00:00+00"] * 2


def test_a_file_of_other_types_than_the_log_says(people: Path) -> None:
    (file,) = read_log(people).files
    pq.write_table(pa.table({"ID": ["secret"], "A": ["a"]}), file)
    one_line(people, r"in people has column 'ID' of another type than its Delta log says$", SchemaError)


def test_a_file_that_spells_a_column_otherwise_than_the_log(people: Path) -> None:
    (file,) = read_log(people).files
    pq.write_table(pq.read_table(file).rename_columns(["ID", "a"]), file)
    one_line(people, r"in people has column 'a', which its Delta log spells 'A'$", SchemaError)


def test_a_file_with_other_values_inside_values_than_the_log_says(tmp_path: Path) -> None:
    folder = write(tmp_path / "people", {"ID": [1], "S": pa.array([[{"a": 1}]])})
    assert scan_folder(folder, ["ID"]).columns == ("ID", "S")
    write(folder, {"ID": [2], "S": pa.array([[{"a": 1, "b": 2}]])}, schema_mode="merge")
    one_line(folder, r"in people has column 'S' of another type than its Delta log says$", SchemaError)


def test_lists_and_maps_are_the_same_whatever_their_parts_are_called(tmp_path: Path) -> None:
    pairs = pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))
    folder = write(tmp_path / "people", {"ID": [1], "L": [[1, 2]], "M": pairs})
    write(folder, {"ID": [2], "L": [[3]], "M": pairs})
    first = min(read_log(folder).files)
    pq.write_table(pq.read_table(first), first, use_compliant_nested_type=False)
    assert scan_folder(folder, ["ID"]).columns == ("ID", "L", "M")


def test_a_partition_of_bytes_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "people", {"ID": [1], "P": [b"x"]}, "P")
    one_line(folder, "^people has partitions by 'P', a column of binary; make it text$", SchemaError)


# ---- what is refused ------------------------------------------------------------------------------------------------


def deleted_rows(*rows: int) -> str:
    """A deletion vector as a log has it in its text: rows of a file, in a bitmap, in Z85."""
    inside = struct.pack(f"<IIHHI{len(rows)}H", 12346, 1, 0, len(rows) - 1, 16, *rows)
    bitmap = struct.pack("<IQI", 1681511377, 1, 0) + inside
    bitmap += b"\0" * (-len(bitmap) % 4)
    ours = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    theirs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
    return base64.b85encode(bitmap).decode().translate(str.maketrans(theirs, ours))


def marked(inline: str) -> Callable[[Action], Action]:
    vector = {"storageType": "i", "pathOrInlineDv": inline, "sizeInBytes": 34, "cardinality": 1}
    return within("add", lambda add: add | {"deletionVector": vector})


def mapped(*names: str) -> Action:
    """That columns have other names in the files."""
    fields = [
        {
            "name": name,
            "type": "string",
            "nullable": True,
            "metadata": {"delta.columnMapping.id": i, "delta.columnMapping.physicalName": f"col-{i}"},
        }
        for i, name in enumerate(names)
    ]
    schema = json.dumps({"type": "struct", "fields": fields})
    return {"schemaString": schema, "configuration": {"delta.columnMapping.mode": "name"}}


REFUSED: Mapping[str, tuple[Sequence[Callable[[Action], Action]], str]] = {
    "deleted rows": (
        [asks("deletionVectors"), marked(deleted_rows(0))],
        "with deletionVectors, which is not read here",
    ),
    "damaged deletions": ([asks("deletionVectors"), marked("0" * 45)], "with deletionVectors, which is not read"),
    "mapped columns": (
        [asks(version=2), within("metaData", lambda meta: meta | mapped("ID", "A"))],
        "with columnMapping, which is not read here",
    ),
    "wider types": ([asks("typeWidening")], "with typeWidening, which is not read here"),
    "variants": ([asks("variantType")], "with variantType, which is not read here"),
    "something new": ([asks("fromTomorrow")], "with fromTomorrow, which is not read here"),
    "a newer reader": ([asks(version=4)], "with reader version 4, which is not read here"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_read_exactly_is_refused(people: Path, case: str, capfd: pytest.CaptureFixture[str]) -> None:
    changes, said = REFUSED[case]
    for change in changes:
        relogged(people, change)
    one_line(people, said, PacasError)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("change", [asks("deletionVectors", "columnMapping"), asks(version=2), asks("timestampNtz")])
def test_what_a_table_allows_and_does_not_use_is_no_reason(people: Path, change: Callable[[Action], Action]) -> None:
    assert texts(relogged(people, change), "ID")["A"] == ["a", "b"]


@pytest.mark.parametrize("path", ["/lake/x.parquet", "file:///lake/x.parquet", "s3://lake/x.parquet", "../x.parquet"])
def test_files_elsewhere_are_refused(people: Path, path: str) -> None:
    relogged(people, within("add", lambda add: add | {"path": path}))
    one_line(people, r"names files outside of it, as a shallow clone's does; copy the whole table$", FileError)


def test_a_file_that_is_gone(people: Path) -> None:
    next(people.glob("*.parquet")).unlink()
    one_line(people, r"^the Delta log of .*people names part-.*\.parquet, which is not there$", FileError)


BROKEN: Mapping[str, Callable[[Path], object]] = {
    "cut short": lambda commit: os.truncate(commit, 500),
    "empty": lambda commit: os.truncate(commit, 0),
    "not text": lambda commit: commit.write_bytes(b"\xff\0 secret"),
    "nothing": lambda commit: commit.unlink(),
    "a commit is missing": lambda commit: shutil.copy(commit, commit.with_name(f"{2:020}.json")),
    "no columns": lambda commit: commit.write_text(commit.read_text().replace("schemaString", "secret")),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_log_is_one_line(people: Path, case: str, capfd: pytest.CaptureFixture[str]) -> None:
    BROKEN[case](people / "_delta_log" / f"{0:020}.json")
    one_line(people, r"^the Delta log of .*people cannot be read; is _delta_log complete\?$", FileError)
    assert capfd.readouterr() == ("", "")


def test_without_deltalake_one_line_says_how_to_get_it(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    one_line(people, r"is a Delta table, .*: pip install 'pacas\[delta\]', or put Delta's package on the class path")


# ---- tables that change ---------------------------------------------------------------------------------------------

COMMITS: Mapping[str, Callable[[Path], object]] = {
    "append": lambda folder: write(folder, {"ID": [3], "A": ["c"]}),
    "delete": lambda folder: deltalake.DeltaTable(folder).delete("ID = 1"),
    "overwrite": lambda folder: write(folder, {"ID": [3], "A": ["c"]}, mode="overwrite"),
    "other columns": lambda folder: write(folder, {"B": [3]}, mode="overwrite", schema_mode="overwrite"),
    "a setting": lambda folder: deltalake.DeltaTable(folder).alter.set_table_description("patients"),
    "a broken one": lambda folder: (folder / "_delta_log" / f"{1:020}.json").write_text("{"),
    "no log": lambda folder: shutil.rmtree(folder / "_delta_log"),
}


@pytest.mark.parametrize("commit", COMMITS)
def test_a_new_commit_is_noticed_and_nothing_is_written(people: Path, commit: str) -> None:
    table = ENGINE.open(scan_folder(people, ["ID"]))
    ENGINE.check_unchanged(table)
    COMMITS[commit](people)
    with pytest.raises(InputError, match=r"^people has changed since it was first read; let its writers finish"):
        ENGINE.rows(table, None, ["A"])
    with pytest.raises(InputError, match="people has changed"):
        ENGINE.write(table, {}, people.with_name("written"))
    assert [entry.name for entry in people.parent.iterdir()] == ["people"]


def test_columns_that_are_others_when_the_table_is_opened_are_noticed(people: Path) -> None:
    source = scan_folder(people, ["ID"])
    COMMITS["other columns"](people)
    with pytest.raises(InputError, match="people has changed since it was first read"):
        ENGINE.open(source)


def test_a_checkpoint_changes_nothing(people: Path) -> None:
    table = ENGINE.open(scan_folder(people, ["ID"]))
    deltalake.DeltaTable(people).create_checkpoint()
    assert ENGINE.rows(table, None, ["A"])["A"].to_pylist() == ["a", "b"]


def test_a_table_is_known_by_what_its_log_says(tmp_path: Path) -> None:
    folder = write(tmp_path / "people", {"ID": [1, 2], "P": ["x", "y"]}, "P")
    source = scan_folder(folder, ["ID"])
    other = tmp_path / "other" / "people"
    shutil.copytree(folder, other)
    before = ENGINE.digest(source)
    assert ENGINE.digest(scan_folder(other, ["ID"])) == before
    relogged(other, within("add", lambda add: add | {"partitionValues": {"P": "z"}}))
    relabelled = ENGINE.digest(scan_folder(other, ["ID"]))
    write(folder, {"ID": [3], "P": ["x"]}, "P")
    assert len({before, relabelled, ENGINE.digest(source)}) == 3


# ---- copies with new cells ------------------------------------------------------------------------------------------


def copy(folder: Path, cells: Mapping[str, Mapping[int, str | None]]) -> Path:
    into = folder.with_name(f"{folder.name}.clean")
    new = {a: NewCells(np.array(list(c), dtype=np.int64), list(c.values())) for a, c in cells.items()}
    ENGINE.write(ENGINE.open(scan_folder(folder, ["ID"]), []), new, into)
    return into


def names(folder: Path) -> list[str]:
    return sorted(entry.relative_to(folder).as_posix() for entry in folder.rglob("*") if entry.is_file())


def test_a_copy_is_a_plain_folder_of_the_files_that_count(people: Path) -> None:
    write(people, {"ID": [3], "A": ["c"]})
    deltalake.DeltaTable(people).delete("ID = 2")
    into = copy(people, {"A": {1: "new"}})
    assert names(into) == [file.name for file in read_log(people).files]
    assert texts(into, "ID") == {"ID": ["1", "3"], "A": ["a", "new"]}


@pytest.mark.parametrize("values", [["x", "a/b", None], [7, -1, None], [date(2020, 1, 2), date(1999, 1, 1), None]])
def test_partitions_stay_where_they_read_alike_without_the_log(tmp_path: Path, values: list[Any]) -> None:
    folder = write(tmp_path / "people", {"P": values, "ID": [1, 2, 3], "A": ["x"] * 3}, "P")
    into = copy(folder, {"A": {0: "new"}})
    assert names(into) == [file.relative_to(folder).as_posix() for file in read_log(folder).files]
    assert texts(into, "ID")["P"] == texts(folder, "ID")["P"] == [None if v is None else str(v) for v in values]


@pytest.mark.parametrize("name", TYPED)
def test_a_copy_reads_as_the_table_whatever_its_partitions_are(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "people", {"P": TYPED[name], "ID": [1, 2, 3], "A": ["x"] * 3}, "P")
    assert texts(copy(folder, {"A": {0: "new"}}), "ID") == texts(folder, "ID") | {"A": ["new", "x", "x"]}


def test_a_text_that_looks_like_a_number_stays_a_text(tmp_path: Path) -> None:
    folder = write(tmp_path / "people", {"ZIP": ["01", "02"], "ID": [1, 2]}, "ZIP")
    into = copy(folder, {})
    assert names(into) == ["part-00000.parquet", "part-00001.parquet"]
    written = pq.read_table(into).sort_by("ID")
    assert written.to_pydict() == {"ZIP": ["01", "02"], "ID": [1, 2]}
    assert written.column_names == ["ZIP", "ID"], "the table's order"


def test_a_partition_gets_new_values_of_its_type(tmp_path: Path) -> None:
    folder = write(tmp_path / "people", {"P": pa.array([1, 2], pa.int16()), "ID": [1, 2]}, "P")
    written = pq.read_table(copy(folder, {"P": {1: "7"}})).sort_by("ID")
    assert written.to_pydict() == {"P": [1, 7], "ID": [1, 2]}
    assert written.schema.field("P").type == pa.int16()


def test_files_of_a_copy_all_have_all_columns(people: Path) -> None:
    write(people, {"ID": [3], "A": ["c"], "N": pa.array([7], pa.int32())}, schema_mode="merge")
    into = copy(people, {"N": {0: "8"}})
    assert texts(into, "ID") == {"ID": ["1", "2", "3"], "A": ["a", "b", "c"], "N": ["8", None, "7"]}
    assert {pq.read_schema(file).field("N").type for file in into.iterdir()} == {pa.int32()}


def test_a_copy_reads_alike_however_its_files_were_stored(tmp_path: Path) -> None:
    money = pa.array([Decimal("1.50"), Decimal("2.00")], pa.decimal128(9, 2))
    folder = write(tmp_path / "people", {"ID": [1, 2], "M": money, "A": ["x", "y"]})
    write(folder, {"ID": [3, 4], "M": money, "A": ["x", "y"]})
    for file in read_log(folder).files:
        pq.write_table(pq.read_table(file), file, store_decimal_as_integer=True)
    assert texts(copy(folder, {"A": {0: "new"}}), "ID")["M"] == ["1.50", "2.00"] * 2
