"""One screen of a table: which rows, what is marked, and a search that never reads all of it at once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from reviewed_offices import review_job, reviewing, settled, shop

from pacas.client.classes.check import check
from pacas.core.relation import Relation
from pacas.engine.duck.engine import DuckEngine
from pacas.review import screen
from pacas.review.marks import Marks
from pacas.review.views.table import screen_part, table_page

ENGINE = DuckEngine(threads=1)
VALUES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=30)


@examples(60)
@given(VALUES)
def test_cells_stand_out_that_are_unlike_most_of_their_class(pairs: list[tuple[str, str]]) -> None:
    table = Relation(pa.table({"A": [a for a, _ in pairs], "B": [b for _, b in pairs]}))
    marks = Marks(check(table, "A -> B", engine=ENGINE))
    rows = np.arange(len(pairs))
    groups: dict[str, Counter[str]] = {}
    for a, b in pairs:
        groups.setdefault(a, Counter())[b] += 1
    wrong = {a for a, values in groups.items() if len(values) > 1}
    most = {a: max(sorted(values), key=values.__getitem__) for a, values in groups.items()}
    assert [number >= 0 for number in marks.numbers("B", rows)] == [a in wrong for a, _ in pairs]
    assert marks.stands_out("B", rows).tolist() == [a in wrong and b != most[a] for a, b in pairs]
    assert marks.violating.tolist() == [n for n, (a, _) in enumerate(pairs) if a in wrong]
    for row, (a, _) in enumerate(pairs):
        found = marks.class_of("B", row)
        assert (found is not None) == (a in wrong)
        assert found is None or found.rows.tolist() == [n for n, (other, _) in enumerate(pairs) if other == a]


@examples(40)
@given(st.lists(st.sampled_from(["ab", "b", "cd", "xAby"]), min_size=1, max_size=40), st.integers(1, 12))
def test_a_search_in_stretches_finds_what_one_over_all_finds(values: list[str], stretch: int) -> None:
    table = ENGINE.open(Relation(pa.table({"A": values})))
    expected = [row for row, value in enumerate(values) if "ab" in value.lower()]
    found: list[int] = []
    first: int | None = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen, "CELLS", stretch)
        patch.setattr(screen, "ROWS", 1)
        while first is not None:
            part = screen.search(ENGINE, table, "AB", None, first, 3)
            assert len(part.rows) <= 3
            found += part.rows.tolist()
            assert part.next is None or part.next > first
            first = part.next
    assert found == expected


def test_facets_choose_rows_that_are_of_all_kinds(tmp_path: Path) -> None:
    unsold = "OFFICE -> AGE"  # so that something is left, and it is said why
    with reviewing(review_job(tmp_path, shop(), fds=["OFFICE -> JOB", unsold])) as session:
        settled(session)
        page = table_page(session, {})
        assert page["found"] == 99 and len(page["rows"]) == 50 and page["pages"] == 2
        assert page["columns"] == ["PERSON", "OFFICE", "JOB", "AGE"]
        names = {name for name, _, _ in page["choices"]}
        assert names == {"look", "attribute", "fd", "size", "reason"}
        changed = screen_part(session, {"look": "changed"})
        both = screen_part(session, {"look": "changed", "size": "3 to 5"})
        assert 0 < both["found"] < changed["found"] < 99
        assert screen_part(session, {"attribute": "NOPE"})["found"] == 0
        assert screen_part(session, {"row": "70"})["page"] == 2
        assert screen_part(session, {"page": "10000000000000000000000"})["page"] == 1
