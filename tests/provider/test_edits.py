"""Edits: patches make of R what the operations they stand for make of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.pricing import materialise
from oracles.tree import Value
from oracles.worlds import World, worlds

from pacas import example
from pacas.core.hierarchy import Codes
from pacas.errors import InputError
from pacas.formats.provider.support_file import read_support
from pacas.provider.support.cell_neighbours import cell_neighbours
from pacas.provider.support.edits import INSERTED, Edits, Neighbour, edits_of

Row = Mapping[str, Value]


class Coding:
    """A code for each value of each column: those of the rows, and others as they come."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.values: dict[str, list[Value]] = {a: [None] for a in rows[0]}
        self.codes: dict[str, Codes] = {
            a: np.array([self.code(a, row[a] or None) for row in rows], dtype=np.int32) for a in rows[0]
        }

    def code(self, attribute: str, value: Value) -> int:
        if value not in self.values[attribute]:
            self.values[attribute].append(value)
        return self.values[attribute].index(value)


def expand(edits: Edits, coding: Coding) -> list[Counter[tuple[Value, ...]]]:
    """Each neighbour as the rows that it has, patch by patch."""
    columns = {a: coding.codes[a].tolist() for a in coding.values}
    patched = {a: edits.column(a, coding.codes[a]).tolist() for a in coding.values}
    size = len(next(iter(columns.values())))
    found = []
    for number in range(len(edits)):
        instance = {row: tuple(columns[a][row] for a in columns) for row in range(size)}
        for patch in np.flatnonzero(edits.neighbour == number).tolist():
            row = int(edits.row[patch])
            if edits.gone[patch]:
                del instance[row]
            else:  # inserted rows stand behind all others
                instance[size + patch if row == INSERTED else row] = tuple(patched[a][patch] for a in columns)
        decoded = [tuple(coding.values[a][c] for a, c in zip(columns, row, strict=True)) for row in instance.values()]
        found.append(Counter(decoded))
    return found


def check_shape(edits: Edits) -> None:
    """What `Edits` and `Changed` promise."""
    assert len(edits.neighbour) == len(edits.row) == len(edits.gone)
    assert (np.diff(edits.neighbour) >= 0).all()
    assert not len(edits.neighbour) or 0 <= edits.neighbour[0] <= edits.neighbour[-1] < len(edits)
    pairs = [(n, r) for n, r in zip(edits.neighbour.tolist(), edits.row.tolist(), strict=True) if r != INSERTED]
    assert len(set(pairs)) == len(pairs), "a row at most once per neighbour"
    assert not edits.gone[edits.row == INSERTED].any()
    for changed in edits.values.values():
        assert (np.diff(changed.patch) > 0).all()
        assert changed.code.dtype == np.int32 and len(changed.code) == len(changed.patch)
        assert not edits.gone[changed.patch].any()


def given_by(world: World) -> Sequence[Neighbour]:
    """A world's neighbours by way of its file."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "support.jsonl"
        file.write_text(world.support_lines(), "utf-8")
        return read_support(file, list(world.rows[0]), len(world.rows)).neighbours


@examples(50)
@given(worlds(max_requests=1).filter(lambda world: world.neighbours))
def test_given_neighbours_are_what_their_operations_make_of_the_relation(world: World) -> None:
    coding = Coding(world.rows)
    edits = edits_of(given_by(world), coding.codes, coding.code)
    check_shape(edits)
    instances = [materialise(world.rows, n.ops) for n in world.neighbours]
    assert expand(edits, coding) == [Counter(tuple(row[a] for a in coding.values) for row in i) for i in instances]
    needed = edits.gone | (edits.row == INSERTED)
    for attribute, changed in edits.values.items():
        row = edits.row[changed.patch]
        real = (row == INSERTED) | (changed.code != coding.codes[attribute][row])
        assert real.all(), "a change changes something"
        needed[changed.patch] = True
    assert needed.all(), "so does a patch"


def test_a_neighbour_that_changes_nothing_has_no_patch_and_keeps_its_number() -> None:
    coding = Coding([{"A": "x", "B": None}])
    same, other = Neighbour({0: {"A": "x", "B": None}}), Neighbour({0: {"A": "x", "B": "y"}})
    edits = edits_of([same, other, Neighbour()], coding.codes, coding.code)
    assert (len(edits), edits.neighbour.tolist(), edits.row.tolist()) == (3, [1], [0])
    assert list(edits.values) == ["B"]


def test_an_inserted_row_has_null_where_nothing_is_said() -> None:
    coding = Coding([{"A": "x", "B": "y"}])
    edits = edits_of([Neighbour(inserted=({"B": "z"},))], coding.codes, coding.code)
    assert expand(edits, coding) == [Counter({("x", "y"): 1, (None, "z"): 1})]
    assert set(edits.values) == {"A", "B"}


def test_attributes_that_do_not_matter_are_left_out() -> None:
    coding = Coding([{"A": "x"}])
    edits = edits_of([Neighbour({0: {"Z": "1"}}, ({"A": "y", "Z": "2"},))], coding.codes, coding.code)
    assert edits.row.tolist() == [INSERTED]
    assert list(edits.values) == ["A"]


def test_an_error_says_which_neighbour_has_a_value_without_a_code() -> None:
    coding = Coding([{"A": "x"}])

    def refuse(attribute: str, value: Value) -> int:
        raise InputError(f"a value of {attribute!r} that the hierarchy does not know")

    with pytest.raises(InputError, match=r"^neighbour 2: a value of 'A'"):
        edits_of([Neighbour(), Neighbour({0: {"A": "y"}})], coding.codes, refuse)


def test_no_neighbours_are_no_edits() -> None:
    coding = Coding([{"A": "x"}])
    for edits in (edits_of([], coding.codes, coding.code), Edits.joined([]), Edits.none()):
        assert (len(edits), len(edits.row), dict(edits.values)) == (0, 0, {})


@examples(20)
@given(worlds(max_requests=1).filter(lambda world: world.neighbours), st.integers(0, 12))
def test_joined_edits_are_the_neighbours_of_both(world: World, cut: int) -> None:
    coding, neighbours = Coding(world.rows), given_by(world)
    parts = [edits_of(some, coding.codes, coding.code) for some in (neighbours[:cut], neighbours[cut:], [])]
    joined = Edits.joined(parts)
    check_shape(joined)
    assert expand(joined, coding) == [instance for part in parts for instance in expand(part, coding)]


def test_cell_neighbours_as_edits_change_the_same_cells_to_the_same_values() -> None:
    values: list[Value] = ["dolex", "ibuprofen", "dolex"]
    coding = Coding([{"MED": v, "N": str(n)} for n, v in enumerate(values)])
    code_of_node = np.array([coding.code("MED", label) for label in example.med.labels], dtype=np.int32)
    cells = cell_neighbours("MED", example.med.encode(values), example.med, 4, b"seed")
    edits = Edits.of_cells(cells, code_of_node)
    check_shape(edits)
    literal = []
    for row, new in zip(cells.rows.tolist(), cells.new, strict=True):
        changed = [*values[:row], example.med.label(new), *values[row + 1 :]]
        literal.append(Counter((v, str(n)) for n, v in enumerate(changed)))
    assert expand(edits, coding) == literal


def test_a_value_without_a_code_is_not_passed_over() -> None:
    cells = cell_neighbours("MED", example.med.encode(["dolex"]), example.med, 4, b"seed")
    with pytest.raises(ValueError, match="without a code"):
        Edits.of_cells(cells, np.full(len(example.med), -1, dtype=np.int32))
