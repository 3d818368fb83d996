"""ARX CSV: the header rule, the separator, and one clear line for each bad file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow
import pytest

from pacas.engine.hierarchy_files import read_hierarchy, read_raw_hierarchy
from pacas.errors import FileError, HierarchyError

MED = "ibuprofen;NSAID;*\nnaproxen;NSAID;*\ndolex;acetaminophen;*\n"


def written(tmp_path: Path, text: str, name: str = "h.csv") -> Path:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8", newline="")
    return file


def test_reads_one_row_per_ground_value(tmp_path: Path) -> None:
    hierarchy = read_hierarchy(written(tmp_path, MED))
    assert list(hierarchy.rows()) == [
        ("ibuprofen", "NSAID", "*"),
        ("naproxen", "NSAID", "*"),
        ("dolex", "acetaminophen", "*"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        MED.replace(";", ","),
        MED.replace("\n", "\r\n"),
        "\ufeff" + MED,
        "\n" + MED.replace("*\n", "*\n\n"),
        MED.rstrip("\n"),
        MED + MED,
        "drug;class;top\n" + MED,
    ],
    ids=["comma", "crlf", "bom", "blank-lines", "no-last-newline", "rows-twice", "header"],
)
def test_spellings_of_one_hierarchy(tmp_path: Path, text: str) -> None:
    expected = read_hierarchy(written(tmp_path, MED, "plain.csv"))
    assert list(read_hierarchy(written(tmp_path, text)).rows()) == list(expected.rows())


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,*", None),
        ("a,top\nb,*", ("a", "top")),
        ("a,*\nb,*", None),
        ("h,*\na,x\nb,x", ("h", "*")),
        ("a,*\nb,*\nc,x", None),
        ("a,y\nb,*\nc,x", ("a", "y")),
    ],
    ids=["one-row", "two-rows-differ", "two-rows-agree", "odd-name", "only-one-differs", "all-differ"],
)
def test_first_row_is_a_header_iff_its_last_cell_is_nowhere_else(
    tmp_path: Path, text: str, header: tuple[str, ...] | None
) -> None:
    raw = read_raw_hierarchy(written(tmp_path, text))
    assert raw.header == header
    assert len(raw.rows) == len(text.splitlines()) - (header is not None)


def test_a_header_may_be_of_another_width(tmp_path: Path) -> None:
    assert read_hierarchy(written(tmp_path, "levels of the drug;up to the top\n" + MED)).height == 2


def test_a_lone_row_is_a_hierarchy_of_one_value(tmp_path: Path) -> None:
    assert list(read_hierarchy(written(tmp_path, "a,b,*")).rows()) == [("a", "b", "*")]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('5,"[0, 10[",*\n15,"[10, 20[",*\n', ("5", "[0, 10[", "*")),
        ("5;[0, 10[;*\n15;[10, 20[;*\n", ("5", "[0, 10[", "*")),
        ("5,[0; 10[,*\n15,[10; 20[,*\n", ("5", "[0; 10[", "*")),
        ("Doe, Jo;staff, all;*\nRoe, Al;staff, all;*\n", ("Doe, Jo", "staff, all", "*")),
        ("Doe; Jo,staff; all,*\nRoe; Al,staff; all,*\n", ("Doe; Jo", "staff; all", "*")),
        ('"a;b","c;d",*\n"e;f","c;d",*\n', ("a;b", "c;d", "*")),
        ('"a,b";"c,d";"x,y"\n"e,f";"c,d";"x,y"\n', ("a,b", "c,d", "x,y")),
        ('"say ""hi""";*\nno;*\n', ('say "hi"', "*")),
        ('"two\nlines";*\none;*\n', ("two\nlines", "*")),
    ],
)
def test_separator_is_found_whatever_the_labels_hold(tmp_path: Path, text: str, first: tuple[str, ...]) -> None:
    assert next(read_hierarchy(written(tmp_path, text)).rows()) == first


def test_rows_keep_the_line_they_begin_on(tmp_path: Path) -> None:
    raw = read_raw_hierarchy(written(tmp_path, 'name;top\n\n"a\nb";*\n\nc;*\n'))
    assert [(row.labels[0], row.line) for row in raw.rows] == [("a\nb", 3), ("c", 6)]


