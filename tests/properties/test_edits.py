"""Edits by hand, worked out as arrays, come to what they come to cell by cell."""

from __future__ import annotations

from functools import cache

import numpy as np
import oracles.edits as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interrupted_offices import ENGINE, JOBS, Watched, dirty
from lanes import examples

import pacas
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.edits import edited
from pacas.client.outcome.steps import Edit
from pacas.review.written import Written

ROWS = len(dirty())
CHOICES = {
    "weigh": {"strategy": "weigh"},
    "careless": {"strategy": "weigh", "careful": 0.5},
    "paper": {"strategy": "paper", "rounds": 2},
}
EDITS = st.lists(
    st.builds(
        Edit,
        st.sampled_from(["JOB", "JOB", "OFFICE"]),
        st.one_of(st.just(range(ROWS)), st.sets(st.integers(0, ROWS - 1), min_size=1)).map(
            lambda rows: np.array(sorted(rows), dtype=np.int64)
        ),
        st.one_of(st.none(), st.sampled_from([*JOBS.ground_labels, "o1", "by hand"])),
    ),
    max_size=5,
)


@cache
def plain(name: str) -> Cleaning:
    cleaner = pacas.SafeClean("OFFICE -> JOB", 4, **CHOICES[name])  # type: ignore[arg-type]
    return cleaner.clean(dirty(), Watched("falling"), engine=ENGINE)


@pytest.mark.parametrize("name", CHOICES)
@examples(60)
@given(EDITS)
def test_edits_come_to_what_they_come_to_cell_by_cell(name: str, edits: list[Edit]) -> None:
    base = plain(name)
    expected, found = oracle.edited(base, edits), edited(base, edits)
    assert expected.changes == {
        (attribute, row): (old, new)
        for attribute, changes in found.changes.items()
        for row, old, new in zip(changes.rows.tolist(), changes.old, changes.new, strict=True)
    }
    assert [(cell.attribute, cell.row) for cell in found.to_look_at] == expected.to_look_at
    assert [repair.written.tolist() for repair in found.repairs] == expected.repairs
    assert [found.repairs[at].written.tolist() for at in range(-len(found.repairs), 0)] == expected.repairs
    assert found.repairs.by_kind.tolist() == expected.kinds and found.written == sum(expected.kinds)
    undone = [
        (left.attribute, row) for left in found.unrepaired if left.reason == "undone" for row in left.rows.tolist()
    ]
    assert sorted(undone) == sorted(expected.undone)


@pytest.mark.parametrize("name", CHOICES)
@examples(60)
@given(EDITS)
def test_a_page_lists_edited_cells_as_they_are(name: str, edits: list[Edit]) -> None:
    base = plain(name)
    expected, written = oracle.edited(base, edits), Written(base, edits, Written(base))
    cells = written.listed(written.cells)
    assert [(cell.attribute, cell.row, cell.state) for cell in cells] == expected.listed
    every = np.arange(ROWS)
    for attribute in base.columns:
        assert written.states(attribute, every) == [expected.states.get((attribute, row)) for row in every.tolist()]
        in_doubt = [(attribute, row) in expected.to_look_at for row in every.tolist()]
        assert written.doubtful(attribute, every) == in_doubt
        new = [expected.changes.get((attribute, row), (None, None))[1] for row in every.tolist()]
        assert written.new(attribute, every) == new
    for cell in cells:
        alone = written.cell(cell.attribute, cell.row)
        assert alone is not None and alone[:4] == cell[:4] and alone.state == cell.state
        if cell.state in ("undone", "left"):
            assert cell.repair is None
        else:
            assert cell.repair is not None and cell.row in cell.repair.written and cell.repair.new == cell.new
            assert (cell.old, cell.new) == expected.changes[cell.attribute, cell.row]
