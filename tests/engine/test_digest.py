"""What a relation is told by from one that has changed; ledgers and journals of earlier versions hold these digests."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas.core.relation import Relation
from pacas.engine.contract import KeyedFrame
from pacas.engine.files.digest import source_digest
from pacas.engine.files.folder import scan_folder
from pacas.errors import FileError, InputError
from pacas.formats.relations.relations import scan_relation


def test_a_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"A,B\n1,x\n")
    source = scan_relation(path)
    assert source_digest(source) == hashlib.sha256(b"A,B\n1,x\n").hexdigest()
    path.unlink()
    with pytest.raises(FileError, match=r"t\.csv cannot be read \(No such file or directory\)"):
        source_digest(source)


def test_a_table_in_memory_is_known_by_its_texts() -> None:
    table = Relation.of({"A": ["x", None, "yz"], "B": [1, 2, 3]})
    assert source_digest(table) == "f5ce1c812575a1bd980c6a0ff37343f1119b379179111af796aefcb3f1408415"
    in_pieces = pa.concat_tables([table.table.slice(0, 1), table.table.slice(1)])
    assert source_digest(Relation(in_pieces)) == source_digest(table)
    others: list[dict[str, list[Any]]] = [
        {"A": ["x", "", "yz"], "B": [1, 2, 3]},
        {"A": ["xy", None, "z"], "B": [1, 2, 3]},
        {"A": ["x"], "B": [1]},
    ]
    assert len({source_digest(Relation.of(data)) for data in others} | {source_digest(table)}) == 4


def test_a_folder_is_known_by_the_names_and_bytes_of_its_files(tmp_path: Path) -> None:
    for name in ("0", "1"):
        pq.write_table(pa.table({"ID": [int(name)]}), tmp_path / f"{name}.parquet")
    source = scan_folder(tmp_path, ["ID"])
    seen = {source_digest(source)}
    (tmp_path / "_SUCCESS").touch()
    assert source_digest(source) in seen
    (tmp_path / "0.parquet").rename(tmp_path / "00.parquet")
    seen.add(source_digest(source))
    pq.write_table(pa.table({"ID": [7]}), tmp_path / "00.parquet")
    seen.add(source_digest(source))
    assert len(seen) == 3


def test_a_frame_is_for_its_own_engine_to_tell() -> None:
    class Frame:
        columns = ("ID", "A")

    with pytest.raises(InputError, match="the table is a frame of Spark's; give the Spark engine"):
        source_digest(KeyedFrame(Frame(), "ID"))
