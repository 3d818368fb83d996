"""Mixed support sets: each kind has its share, and each neighbour is of its kind."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.strategies import trees
from oracles.tree import Tree

from pacas import example
from pacas.core.hierarchy import Codes, Hierarchy
from pacas.errors import InputError
from pacas.provider.support.cell_neighbours import CellNeighbours, PerCell, cell_neighbours
from pacas.provider.support.edits import INSERTED, Edits
from pacas.provider.support.mix import KINDS, Mix, mixed_neighbours

SEED = b"a secret of the provider's"
ALL = Mix.of({"update": 0.7, "swap": 0.1, "insert": 0.1, "delete": 0.1})


# ---- shares ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"updates": 1.0}, "mix has no kind 'updates'; did you mean 'update'?"),
        ({"update": 1.5, "swap": -0.5}, "the share of update in mix must be a number from 0 to 1, not 1.5"),
        ({"swap": -0.1, "update": 1.1}, "the share of swap in mix must be a number from 0 to 1, not -0.1"),
        ({"update": float("nan")}, "the share of update in mix must be a number from 0 to 1, not nan"),
        ({"update": True}, "the share of update in mix must be a number from 0 to 1, not True"),
        ({"update": "1"}, "the share of update in mix must be a number from 0 to 1, not '1'"),
        ({"update": 0.7, "swap": 0.2}, "the shares in mix must sum to 1; they sum to 0.9"),
        ({}, "the shares in mix must sum to 1; they sum to 0"),
    ],
)
def test_shares_that_make_no_mix_are_refused(shares: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        Mix.of(shares)
    assert str(error.value) == message


def test_shares_may_be_off_by_a_rounding() -> None:
    Mix.of({"update": 1 / 3, "swap": 1 / 3, "insert": 1 / 3})
    Mix.of({"update": 0.1, "swap": 0.2, "delete": 0.7})


@given(st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any), st.integers(0, 60))
def test_each_kind_has_its_share_rounded_by_at_most_one(parts: list[int], per_cell: int) -> None:
    shares = {kind: part / sum(parts) for kind, part in zip(KINDS, parts, strict=True)}
    counts = Mix.of(shares).split(per_cell)
    assert sum(int(c) for c in counts.values()) == per_cell
    for kind in KINDS:
        assert abs(int(counts[kind]) - per_cell * shares[kind]) < 1 + 1e-6
        assert shares[kind] or not counts[kind]


def test_the_largest_remainder_gets_what_is_left_and_the_first_kind_among_equal_ones() -> None:
    assert ALL.split(3) == {"update": 2, "swap": 1, "insert": 0, "delete": 0}
    assert Mix.of({"update": 0.29, "delete": 0.71}).split(100) == {"update": 29, "swap": 0, "insert": 0, "delete": 71}


@given(st.lists(st.integers(0, 15), max_size=8))
def test_a_number_per_row_is_split_as_each_number_is(per_cell: list[int]) -> None:
    counts = ALL.split(np.array(per_cell, dtype=np.int32))
    for row, number in enumerate(per_cell):
        assert {kind: int(np.asarray(counts[kind])[row]) for kind in KINDS} == ALL.split(number)


# ---- neighbours ------------------------------------------------------------------------------------------------------


def generate(
    column: Codes, hierarchy: Hierarchy, per_cell: PerCell, mix: Mix, seed: bytes = SEED
) -> tuple[CellNeighbours, Edits, dict[str, Codes]]:
    """Attribute codes that differ from the nodes by 100, and another attribute that numbers the rows."""
    codes = {"A": column + np.int32(100), "N": np.arange(len(column), dtype=np.int32)}
    code_of_node = np.arange(len(hierarchy), dtype=np.int32) + np.int32(100)
    cells, edits = mixed_neighbours(
        "A", column, hierarchy, per_cell, seed, mix=mix, codes=codes, code_of_node=code_of_node
    )
    return cells, edits, codes


@examples(100)
@given(trees(), st.integers(0, 14), st.data())
def test_each_neighbour_is_of_its_kind(tree: Tree, per_cell: int, data: st.DataObject) -> None:
    hierarchy = Hierarchy.from_rows(tree.rows)
    ground = hierarchy.ground_labels
    values = data.draw(st.lists(st.sampled_from(ground), min_size=1, max_size=6))
    parts = data.draw(st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any))
    mix = Mix.of({kind: part / sum(parts) for kind, part in zip(KINDS, parts, strict=True)})
    column = hierarchy.encode(values)
    cells, edits, codes = generate(column, hierarchy, per_cell, mix)
    literal = cell_neighbours("A", column, hierarchy, mix.split(per_cell)["update"], SEED)
    assert cells.new.tolist() == literal.new.tolist()
    of_kind: dict[str, Counter[int]] = {"swap": Counter(), "insert": Counter(), "delete": Counter()}
    new, names = edits.column("A", codes["A"]).tolist(), edits.column("N", codes["N"]).tolist()
    for number in range(len(edits)):
        patches = np.flatnonzero(edits.neighbour == number).tolist()
        rows = [int(edits.row[p]) for p in patches]
        if len(patches) == 2:  # the first is the cell whose neighbour it is
            assert [new[p] for p in patches] == [codes["A"][r] for r in reversed(rows)]
            assert values[rows[0]] != values[rows[1]]
            assert [names[p] for p in patches] == rows
            of_kind["swap"][rows[0]] += 1
        elif rows == [INSERTED]:
            row = names[patches[0]]
            put_in = hierarchy.label(new[patches[0]] - 100)
            assert put_in in ground and put_in != values[row]
            of_kind["insert"][row] += 1
        else:
            assert len(rows) == 1 and edits.gone[patches].all()
            of_kind["delete"][rows[0]] += 1
    counts = {kind: int(n) for kind, n in mix.split(per_cell).items()}
    if len(set(values)) == 1:
        counts = counts | {"swap": 0, "insert": counts["insert"] + counts["swap"]}
    if len(ground) == 1:
        counts["insert"] = 0
    for kind, found in of_kind.items():
        assert [found[row] for row in range(len(values))] == [counts[kind]] * len(values)


def test_shares_hold_for_a_number_per_row() -> None:
    column = example.med.encode(["dolex", "tylenol", "ibuprofen"])
    cells, edits, _ = generate(column, example.med, np.array([10, 0, 20], dtype=np.int32), ALL)
    assert np.diff(cells.first).tolist() == [7, 0, 14]
    assert int((edits.row == INSERTED).sum()) == int(edits.gone.sum()) == 3
    assert edits.row[edits.gone].tolist() == [0, 2, 2]
    assert len(edits) == 9


def test_a_swap_takes_each_row_with_another_value_equally_often() -> None:
    flat = Hierarchy.flat(["a", "b", "c"])
    column = flat.encode(["b", "a", "b", "c", "a", "c"])
    _, edits, _ = generate(column, flat, 3_000, Mix.of({"swap": 1.0}))
    for row in range(len(column)):
        found = Counter(edits.row[1::2][edits.row[::2] == row].tolist())
        assert set(found) == set(np.flatnonzero(column != column[row]).tolist())
        assert all(abs(count - 750) < 150 for count in found.values())


def test_insertions_are_spread_over_the_levels() -> None:
    column = example.med.encode(["ibuprofen"])
    _, edits, _ = generate(column, example.med, 9, Mix.of({"insert": 1.0}))
    new = edits.values["A"].code - 100
    divergence = (example.med.ancestors[:, new] != example.med.ancestors[:, column]).sum(axis=0)
    assert Counter(divergence.tolist()) == {1: 3, 2: 3, 3: 3}


def test_updates_are_those_of_an_unmixed_support_set_of_the_same_size_and_seed() -> None:
    column = example.med.encode(["ibuprofen", "dolex"])
    cells, edits, _ = generate(column, example.med, 5, Mix())
    assert cells.new.tolist() == cell_neighbours("A", column, example.med, 5, SEED).new.tolist()
    assert len(edits) == 0


def test_an_empty_relation_has_no_neighbours() -> None:
    cells, edits, _ = generate(np.empty(0, dtype=np.int32), example.med, 10, ALL)
    assert (len(cells), len(edits)) == (0, 0)


PROGRAM = """
import numpy as np
from pacas import example
from pacas.provider.support.mix import Mix, mixed_neighbours
column = example.med.encode(["dolex", "tylenol", "naproxen"])
_, edits = mixed_neighbours(
    "A", column, example.med, 20, SEED, mix=Mix.of({"swap": 0.5, "insert": 0.5}),
    codes={"A": column + np.int32(100), "N": np.arange(3, dtype=np.int32)},
    code_of_node=np.arange(len(example.med), dtype=np.int32) + np.int32(100),
)
print([edits.row.tolist(), edits.values["A"].code.tolist()])
"""


def test_another_process_derives_the_same_and_another_seed_others() -> None:
    program = PROGRAM.replace("SEED", repr(SEED))
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    half = Mix.of({"swap": 0.5, "insert": 0.5})
    column = example.med.encode(["dolex", "tylenol", "naproxen"])
    _, edits, _ = generate(column, example.med, 20, half)
    assert printed.strip() == str([edits.row.tolist(), edits.values["A"].code.tolist()])
    assert edits.row.tolist() != generate(column, example.med, 20, half, b"another")[1].row.tolist()
