"""Copies of folders of Parquet files with new cells: all else stays as it was, and one that fails leaves nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parquet_folders import ENGINE, texts, write

from pacas.engine.duck.folder_copy import _Copy
from pacas.engine.files.folder import scan_folder
from pacas.engine.new_cells import NewCells
from pacas.errors import FileError, InputError, SchemaError
from pacas.formats.relations.relations import scan_relation


def copy(folder: Path, key: Sequence[str], cells: Mapping[str, Mapping[int, str | None]]) -> Path:
    into = folder.with_name(f"{folder.name}.clean")
    table = ENGINE.open(scan_folder(folder, key), [])
    new = {a: NewCells(np.array(list(c), dtype=np.int64), list(c.values())) for a, c in cells.items()}
    ENGINE.write(table, new, into)
    return into


def test_new_cells_are_written_and_all_else_is_as_it_was(people: Path) -> None:
    into = copy(people, ["ID"], {"A": {1: "new", 4: None}, "N": {4: "7"}})
    assert texts(into, "ID") == {
        "ID": ["0", "1", "2", "3", "4", "5"],
        "A": ["a0", "new", "a2", "a3", None, "a5"],
        "N": ["0", "10", "20", "30", "7", "50"],
    }
    for name in ("0.parquet", "1.parquet", "2.parquet"):
        before, after = pq.read_table(people / name), pq.read_table(into / name)
        assert after.schema == before.schema
        assert after.column("ID") == before.column("ID"), "rows stay where they are"


def test_files_without_new_cells_are_copied_as_they_are(people: Path) -> None:
    into = copy(people, ["ID"], {"A": {2: "new"}})
    same = [
        (people / name).read_bytes() == (into / name).read_bytes() for name in ("0.parquet", "1.parquet", "2.parquet")
    ]
    assert same.count(True) == 2


def test_a_column_becomes_text_where_a_new_value_has_not_its_type(people: Path) -> None:
    into = copy(people, ["ID"], {"N": {0: "[0,9]"}})
    assert texts(into, "ID")["N"] == ["[0,9]", "10", "20", "30", "40", "50"]
    assert {pq.read_schema(file).field("N").type for file in into.iterdir()} == {pa.string()}


def test_floats_that_become_text_are_spelled_as_they_are_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "people", {"0.parquet": {"ID": [0, 1, 2, 3], "F": [1.0, 0.1, float("nan"), 2.0]}})
    assert texts(copy(folder, ["ID"], {"F": {3: "few"}}), "ID")["F"] == ["1", "0.1", None, "few"]


def test_categories_keep_their_values(tmp_path: Path) -> None:
    coded = pa.array(["x", "y", "x"]).dictionary_encode()
    folder = write(tmp_path / "people", {"0.parquet": {"ID": [0, 1, 2], "C": coded}})
    assert texts(copy(folder, ["ID"], {"C": {1: "z"}}), "ID")["C"] == ["x", "z", "x"]


def test_partitions_stay_partitions(tmp_path: Path) -> None:
    files = {f"P={p}/0.parquet": {"ID": [p, p + 10], "A": ["x", "y"]} for p in (1, 2)}
    into = copy(write(tmp_path / "people", files), ["ID"], {"A": {0: "new"}})
    assert sorted(file.relative_to(into).as_posix() for file in into.rglob("*.parquet")) == sorted(files)
    assert texts(into, "ID") == {
        "ID": ["1", "2", "11", "12"],
        "A": ["new", "x", "y", "y"],
        "P": ["1", "2", "1", "2"],
    }


def test_a_partition_with_new_values_becomes_a_column_of_the_files(tmp_path: Path) -> None:
    files = {f"P={p}/0.parquet": {"ID": [p, p + 10]} for p in (1, 2)}
    folder = write(tmp_path / "people", files)
    into = copy(folder, ["ID"], {"P": {0: "2"}})
    assert texts(into, "ID") == {"ID": ["1", "2", "11", "12"], "P": ["2", "2", "1", "2"]}
    assert sorted(file.name for file in into.iterdir()) == ["part-00000.parquet", "part-00001.parquet"]


def test_many_batches_are_patched_at_the_right_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacas.engine.duck.folder_copy.BATCH", 7)
    ids = random.Random(5).sample(range(100), 100)
    folder = write(
        tmp_path / "people", {f"{i}.parquet": {"ID": ids[i::3], "A": [f"a{n}" for n in ids[i::3]]} for i in range(3)}
    )
    changed = {n: f"new{n}" for n in range(0, 100, 9)}
    assert texts(copy(folder, ["ID"], {"A": changed}), "ID")["A"] == [changed.get(n, f"a{n}") for n in range(100)]


def test_nothing_new_is_a_copy(people: Path) -> None:
    assert texts(copy(people, ["ID"], {"A": {}}), "ID") == texts(people, "ID")


def test_what_is_there_is_never_written_over(people: Path) -> None:
    into = people.with_name("people.clean")
    into.mkdir()
    copy(people, ["ID"], {"A": {0: "x"}})  # an empty folder will do
    before = sorted((file.name, file.read_bytes()) for file in into.iterdir())
    with pytest.raises(FileError, match=r"people\.clean is there already; give the name of a new folder"):
        copy(people, ["ID"], {"A": {0: "y"}})
    assert sorted((file.name, file.read_bytes()) for file in into.iterdir()) == before


def test_a_copy_that_fails_leaves_nothing(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter", full)
    with pytest.raises(FileError, match=r"people\.clean cannot be written \(No space left on device\)"):
        copy(people, ["ID"], {"A": {0: "x"}})
    assert [entry.name for entry in people.parent.iterdir()] == ["people"]


def rewritten(file: Path) -> None:
    pq.write_table(pa.table({"ID": [4, 5, 6], "A": ["secret"] * 3, "N": [1, 2, 3]}), file)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:50])


def retyped(file: Path) -> None:
    pq.write_table(pa.table({"ID": ["secret"], "A": ["secret"], "N": ["secret"]}), file)


@pytest.mark.parametrize("change", [rewritten, cut, retyped, Path.unlink])
def test_a_folder_that_changes_while_it_is_copied_leaves_nothing(
    people: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    write_one = _Copy.write

    def write_then_change(self: _Copy, file: Path, into: Path) -> None:
        write_one(self, file, into)
        if file.name == "0.parquet":
            change(people / "2.parquet")

    monkeypatch.setattr(_Copy, "write", write_then_change)
    with pytest.raises(InputError, match=r"^people has changed since it was first read; let its writers finish"):
        copy(people, ["ID"], {"N": dict.fromkeys(range(6), "7")})
    assert [entry.name for entry in people.parent.iterdir()] == ["people"]


def test_a_file_that_is_damaged_after_the_folder_was_found_is_named(people: Path) -> None:
    source = scan_folder(people, ["ID"])
    cut(people / "2.parquet")
    with pytest.raises(FileError, match=r"2\.parquet is not a complete Parquet file; write it again, or take it out$"):
        ENGINE.open(source)


def test_lists_are_the_same_however_their_parts_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    for i in range(2):
        listed = pa.table({"ID": [i], "A": ["x"], "L": [[1, 2]]})
        pq.write_table(listed, folder / f"{i}.parquet", use_compliant_nested_type=False)
    into = copy(folder, ["ID"], {"A": {1: "new"}})
    assert texts(into, "ID", columns=["A"]) == {"A": ["x", "new"]}
    assert pq.read_table(into)["L"].to_pylist() == [[1, 2], [1, 2]]
    write(into, {"2.parquet": {"ID": [2], "A": ["x"], "L": [["1"]]}})
    with pytest.raises(SchemaError, match="has other columns or types"):
        scan_folder(into, ["ID"])


def test_rows_and_columns_that_are_not_there(people: Path) -> None:
    with pytest.raises(InputError, match="people has changed since it was first read"):
        copy(people, ["ID"], {"A": {6: "x"}})
    with pytest.raises(SchemaError, match="no column 'B' in people"):
        copy(people, ["ID"], {"B": {0: "x"}})
    with pytest.raises(InputError, match="not a folder of Parquet files"):
        ENGINE.write(ENGINE.open(scan_relation(people / "0.parquet")), {}, people.with_name("x"))
