"""Amnesia's text and JSON files, of distinct values and of ranges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pacas.core.hierarchies.lint import lint
from pacas.engine.hierarchy_files import read_hierarchy, read_raw_hierarchy
from pacas.errors import FileError, HierarchyError, InputError

DRUGS = """distinct
name drugs
type string
height 3

NSAID has ibuprofen naproxen\x20
opioid has morphine\x20

* has NSAID opioid NaN\x20

"""

AGES = """range
name ages
type int
height 3

0.0,4.0 has 0.0,2.0 2.0,4.0
5.0,6.0 has 5.0,5.0 6.0,6.0

0.0,6.0 has 0.0,4.0 5.0,6.0 NaN,NaN
"""


def rows(tmp_path: Path, text: str, name: str = "h.txt") -> list[tuple[str, ...]]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return list(read_hierarchy(tmp_path / name).rows())


def as_json(**document: Any) -> str:
    return json.dumps({"name": "h", "height": 3, **document})


@pytest.mark.parametrize("name", ["h.txt", "h.csv", "h"])
def test_distinct_text_is_a_tree_without_the_null_leaf(tmp_path: Path, name: str) -> None:
    assert rows(tmp_path, DRUGS, name) == [
        ("ibuprofen", "NSAID", "*"),
        ("naproxen", "NSAID", "*"),
        ("morphine", "opioid", "*"),
    ]


def test_windows_lines_and_a_missing_name_are_fine(tmp_path: Path) -> None:
    text = DRUGS.replace("name drugs\n", "")
    (tmp_path / "h.txt").write_bytes(text.replace("\n", "\r\n").encode())
    assert read_hierarchy(tmp_path / "h.txt").height == 2


def test_words_are_split_at_plain_blanks_only(tmp_path: Path) -> None:
    text = DRUGS.replace("morphine", "mor\u00a0phine  codeine\u2028x")
    assert [row[0] for row in rows(tmp_path, text)][2:] == ["mor\u00a0phine", "codeine\u2028x"]


def test_distinct_json_may_hold_labels_with_blanks(tmp_path: Path) -> None:
    text = as_json(
        hierType="distinct",
        type="string",
        level1={"any drug": ["pain killer", "NaN"]},
        level2={"pain killer": ["ibuprofen", "morphine"]},
    )
    assert rows(tmp_path, text, "h.json") == [
        ("ibuprofen", "pain killer", "any drug"),
        ("morphine", "pain killer", "any drug"),
    ]


def test_distinct_numbers_are_numeric(tmp_path: Path) -> None:
    text = as_json(hierType="distinct", type="int", level1={"100.0": [1.0, 2.0]})
    (tmp_path / "h.json").write_text(text)
    hierarchy = read_hierarchy(tmp_path / "h.json")
    assert hierarchy.numeric
    assert hierarchy.ground_labels == ["1", "2"]
    assert "2.00" in hierarchy


def test_whole_numbers_in_an_int_range_are_ground_and_a_shared_bound_goes_up(tmp_path: Path) -> None:
    assert rows(tmp_path, AGES) == [
        ("0", "0-2", "0-4", "0-6"),
        ("1", "0-2", "0-4", "0-6"),
        ("2", "2-4", "0-4", "0-6"),
        ("3", "2-4", "0-4", "0-6"),
        ("4", "2-4", "0-4", "0-6"),
        ("5", "5-5", "5-6", "0-6"),
        ("6", "6-6", "5-6", "0-6"),
    ]


def test_text_and_json_spell_ranges_alike(tmp_path: Path) -> None:
    text = as_json(
        hierType="range",
        type="int",
        level1={"0-6": ["0-4", "5-6", "(null)"]},
        level2={"0-4": ["0-2", "2-4"], "5-6": ["5-5", "6-6"]},
    )
    assert rows(tmp_path, text, "h.json") == rows(tmp_path, AGES)


def test_decimal_ranges_are_ground_themselves(tmp_path: Path) -> None:
    text = "range\ntype decimal\nheight 2\n\n-1.0,1.0E0 has -1.0,-0.5 -0.5,1.0\n"
    assert rows(tmp_path, text) == [("-1--0.5", "-1-1"), ("-0.5-1", "-1-1")]


def test_date_ranges_are_ground_themselves(tmp_path: Path) -> None:
    text = (
        "range\nname d\ntype date\nheight 3\n\n"
        "1/1990,12/1990 has 1/1/1990,30/6/1990 1/7/1990,31/12/1990\n\n1990 has 1/1990,12/1990 null,null\n"
    )
    expected = [
        ("1/1/1990-30/6/1990", "1/1990-12/1990", "1990"),
        ("1/7/1990-31/12/1990", "1/1990-12/1990", "1990"),
    ]
    assert rows(tmp_path, text) == expected
    document = as_json(
        hierType="range",
        type="date",
        level1={"1990": ["1/1990-12/1990", "(null)"]},
        level2={"1/1990-12/1990": ["1/1/1990-30/6/1990", "1/7/1990-31/12/1990"]},
    )
    assert rows(tmp_path, document, "h.json") == expected


def test_the_linter_sees_every_second_parent(tmp_path: Path) -> None:
    text = "distinct\ntype string\nheight 3\n\na has x y\nb has x z\nc has y\n\n* has a b c\n"
    (tmp_path / "h.txt").write_text(text)
    found = [f for f in lint(read_raw_hierarchy(tmp_path / "h.txt").rows) if f.severity == "problem"]
    assert [(f.kind, f.message[:3], f.lines) for f in found] == [
        ("several-parents", "'x'", (6,)),
        ("several-parents", "'y'", (7,)),
    ]


HEAD = "distinct\ntype string\nheight 3\n\n"
RANGE = "range\ntype int\nheight 2\n\n"
BAD: dict[str, tuple[str, type[InputError], str]] = {
    "no-kind": ("type int\nheight 2\n\na has b\n", FileError, "bad: an Amnesia hierarchy that does not say its kind"),
    "odd-type": (
        "range\ntype money\nheight 2\n\n",
        FileError,
        "bad: an Amnesia hierarchy of type 'money'; the types are",
    ),
    "range-of-strings": (RANGE.replace("int", "string"), FileError, "bad: an Amnesia range hierarchy of strings"),
    "no-nodes": (HEAD, FileError, "bad: an Amnesia hierarchy without nodes"),
    "no-has": (HEAD + "a b c\n", FileError, "bad, line 5: expected a line like 'parent has child child …'"),
    "blank-in-label": (HEAD + "pain killer has a\n", FileError, "bad, line 5: a label with a blank in it"),
    "two-parents": (
        HEAD + "a has x\nb has x\n\n* has a b\n",
        HierarchyError,
        "bad, line 6: 'x' has two parents, 'a' and 'b'",
    ),
    "two-roots": (HEAD + "a has x\nb has y\n", HierarchyError, "bad, line 6: the last level has 2 values ('a', 'b')"),
    "circle": (HEAD + "a has b\nb has a\n", HierarchyError, "bad, line 5: 'b' is its own ancestor"),
    "circle-by-a-second-parent": (
        HEAD + "a has b\nb has c\nc has b\n",
        HierarchyError,
        "bad, line 7: 'b' has two parents, 'c' and 'a'",
    ),
    "not-a-range": (RANGE + "0,9 has 0,4 five\n", FileError, "bad, line 5: 'five' is not a range of numbers"),
    "backwards": (RANGE + "0,9 has 4,0\n", FileError, "bad, line 5: the range '4,0' ends before it begins"),
    "not-a-date": (RANGE.replace("int", "date") + "1990 has June\n", FileError, "bad, line 5: 'June' is not a range"),
    "overlap": (RANGE + "0,9 has 0,5 4,9\n", HierarchyError, "bad, line 5: the ranges '0-5' and '4-9' overlap"),
    "inside": (RANGE + "0,9 has 5,5 5,9\n", HierarchyError, "bad, line 5: the ranges '5-5' and '5-9' overlap"),
    "not-whole": (RANGE + "0,9 has 0,4.5 4.5,9\n", HierarchyError, "bad, line 5: '0-4.5' has bounds that are not"),
    "too-many": (RANGE + "0,9e9 has 0,8e9\n", FileError, "bad: its ranges hold 8,000,000,001 whole numbers"),
    "demographic": (
        as_json(hierType="range_demographic", type="int"),
        FileError,
        "bad: an Amnesia hierarchy that is of",
    ),
    "odd-key": (
        as_json(hierType="distinct", type="string", level1={"*": ["a"]}, levle2={}),
        FileError,
        "bad: unknown key 'levle2'; did you mean 'level2'?",
    ),
    "level-list": (
        as_json(hierType="distinct", type="string", level1=["a"]),
        FileError,
        "bad: level1 must map each node to the list of its children",
    ),
    "child-object": (
        as_json(hierType="distinct", type="string", level1={"*": [{}]}),
        FileError,
        "bad: level1, node '*': a child must be a string or a number",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text, kind, message = BAD[name]
    monkeypatch.chdir(tmp_path)
    Path("bad").write_text(text)
    with pytest.raises(kind) as caught:
        read_hierarchy("bad")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
