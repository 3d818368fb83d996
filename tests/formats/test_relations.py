"""Relations in files: what is read, what is written, and what is refused in one line."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pacas.core.relation import Relation
from pacas.engine.contract import RelationFile
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import FileError, InputError, SchemaError
from pacas.formats.relations.relations import read_relation, scan_relation, write_relation


def zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content))


@pytest.mark.parametrize(
    ("name", "content", "columns", "delimiter"),
    [
        ("t.csv", b"A,B\n1,x\n", ("A", "B"), ","),
        ("t.csv", b"A;B\n1;x\n", ("A", "B"), ";"),
        ("t.tsv", b"A\tB\n1\tx\n", ("A", "B"), "\t"),
        ("t.csv", b"A|B\n1|x\n", ("A", "B"), "|"),
        ("t.csv", b"A\n1\n", ("A",), ","),
        ("t.csv", b'"a;b","c;d;e"\n1,x\n', ("a;b", "c;d;e"), ","),
        ("t.csv", b'"two\nlines",B\n1,x\n', ("two\nlines", "B"), ","),
        ("t.csv", b'"a ""b""",B\n1,x\n', ('a "b"', "B"), ","),
        ("t.csv", b"\xef\xbb\xbfA,B\n1,x\n", ("A", "B"), ","),
        ("t.csv", b"A,B\r\n1,x\r\n", ("A", "B"), ","),
        ("t.csv.gz", gzip.compress(b"A;B\n1;x\n", mtime=0), ("A", "B"), ";"),
        ("t.csv.zst", zstd(b"A,B\n1,x\n"), ("A", "B"), ","),
        ("t.csv", "Größe,名前\n1,x\n".encode(), ("Größe", "名前"), ","),
    ],
)
def test_the_header_says_columns_and_delimiter(
    tmp_path: Path, name: str, content: bytes, columns: tuple[str, ...], delimiter: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    compression = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix, "none")
    line_end = "\n" if any("\n" in column for column in columns) else None
    assert scan_relation(path) == RelationFile(path, "csv", columns, delimiter, compression, line_end=line_end)
    assert read_relation(path).columns == list(columns)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("inside", ["\n", "\r\n"])
def test_line_breaks_in_names_of_columns_are_no_ends_of_lines(tmp_path: Path, end: str, inside: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f'"A{inside}a",B{end}1,x{end}2,y{end}'.encode())
    assert read_relation(path).table.to_pydict() == {f"A{inside}a": ["1", "2"], "B": ["x", "y"]}


def test_a_parquet_file_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "no_suffix"
    pq.write_table(pa.table({"A": [1], "B": ["x"]}), path)
    assert scan_relation(path) == RelationFile(path, "parquet", ("A", "B"), "")
    assert read_relation(path).table.to_pydict() == {"A": [1], "B": ["x"]}


def test_a_character_at_the_edge_of_what_is_looked_at_is_not_an_error(tmp_path: Path) -> None:
    for shift in range(3):
        path = tmp_path / f"{shift}.csv"
        path.write_bytes(b"A\n" + b"x" * shift + ("€" * 600_000).encode() + b"\n")
        assert scan_relation(path).columns == ("A",)


# ---- what is refused -------------------------------------------------------------------------------------------------

LONG = b"A,B\n" + b"secret,hidden\n" * 120_000