def test_numeric_is_the_callers_word(tmp_path: Path) -> None:
    file = written(tmp_path, "51.0;50-59;*\n")
    assert "51" not in read_hierarchy(file)
    assert "51" in read_hierarchy(file, numeric=True)


def test_reads_compressed_files(tmp_path: Path) -> None:
    (tmp_path / "h.csv.gz").write_bytes(gzip.compress(MED.encode()))
    with pyarrow.output_stream(str(tmp_path / "h.csv.zst"), compression="detect") as stream:
        stream.write(MED.encode())
    for name in ("h.csv.gz", "h.csv.zst"):
        assert read_hierarchy(tmp_path / name).height == 2


BAD: dict[str, tuple[bytes, type[Exception], str]] = {
    "empty": (b"", FileError, "{f}: the file is empty"),
    "blank": (b"\n  \n", FileError, "{f}: the file is empty"),
    "one-column": (b"a\nb\n", FileError, "{f}: no hierarchy, each line is a single value; the formats are ARX CSV"),
    "tabs": (b"a\tb\t*\nc\tb\t*\n", FileError, "{f}: no hierarchy, each line is a single value"),
    "latin-1": (b"a;*\n\xe9t\xe9;*\n", FileError, "{f}, line 2: not UTF-8 text (byte 0xe9)"),
    "open-quote": (b'a;b;*\n"c;b;*\n', FileError, "{f}, line 2: not readable as CSV"),
    "open-quote-first": (b'"a;b;*\nc;b;*\n', FileError, "{f}, line 1: not readable as CSV"),
    "open-quote-inside": (b'a;"b;*\nc;b;*\n', FileError, "{f}, line 1: not readable as CSV"),
    "uneven": (b"a;b;*\nc;*\nd;b;*\n", HierarchyError, "{f}, line 2: 1 row of 2 levels where 2 have 3"),
    "uneven-first": (b"a;b;c;*\nd;b;*\ne;b;*\n", HierarchyError, "{f}, line 1: 1 row of 4 levels where 2 have 3"),
    "two-parents": (
        b"top;x\na;b;*\nc;b;*\na;d;*\n".replace(b"top;x\n", b"value;group;top\n"),
        HierarchyError,
        "{f}, line 4: 'a' has two parents, 'b' and 'd'; give each value one parent, or rename one of the two",
    ),
    "three-parents": (b"a;b;*\na;c;*\na;d;*\n", HierarchyError, "{f}, line 2: 'a' has 3 parents, 'b', 'c', 'd'"),
    "two-roots": (b"a;*\nb;*\nc;x\n", HierarchyError, "{f}, line 3: the last level has 2 values ('*', 'x')"),
    "empty-label": (b"a;;*\nb;c;*\n", HierarchyError, "{f}, line 1: 1 row with an empty label at level 1"),
    "null-value": (b"a;*\n;*\n", HierarchyError, "{f}, line 2: 1 row with an empty label at level 0; a null needs"),
    "trailing-separator": (b"a;*;\nb;*;\n", HierarchyError, "{f}, line 1: 2 rows with an empty label at level 2"),
    "root-below": (b"a;*;b;*\nc;d;d;*\n", HierarchyError, "{f}, line 1: the root '*' stands below another value"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    data, kind, message = BAD[name]
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_bytes(data)
    with pytest.raises(kind) as caught:
        read_hierarchy("bad.csv")
    assert str(caught.value).startswith(message.format(f="bad.csv"))
    assert "\n" not in str(caught.value)


def test_unreadable_paths_are_named_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("h.csv.gz").write_bytes(b"not compressed at all")
    for path, message in [
        ("folder", "folder: a directory, not a hierarchy file; the formats are"),
        ("nowhere.csv", "nowhere.csv: no such file"),
        ("h.csv.gz", "h.csv.gz: the file cannot be read ("),
    ]:
        with pytest.raises(FileError) as caught:
            read_hierarchy(path)
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)
