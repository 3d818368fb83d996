"""What a review exports: as it stands, or with formulas made plain, whatever the table is written as."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupted_offices import dirty
from lanes import examples
from reviewed_offices import review_job, reviewing, settled, shop

from pacas.formats.formulas import neutral, neutralise_csv
from pacas.review import exports
from pacas.review.exports import REPORT, TABLE, export

CELLS = st.text(st.sampled_from('=-+@1.a;,"\n\r\té\ufeff '), max_size=5)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("=1", "'=1"),
        ("+a", "'+a"),
        ("-1.5", "-1.5"),
        ("+3", "+3"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        ("a=1", "a=1"),
        ("", ""),
    ],
)
def test_formulas_are_made_plain_and_numbers_are_not(text: str, made: str) -> None:
    assert neutral(text) == made


def test_a_table_is_made_plain_cell_by_cell(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('=a;b\n"=1;2";-3\n"x\ny";@z\n')
    neutralise_csv(path, ";")
    assert path.read_text() == '\'=a;b\n"\'=1;2";-3\n"x\ny";\'@z\n'


@examples(200)
@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=4),
    st.sampled_from(",;\t"),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_is_read_from_a_plain_table_is_what_was_read_before_made_plain(
    rows: list[list[str]], delimiter: str, quoting: int, encoding: str
) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_text(text.getvalue(), encoding=encoding, newline="")
        mark = path.read_bytes()[:3] == "\ufeff".encode()
        neutralise_csv(path, delimiter, encoding.removesuffix("-sig"))
        with path.open(newline="", encoding="utf-8-sig" if mark else encoding) as made:
            found = list(csv.reader(made, delimiter=delimiter))
    if mark and encoding == "utf-8":  # a table that begins so is taken to have a mark
        rows = [[rows[0][0].removeprefix("\ufeff"), *rows[0][1:]], *rows[1:]]
    assert found == [[neutral(cell) for cell in row] for row in rows]


def test_all_else_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,"b"\r\n"",\n,"=1"\nx"=1",-a\n')
    neutralise_csv(path, ",")
    assert path.read_bytes() == b'a,"b"\r\n"",\n,"\'=1"\nx"=1",\'-a\n'


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where exports are until they are sent."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("output", ["offices.clean.csv", "offices.clean.tsv", "offices.clean.tsv.gz", "offices.txt"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_formulas_are_made_plain_with_the_delimiter_that_is_written(
    tmp_path: Path, delimiter: str, output: str
) -> None:
    pa_csv.write_csv(dirty(), tmp_path / "offices.csv", pa_csv.WriteOptions(delimiter=delimiter))
    with reviewing(review_job(tmp_path, shop(), output=output)) as session:
        settled(session)
        session.edit("JOB", np.array([3]), "=2+3")
        session.edit("AGE", np.array([3]), "-5")
        file = export(session, TABLE, neutral=True)
    written = "\t" if ".tsv" in output else "," if delimiter == "\t" else delimiter
    lines = list(csv.reader(file.read_text().splitlines(), delimiter=written))
    assert file.name == output.removesuffix(".gz")
    assert lines[0] == ["PERSON", "OFFICE", "JOB", "AGE"] and lines[4][2:] == ["'=2+3", "-5"]


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize(("value", "encoding"), [("=é", "latin-1"), ("=Ω", "utf-8")])
def test_formulas_are_made_plain_in_the_encoding_that_is_written(tmp_path: Path, value: str, encoding: str) -> None:
    path = tmp_path / "offices.csv"
    pa_csv.write_csv(dirty(), path)
    path.write_text(path.read_text().replace('"20"', '"Ärztin"'), encoding="latin-1")
    with reviewing(review_job(tmp_path, shop(), encoding="latin-1")) as session:
        settled(session)
        session.edit("JOB", np.array([3]), value)
        file = export(session, TABLE, neutral=True)
    found = file.read_text(encoding)
    assert f"'{value}" in found and "Ärztin" in found


def test_an_export_that_fails_leaves_nothing(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*told: object) -> None:
        raise RuntimeError

    with reviewing(review_job(tmp_path, shop())) as session:
        settled(session)
        monkeypatch.setattr(exports, "neutralise_csv", fail)
        with pytest.raises(RuntimeError):
            export(session, TABLE, neutral=True)
    assert list(temporary.glob("pacas-export-*")) == []


def test_a_report_before_the_end_says_why_classes_are_left(tmp_path: Path) -> None:
    with reviewing(review_job(tmp_path, shop(), strategy="paper")) as session:
        settled(session)
        report = export(session, REPORT, neutral=False)
        assert "nobody has decided yet on what would be bought for it" in report.read_text()