WRONG_FROM_THE_START: dict[str, tuple[str, bytes]] = {
    "empty": ("t.csv", b""),
    "white space": ("t.csv", b" \n\n"),
    "empty inside": ("t.csv.gz", gzip.compress(b"", mtime=0)),
    "a column twice": ("t.csv", b"A,B,A\nsecret,hidden,secret\n"),
    "a column without a name": ("t.csv", b"A,,B\nsecret,hidden,secret\n"),
    "not UTF-8 in the header": ("t.csv", b"A,B\xff\nsecret,hidden\n"),
    "not UTF-8 in a row": ("t.csv", b"A,B\nsecret,\xffhidden\n"),
    "NUL": ("t.csv", b"A,B\nsec\0ret,hidden\n"),
    "a header that never ends": ("t.csv", b'"A,B\nsecret,hidden\n'),
    "truncated gzip": ("t.csv.gz", gzip.compress(LONG, mtime=0)[:40]),
    "not gzip": ("t.csv.gz", b"A,B\nsecret,hidden\n"),
    "truncated zstd": ("t.csv.zst", zstd(LONG)[:30]),
    "gzip under another name": ("t.csv", gzip.compress(LONG, mtime=0)),
    "a picture": ("t.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    "only the mark of Parquet": ("t.parquet", b"PAR1"),
}


@pytest.mark.parametrize("problem", WRONG_FROM_THE_START)
@pytest.mark.parametrize("read", [scan_relation, read_relation])
def test_a_file_that_is_no_relation_is_an_error_of_one_line(
    tmp_path: Path, read: Callable[[Path], object], problem: str
) -> None:
    name, content = WRONG_FROM_THE_START[problem]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(tmp_path / name)
    says_little(str(caught.value), name)


def test_the_message_says_what_is_wrong(tmp_path: Path) -> None:
    cases: list[tuple[bytes, type[InputError], str]] = [
        (b"", FileError, "t.csv is empty; a relation needs a header and at least one row"),
        (b"A,A\n1,2\n", SchemaError, "column 'A' stands 2 times in t.csv; rename one of them"),
        (b"A,\n1,2\n", SchemaError, "column 2 of t.csv has no name"),
        (b"A,B\n1,2\n\xff,3\n", FileError, "t.csv, line 3: bytes that are not UTF-8"),
    ]
    for content, kind, message in cases:
        (tmp_path / "t.csv").write_bytes(content)
        with pytest.raises(kind, match=message):
            scan_relation(tmp_path / "t.csv")


@pytest.mark.parametrize("read", [scan_relation, read_relation])
def test_a_path_without_a_file_is_an_error(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(FileError, match="does not exist"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(FileError, match="is a folder"):
        read(tmp_path)


@pytest.mark.parametrize("cut", [-1, -4, -100, 10])
def test_a_truncated_parquet_file_is_an_error(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"A": ["secret"] * 1000}), path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(FileError) as caught:
        scan_relation(path)
    says_little(str(caught.value), "t.parquet")


WRONG_FURTHER_DOWN: dict[str, tuple[str, bytes]] = {
    "too few fields": ("t.csv", b"A,B\nsecret,hidden\nsecret\n"),
    "too many fields": ("t.csv", b"A,B\nsecret,hidden\nsecret,hidden,secret\n"),
    "an unclosed quote": ("t.csv", b'A,B\n"secret,hidden\n'),
    "few fields deep down": ("t.csv", LONG + b"secret\n"),
    "not UTF-8 deep down": ("t.csv", LONG + b"secret,\xffhidden\n"),
    "truncated gzip deep down": ("t.csv.gz", gzip.compress(LONG, mtime=0)[:-20]),
}


@pytest.mark.parametrize("problem", WRONG_FURTHER_DOWN)
def test_reading_a_broken_file_is_an_error_of_one_line_that_shows_no_cell(tmp_path: Path, problem: str) -> None:
    name, content = WRONG_FURTHER_DOWN[problem]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_relation(tmp_path / name)
    says_little(str(caught.value), name)


def test_reading_a_damaged_parquet_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"A": [f"secret{n}" for n in range(20_000)]}), path)
    damaged = bytearray(path.read_bytes())
    damaged[1_000:20_000] = b"\x55" * 19_000
    path.write_bytes(damaged)
    with pytest.raises(InputError) as caught:
        read_relation(path)
    says_little(str(caught.value), "t.parquet")


def test_a_compression_that_is_not_read_is_refused_as_such(tmp_path: Path) -> None:
    """Not as a file without rows."""
    path = tmp_path / "t.csv.bz2"
    path.write_bytes(bz2.compress(b"A,B\n1,x\n"))
    with pytest.raises(FileError):
        scan_relation(path)


def says_little(message: str, name: str) -> None:
    assert "\n" not in message
    assert name in message
    assert "secret" not in message
    assert "hidden" not in message


# ---- reading and writing ---------------------------------------------------------------------------------------------


