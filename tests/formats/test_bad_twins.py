"""Every file that somebody may hand over, and its bad twins: empty, cut off, other bytes, or another tool's file."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from pacas import read_hierarchy, read_relation
from pacas.errors import PacasError
from pacas.formats.cells_file import CellsFile
from pacas.wire.connection_file import FORMAT, ConnectionFile, moment, read_connection_file

ROWS = {"ID": ["t1", "t2"], "MED": ["ibuprofen", "dolex"]}
CSV = b"ID,MED\nt1,ibuprofen\nt2,dolex\n"
ARX = b"ibuprofen;NSAID;*\ndolex;analgesic;*\n"
AMNESIA = b"distinct\nname drugs\ntype string\nheight 2\n\n* has ibuprofen dolex\n"
AMNESIA_JSON = {"hierType": "distinct", "name": "drugs", "type": "string", "height": 2}
AMNESIA_JSON |= {"level1": {"*": ["ibuprofen", "dolex"]}}
FOUND = {"expectation_config": {"type": "expect_x", "kwargs": {"column": "MED"}}, "success": False}
FOUND |= {"result": {"unexpected_index_list": [0, 1]}}


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(ROWS), out)
    return out.getvalue()


def workbook() -> bytes:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([tuple(ROWS), *zip(*ROWS.values(), strict=True)]):
            sheet.write_row(number, 0, row)
    return out.getvalue()


def project() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("input/hierarchies/MED.csv", ARX)
    return out.getvalue()


class Kind(NamedTuple):
    """A format: a file's name, a good one, how it is read, and whether half of it can be told from all."""

    name: str
    good: bytes
    read: Callable[[Path], Any]
    tells_half: bool = True


def cells(path: Path) -> Any:
    return CellsFile(path).read(["ID"])


def failed_rows(path: Path) -> Any:
    return CellsFile(path, "MED").read(["ID"])


def connection() -> bytes:
    file = ConnectionFile("https://shop.example:8321", "ann", "secret", "-----BEGIN PUBLIC KEY-----", moment(1.8e9))
    return json.dumps({"pacas": FORMAT, **asdict(file)}).encode()


TREE = {"value": "*", "children": [{"value": "ibuprofen"}, {"value": "dolex"}]}
KINDS = [
    Kind("relation.csv", CSV, read_relation, tells_half=False),
    Kind("relation.tsv", CSV.replace(b",", b"\t"), read_relation, tells_half=False),
    Kind("relation.csv.gz", gzip.compress(CSV), read_relation),
    Kind("relation.csv.zst", bytes(pa.Codec("zstd").compress(CSV)), read_relation),
    Kind("relation.parquet", parquet(), read_relation),
    Kind("relation.xlsx", workbook(), read_relation),
    Kind("arx.csv", ARX, read_hierarchy, tells_half=False),
    Kind("tree.json", json.dumps(TREE).encode(), read_hierarchy),
    Kind("tree.json.zst", bytes(pa.Codec("zstd").compress(json.dumps(TREE).encode())), read_hierarchy),
    Kind("amnesia.txt", AMNESIA, read_hierarchy, tells_half=False),
    Kind("amnesia.json", json.dumps(AMNESIA_JSON).encode(), read_hierarchy),
    Kind("project.deid", project(), read_hierarchy),
    Kind("great_expectations.json", json.dumps({"success": False, "results": [FOUND]}).encode(), cells),
    Kind("cells.csv", b"row,attribute\n0,MED\n1,MED\n", cells, tells_half=False),
    Kind(
        "failure_cases.csv",
        b"schema_context,column,check,check_number,failure_case,index\nColumn,MED,isin,0,x,0\n",
        cells,
        tells_half=False,
    ),
    Kind("dbt.csv", b"value_field,n_records\nx,1\ny,2\n", failed_rows, tells_half=False),
    Kind("soda.csv", CSV, failed_rows, tells_half=False),
    Kind("cells.parquet", parquet(), failed_rows),
    Kind("buyer.pacas", connection(), read_connection_file),
]
by_name = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


def refused(kind: Kind, folder: Path, content: bytes) -> bool:
    """Whether a file is not read, and then in one line that names it."""
    path = folder / kind.name
    path.write_bytes(content)
    path.chmod(0o600)
    try:
        kind.read(path)
    except PacasError as error:
        assert "\n" not in str(error) and kind.name in str(error), error
        return True
    return False


@by_name
def test_empty_damaged_and_other_files_are_told_in_a_line(tmp_path: Path, kind: Kind) -> None:
    whole = kind.good
    assert not refused(kind, tmp_path, whole)
    for twin in (b"", b"\0\xff\xfe" * 50, b"\x89PNG\r\n\x1a\n" + b"\0" * 100):
        assert refused(kind, tmp_path, twin), twin[:8]
    for cut in {len(whole) // 3, len(whole) // 2, len(whole) - 3}:
        assert refused(kind, tmp_path, whole[:cut]) or not kind.tells_half, cut
    for other in KINDS:
        if other.name != kind.name:
            refused(kind, tmp_path, other.good)  # some are read as well; no one ends otherwise


@by_name
def test_a_folder_and_nothing_are_told_in_a_line(tmp_path: Path, kind: Kind) -> None:
    path = tmp_path / kind.name
    for make in (lambda: None, path.mkdir):
        make()
        with pytest.raises(PacasError) as error:
            kind.read(path)
        assert "\n" not in str(error.value) and kind.name in str(error.value)


@pytest.mark.slow
def test_a_project_of_a_million_values_with_a_bad_one_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "project.deid"
    with zipfile.ZipFile(path, "w") as archive:
        lines = "".join(f"v{number};*\n" for number in range(1_000_000))
        archive.writestr("input/hierarchies/MED.csv", lines + "v5;x;*\n")
    with pytest.raises(PacasError, match=r"project\.deid.*line 1000001: "):
        read_hierarchy(path)
