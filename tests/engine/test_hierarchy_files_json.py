"""JSON trees: padding, spelling of numbers, and one clear line for each bad tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacas.engine.hierarchy_files import read_hierarchy
from pacas.errors import FileError, HierarchyError, InputError

MED = """
{"value": "*", "children": [
  {"value": "NSAID", "children": [{"value": "ibuprofen"}, {"value": "naproxen", "children": []}]},
  {"value": "dolex"}
]}
"""


def read(tmp_path: Path, text: str, name: str = "h.json") -> list[tuple[str, ...]]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return list(read_hierarchy(tmp_path / name).rows())


@pytest.mark.parametrize("name", ["h.json", "h.txt", "h"])
def test_leaves_at_uneven_depth_are_repeated_up_to_their_parent(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, MED, name) == [
        ("ibuprofen", "NSAID", "*"),
        ("naproxen", "NSAID", "*"),
        ("dolex", "dolex", "*"),
    ]


def test_numbers_keep_their_spelling_unless_numeric(tmp_path: Path) -> None:
    text = (
        '{"value": "*", "children": [{"value": "0-9", "children": [{"value": 5.0}, {"value": 12345678901234567890}]}]}'
    )
    assert [row[0] for row in read(tmp_path, text)] == ["5.0", "12345678901234567890"]
    numeric = text.replace("{", '{"numeric": true, ', 1)
    assert read(tmp_path, numeric)[0] == ("5", "0-9", "*")


def test_a_csv_whose_first_label_is_a_brace_or_bracket_is_no_json(tmp_path: Path) -> None:
    assert read(tmp_path, "[0, 5[;*\n[5, 9[;*\n", "h.csv") == [("[0, 5[", "*"), ("[5, 9[", "*")]
    assert read(tmp_path, "{a};*\n{b};*\n", "h.csv") == [("{a}", "*"), ("{b}", "*")]


def test_a_tree_as_deep_as_json_can_be_is_read(tmp_path: Path) -> None:
    deep = '{"value": "0", "children": [' * 200 + '{"value": "x"}' + "]}" * 200
    for level in range(200):
        deep = deep.replace('"value": "0"', f'"value": "v{level}"', 1)
    (row,) = read(tmp_path, deep)
    assert (row[0], row[-1], len(row)) == ("x", "v0", 201)


BAD: dict[str, tuple[str, type[InputError], str]] = {
    "cut-off": ('{"value": "*",\n "children": [', FileError, "bad.json, line 2, column 15: not JSON"),
    "not-json": ("a;b;*", FileError, "bad.json, line 1, column 1: not JSON"),
    "a-list": ("[]", FileError, "bad.json: a JSON hierarchy is one object"),
    "too-deep": ('{"children": [' * 100_000, FileError, "bad.json: the JSON is nested too deeply"),
    "no-top-value": ('{"children": []}', FileError, 'bad.json: the top node has no "value"'),
    "no-value": (
        '{"value": "*", "children": [{"value": "a"}, {"value": "b", "children": [{"children": []}]}]}',
        FileError,
        'bad.json: children[1].children[0] has no "value"',
    ),
    "null-value": (
        '{"value": "*", "children": [{"value": null}]}',
        FileError,
        'bad.json: children[0]: "value" must be a string or a number',
    ),
    "true-value": ('{"value": true}', FileError, 'bad.json: the top node: "value" must be a string or a number'),
    "nan": ('{"value": NaN}', FileError, "bad.json: NaN is not a JSON value"),
    "empty-value": ('{"value": ""}', FileError, 'bad.json: the top node: "value" is empty'),
    "surrogate": (r'{"value": "\ud800"}', FileError, 'bad.json: the top node: "value" holds half a surrogate pair'),
    "misspelt": (
        '{"value": "*", "childern": []}',
        FileError,
        "bad.json: the top node: unknown key 'childern'; did you mean 'children'?",
    ),
    "twice": ('{"value": "*", "value": "+"}', FileError, "bad.json: the key 'value' stands twice in one object"),
    "children-object": (
        '{"value": "*", "children": {}}',
        FileError,
        'bad.json: the top node: "children" must be a list',
    ),
    "bare-child": (
        '{"value": "*", "children": ["a"]}',
        FileError,
        "bad.json: children[0] is not an object",
    ),
    "numeric-text": ('{"value": "*", "numeric": "yes"}', FileError, 'bad.json: "numeric" must be true or false'),
    "numeric-below": (
        '{"value": "*", "children": [{"value": "1", "numeric": true}]}',
        FileError,
        'bad.json: children[0]: only the top node says "numeric"',
    ),
    "no-children": ('{"value": "*"}', HierarchyError, "bad.json: only one level"),
    "two-parents": (
        '{"value": "*", "children": [{"value": "a", "children": [{"value": "x"}]}, '
        '{"value": "b", "children": [{"value": "x"}]}]}',
        HierarchyError,
        "bad.json: 'x' has two parents, 'a' and 'b'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_tree_gives_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text, kind, message = BAD[name]
    monkeypatch.chdir(tmp_path)
    Path("bad.json").write_text(text)
    with pytest.raises(kind) as caught:
        read_hierarchy("bad.json")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