def test_values_are_text_and_empty_cells_null(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('A,B\n007,\n1.0,""\nNULL,"two\nlines"\n')
    assert read_relation(tmp_path / "t.csv").table.to_pydict() == {
        "A": ["007", "1.0", "NULL"],
        "B": [None, None, "two\nlines"],
    }


AWKWARD = {
    "A": ["1", None, "a,b", 'say "hi"', "two\nlines", "tab\there", " space ", "é", "a;b"],
    "B c": ["x", "y", None, "z", "*", "NULL", "nan", "0.10", "''"],
}


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.csv.zst", "t.parquet", "T.CSV", "t.tab", "t.txt"])
def test_what_is_written_reads_back(tmp_path: Path, name: str) -> None:
    write_relation(Relation.of(AWKWARD), tmp_path / name)
    assert read_relation(tmp_path / name).table.to_pydict() == AWKWARD


def test_nulls_of_a_single_column_are_not_lost(tmp_path: Path) -> None:
    write_relation(Relation.of({"A": ["1", None, "2"]}), tmp_path / "t.csv")
    assert read_relation(tmp_path / "t.csv").table.to_pydict() == {"A": ["1", None, "2"]}


def test_a_name_that_says_no_kind_is_refused(tmp_path: Path) -> None:
    for name in ("t", "t.xls", "t.gz"):
        with pytest.raises(FileError, match="cannot tell what to write"):
            write_relation(Relation.of({"A": ["1"]}), tmp_path / name)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xlsx"])
def test_a_folder_that_is_not_there_is_an_error_of_ours(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        write_relation(Relation.of({"A": ["1"]}), tmp_path / "missing" / name)


def test_a_relation_keeps_its_columns_unique() -> None:
    with pytest.raises(SchemaError, match="column 'A' stands 2 times in the table"):
        Relation.of(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["A", "A"]))
    with pytest.raises(SchemaError, match="column 2 of the table has no name"):
        Relation.of({"A": [1], "": [2]})
    with pytest.raises(SchemaError, match="no columns in the table"):
        Relation.of({})


def test_a_zstandard_file_that_stops_short_is_refused(tmp_path: Path) -> None:
    """DuckDB would take the rows that are there for all of them."""
    whole, cut = tmp_path / "whole.csv.zst", tmp_path / "cut.csv.zst"
    with pa.output_stream(str(whole), compression="zstd") as stream:
        stream.write(b"A,B\n" + b"1,2\n" * 600_000)
    cut.write_bytes(whole.read_bytes()[:-10])
    assert len(read_relation(whole)) == 600_000
    with pytest.raises(FileError, match=r"cut\.csv\.zst is cut short or damaged"):
        scan_relation(cut)


def test_a_tsv_file_is_cut_at_tabs_whatever_its_names_hold(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("last, first\tage\nDoe, J\t3\n")
    assert scan_relation(tmp_path / "t.tsv").columns == ("last, first", "age")


def test_endings_count_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "T.CSV.GZ").write_bytes(gzip.compress(b"A,B\n1,2\n", mtime=0))
    assert read_relation(tmp_path / "T.CSV.GZ").table.to_pydict() == {"A": ["1"], "B": ["2"]}


def test_a_first_column_called_par1_does_not_make_it_parquet(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("PAR1,B\n1,2\n")
    assert scan_relation(tmp_path / "t.csv").format == "csv"


def test_line_ends_of_several_kinds_are_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"A,B\n1,x\r\n1,y\r\n")
    with pytest.raises(FileError, match="line ends of several kinds"):
        read_relation(tmp_path / "t.csv")


def test_a_header_name_beyond_all_bounds_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("A," + "x" * 140_000 + "\n1,2\n")
    with pytest.raises(FileError, match="line 1: the header cannot be read"):
        scan_relation(tmp_path / "t.csv")


def test_bytes_that_are_not_utf_8_are_named_in_parquet_too(tmp_path: Path) -> None:
    raw = pa.array([b"\xff\xfe"], pa.binary())
    text = pa.Array.from_buffers(pa.string(), 1, raw.buffers())
    pq.write_table(pa.table({"A": text, "B": pa.array(["x"])}), tmp_path / "t.parquet")
    engine = DuckEngine()
    with pytest.raises(FileError, match="bytes that are not UTF-8"):
        engine.histogram(engine.open(scan_relation(tmp_path / "t.parquet")), ["A"], {})


def test_a_relation_goes_out_as_pandas_polars_and_arrow(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("A,B\n1,x\n2,\n")
    relation = read_relation(tmp_path / "t.csv")
    expected = {"A": ["1", "2"], "B": ["x", None]}
    assert pa.table(relation).to_pydict() == expected
    assert pl.DataFrame(relation).to_dict(as_series=False) == expected
    frame = pa.table(relation).to_pandas()
    assert Relation.of(frame).table.to_pydict() == expected
