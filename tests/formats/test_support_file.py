"""Support-set files: what the operations of a line come to, exact weights, and one clear line for each mistake."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.worlds import World, worlds

from pacas.errors import InputError
from pacas.formats.provider.support_file import read_support
from pacas.provider.support.edits import Neighbour
from pacas.provider.support.support_set import GivenSupport

COLUMNS = ["GEN", "AGE", "MED"]
ROWS = 6
SECRET = "naproxen"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "support.jsonl"


def read(file: Path, *lines: str | dict[str, Any]) -> GivenSupport:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    file.write_text(text, "utf-8")
    return read_support(file, COLUMNS, ROWS)


def one(file: Path, *ops: dict[str, Any]) -> Neighbour:
    (neighbour,) = read(file, {"ops": list(ops)}).neighbours
    return neighbour


# ---- what lines come to ----------------------------------------------------------------------------------------------


def test_the_line_of_the_documentation(file: Path) -> None:
    support = read(
        file,
        '{"ops": [{"set": 3, "values": {"MED": "naproxen"}}, {"delete": 4}, {"insert": {"GEN": "F"}}], "weight": 0.1}',
    )
    assert list(support.neighbours) == [Neighbour({3: {"MED": "naproxen"}, 4: None}, ({"GEN": "F"},))]
    assert support.weights is not None and support.weights.tolist() == [100_000_000]


def test_operations_apply_in_order(file: Path) -> None:
    first, second = {"set": 1, "values": {"MED": "a", "GEN": "F"}}, {"set": 1, "values": {"MED": "b", "AGE": "3"}}
    assert one(file, first, second) == Neighbour({1: {"MED": "b", "GEN": "F", "AGE": "3"}})
    assert one(file, second, first) == Neighbour({1: {"MED": "a", "GEN": "F", "AGE": "3"}})
    assert one(file, first, {"delete": 1}) == Neighbour({1: None})
    assert one(file, {"insert": {}}, {"insert": {}}) == Neighbour({}, ({}, {}))
    assert one(file) == Neighbour()


def test_a_number_is_its_text_and_an_empty_text_is_null(file: Path) -> None:
    found = one(file, {"insert": {"AGE": 51, "GEN": "", "MED": None}}, {"set": 0, "values": {"AGE": 51.50}})
    assert found == Neighbour({0: {"AGE": "51.5"}}, ({"AGE": "51", "GEN": None, "MED": None},))


def test_blank_lines_a_byte_order_mark_and_a_missing_last_line_break_are_fine(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbf{"ops": []}\r\n\n  \t\n {"ops": [{"delete": 0}]} ')
    assert list(read_support(file, COLUMNS, ROWS).neighbours) == [Neighbour(), Neighbour({0: None})]


def test_a_colon_in_a_value_is_only_a_colon(file: Path) -> None:
    assert one(file, {"set": 0, "values": {"MED": '12:30, "a": b'}}) == Neighbour({0: {"MED": '12:30, "a": b'}})


@pytest.mark.parametrize(
    ("weight", "nanocredits"),
    [
        ("0", 0),
        ("1", 10**9),
        ("0.000000001", 1),
        ("1e-9", 1),
        ("1E2", 10**11),
        ("0.1000000000000", 10**8),
        ("999999999.999999999", 10**18 - 1),
        ("-0.0", 0),
    ],
)
def test_weights_are_exact(file: Path, weight: str, nanocredits: int) -> None:
    weights = read(file, f'{{"ops": [], "weight": {weight}}}').weights
    assert weights is not None and weights.tolist() == [nanocredits]


def test_without_weights_there_are_none(file: Path) -> None:
    assert read(file, {"ops": []}, {"ops": []}).weights is None


@pytest.mark.parametrize("compression", [".gz", ".zst"])
@examples(15)
@given(world=worlds(max_requests=1).filter(lambda world: world.neighbours), weighed=st.booleans())
def test_what_is_written_plain_or_compressed_is_read(
    tmp_path_factory: pytest.TempPathFactory, compression: str, world: World, weighed: bool
) -> None:
    lines = [json.loads(line, parse_float=str) for line in world.support_lines().splitlines()]
    text = world.support_lines() if weighed else "\n".join(json.dumps({"ops": line["ops"]}) for line in lines)
    folder = tmp_path_factory.mktemp("support")
    read = []
    for name in ("s.jsonl", f"t.jsonl{compression}"):
        with pa.output_stream(str(folder / name)) as stream:  # compressed as its name says
            stream.write(text.encode())
        read.append(read_support(folder / name, list(world.rows[0]), len(world.rows)))
    plain, support = read
    assert list(support.neighbours) == list(plain.neighbours) and len(support) == len(world.neighbours)
    assert (support.weights is not None) == weighed
    assert support.weights is None or support.weights.tolist() == [n.weight for n in world.neighbours]


# ---- mistakes --------------------------------------------------------------------------------------------------------

OPS: list[tuple[str, str]] = [
    ('{"set": 0}', '"set" without "values"'),
    ('{"set": 0, "values": {}, "insert": {}}', '"set" and "insert" in one operation; make it two'),
    ('{"insert": {}, "delete": 1}', '"insert" and "delete" in one operation; make it two'),
    ('{"delete": 0, "values": {"MED": "naproxen"}}', '"values" goes with "set" only, not with "delete"'),
    ('{"values": {"MED": "naproxen"}}', 'an operation without "set", "insert" or "delete"'),
    ("{}", 'an operation without "set", "insert" or "delete"'),
    ('{"sett": 0, "values": {}}', "unknown key 'sett' in an operation; did you mean 'set'?"),
    ('"naproxen"', "an operation is an object"),
    ('{"set": 6, "values": {}}', "no row 6; rows are numbered from 0 to 5"),
    ('{"delete": -1}', "no row -1; rows are numbered from 0 to 5"),
    ('{"delete": "naproxen"}', "a row number must be a whole number"),
    ('{"delete": 1.0}', "a row number must be a whole number"),
    ('{"delete": true}', "a row number must be a whole number"),
    ('{"set": 0, "values": ["naproxen"]}', '"values" must be an object'),
    ('{"insert": "naproxen"}', '"insert" must be an object'),
    ('{"insert": {"MEDS": "naproxen"}}', "no column 'MEDS'; did you mean 'MED'?"),
    ('{"set": 0, "values": {"MED": true}}', "the value of 'MED' must be a text, a number or null, not true or false"),
    ('{"set": 0, "values": {"MED": ["naproxen"]}}', "the value of 'MED' must be a text, a number or null"),
    ('{"set": 0, "values": {"MED": {"naproxen": 1}}}', "the value of 'MED' must be a text, a number or null"),
    ('{"set": 0, "values": {"MED": 1e999}}', "the value of 'MED' must be a text, a number or null"),
    ('{"set": 0, "values": {"MED": "naproxen\\ud800"}}', "the value of 'MED' has half of a surrogate pair"),
    ('{"delete": 2}, {"delete": 2}', "row 2 is deleted twice; delete it once"),
    ('{"delete": 2}, {"set": 2, "values": {"MED": "naproxen"}}', "row 2 is set after it is deleted"),
    ('{"set": 0, "values": {"MED": "naproxen", "MED": "dolex"}}', "a key stands twice in one object"),
    ('{"set": 0, "set": 1, "values": {"MED": "naproxen"}}', "a key stands twice in one object"),
]

LINES: list[tuple[str, str]] = [(f'{{"ops": [{ops}]}}', message) for ops, message in OPS] + [
    ('{"ops": [{"delete": 0}', "not JSON (expecting ',' delimiter, column 23)"),
    ("naproxen", "not JSON (expecting value, column 1)"),
    ("[", "not JSON"),
    ('{"ops": [NaN]}', "not JSON (NaN is no JSON value)"),
    ('{"ops": []} {"ops": ["naproxen"]}', "something after the neighbour, at column 12; write one neighbour a line"),
    ('["naproxen"]', "a neighbour is one object"),
    ("3", "a neighbour is one object"),
    ("{}", '"ops" must be a list'),
    ('{"ops": {"delete": 0}}', '"ops" must be a list'),
    ('{"op": []}', "unknown key 'op'; did you mean 'ops'?"),
    ('{"ops": [], "ops": []}', "a key stands twice in one object"),
    ('{"ops": [], "weight": 1}', "a weight where the lines before have none; give a weight on all lines or on none"),
    ('{"ops": [{"set": 0, "values": {"AGE": ' + "9" * 5000 + "}}]}", "a number that is too long to be read"),
    ('{"ops": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply to be read"),
]


@pytest.mark.parametrize(("line", "message"), LINES, ids=range(len(LINES)))
def test_a_mistake_is_one_clear_line_that_says_where_and_shows_no_value(file: Path, line: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(file, {"ops": []}, "", line)
    assert str(error.value).startswith(f"support.jsonl, line 3: {message}")
    assert SECRET not in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("-0.1", "a negative weight; a neighbour weighs 0 or more"),
        ("-1", "a negative weight; a neighbour weighs 0 or more"),
        ("0.0000000001", "a weight of more than nine decimals; a nanocredit is the least"),
        ("0.10000000000000000000000000000000000000000000001", "a weight of more than nine decimals"),
        ("1e-999999999", "a weight of more than nine decimals"),
        ("1e400", "a weight of more than 1000000000 credits"),
        ("1000000001", "a weight of more than 1000000000 credits"),
        ("1e99999999999999999999", "a number that is too long to be read"),
        ('"0.1"', '"weight" must be a number of credits'),
        ("true", '"weight" must be a number of credits'),
        ("null", '"weight" must be a number of credits'),
    ],
)
def test_a_weight_that_is_none_is_refused(file: Path, weight: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(file, {"ops": [], "weight": 1}, f'{{"ops": [], "weight": {weight}}}')
    assert str(error.value).startswith(f"support.jsonl, line 2: {message}")


def test_weights_on_some_lines_only_are_refused(file: Path) -> None:
    with pytest.raises(InputError, match="line 2: no weight where the lines before have one; give"):
        read(file, {"ops": [], "weight": 1}, {"ops": []})


def test_weights_together_are_bounded(file: Path) -> None:
    with pytest.raises(InputError, match="the weights sum to more than 1000000000 credits"):
        read(file, *[{"ops": [], "weight": 6 * 10**8}] * 2)


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_file_is_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"support\.jsonl is empty; give at least one neighbour"):
        read_support(file, COLUMNS, ROWS)


def test_rows_of_a_relation_without_any_are_refused(file: Path) -> None:
    file.write_text('{"ops": [{"delete": 0}]}', "utf-8")
    with pytest.raises(InputError, match="line 1: no row 0; the relation has no rows"):
        read_support(file, COLUMNS, 0)


def test_bytes_that_are_no_text_are_refused(file: Path) -> None:
    file.write_bytes(b'{"ops": []}\n{"ops": ["naprox\xe9n"]}\n')
    with pytest.raises(InputError, match="line 2: bytes that are not UTF-8"):
        read_support(file, COLUMNS, ROWS)


def test_a_file_that_is_cut_short_or_absent_is_refused(tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"ops": []}\n' * 1000)[:-12])
    for path in (cut, tmp_path / "absent.jsonl", tmp_path):
        with pytest.raises(InputError, match=r"cannot be read .*; give a support set as JSON lines"):
            read_support(path, COLUMNS, ROWS)


def test_no_value_shows_in_a_representation() -> None:
    neighbour = Neighbour({0: {"MED": SECRET}}, ({"MED": SECRET},))
    assert SECRET not in repr(neighbour) + repr(GivenSupport([neighbour]))
