"""Texts in other encodings, and markers of nulls: read, changed and written as they were."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pacas import read_relation, scan_relation
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import PacasError
from pacas.formats.relations.changed_csv import Change, write_changed

TEXT = "ID;Größe\nt1;NA\nt2;größer\n"
CHANGED = "ID;Größe\nt1;süß\nt2;größer\n"


def no_table() -> Relation:
    raise AssertionError("it is copied")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "cp437", "gb18030"])
def test_a_text_is_read_and_written_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    path, out = tmp_path / "a.csv", tmp_path / "out.csv"
    path.write_bytes(TEXT.encode(encoding))
    file = scan_relation(path, encoding=encoding, null="NA")
    assert file.columns == ("ID", "Größe")
    table = read_relation(path, encoding=encoding, null=["NA"])
    assert table.table.to_pydict() == {"ID": ["t1", "t2"], "Größe": [None, "größer"]}
    changed = Relation.of({"ID": ["t1", "t2"], "Größe": ["süß", "größer"]})
    assert write_changed(file, 2, {0: [Change(1, None, "süß")]}, lambda: changed, out) is None
    assert out.read_bytes().decode(encoding) == CHANGED


def test_a_compressed_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode("latin-1")))
    assert read_relation(tmp_path / "a.csv.gz", encoding="latin-1").columns == ["ID", "Größe"]


def test_other_bytes_stay_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes('A,"B"\r\n"é",NA\r\n x ,"NA"\r\n'.encode("latin-1"))
    file = scan_relation(tmp_path / "a.csv", encoding="latin-1", null="NA")
    write_changed(file, 2, {1: [Change(1, None, "ü")]}, no_table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == 'A,"B"\r\n"é",NA\r\n x ,"ü"\r\n'.encode("latin-1")


def test_a_new_value_that_the_encoding_lacks_turns_the_file_into_utf_8_and_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT.encode("latin-1"))
    file = scan_relation(tmp_path / "a.csv", encoding="latin-1", null="NA")
    changed = Relation.of({"ID": ["t1", "t2"], "Größe": ["mały", None]})
    said = write_changed(file, 2, {0: [Change(1, None, "mały")]}, lambda: changed, tmp_path / "out.csv")
    assert said == "out.csv is in UTF-8: iso8859-1 lacks a character of the new values"
    assert (tmp_path / "out.csv").read_text("utf-8") == "ID;Größe\nt1;mały\nt2;NA\n"


def test_how_a_file_is_read_is_part_of_what_it_is_told_by(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"A,B\n1,NA\n")
    kinds: list[dict[str, str]] = [{}, {"null": "NA"}, {"encoding": "latin-1"}, {"encoding": "cp1252"}]
    digests = {DuckEngine().digest(scan_relation(tmp_path / "a.csv", **kind)) for kind in kinds}
    assert len(digests) == len(kinds)


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (
            TEXT.encode("latin-1"),
            {},
            "a.csv, line 1: bytes that are not UTF-8; say how it is encoded (--encoding latin-1)",
        ),
        (TEXT.encode("latin-1"), {"encoding": "latin"}, ""),
        (b"A\nx\n", {"encoding": "klingon"}, "no encoding 'klingon'; such as utf-8, latin-1"),
        (b"A\nx\n", {"encoding": "rot13"}, "no encoding 'rot13'"),
        (b"A\nx\xff\n", {"encoding": "ascii"}, "a.csv, after line 0: bytes that are not ascii"),
        (b"A\n" + b"x\n" * 600_000 + b"\xff\n", {"encoding": "ascii"}, "a.csv, after line 5"),
        (b"A\x00B\x00", {"encoding": "utf-16"}, "a.csv"),
    ],
)
def test_bad_texts(tmp_path: Path, content: bytes, options: dict[str, str], said: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    if not said:
        assert read_relation(tmp_path / "a.csv", **options).columns == ["ID", "Größe"]
        return
    with pytest.raises(PacasError) as error:
        read_relation(tmp_path / "a.csv", **options)
    assert said in str(error.value) and "\n" not in str(error.value)
