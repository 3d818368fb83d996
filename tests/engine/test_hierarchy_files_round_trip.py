"""Reading what was written gives the same hierarchy: labels, levels and the order between them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from lanes import examples

from pacas.core.hierarchies.lint import HierarchyRow, lint
from pacas.core.hierarchy import Hierarchy
from pacas.engine.hierarchy_files import read_hierarchy, write_hierarchy
from pacas.errors import FileError

NAMES = ["h.csv", "h.json", "h.csv.gz", "h.json.zst"]
TRICKY = st.sampled_from(
    ["a,b", "c;d", 'say "x"', "{", '{"', "[0, 5[", "\ufeffz", "x\ry", "p\nq", " ", "has", "distinct"]
)
LABELS = st.one_of(st.text("abc;,", min_size=1, max_size=3), TRICKY, st.text(min_size=1, max_size=4))


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Any rows that the linter passes, drawn from few labels, so that labels recur across levels."""
    width = draw(st.integers(2, 4))
    labels = draw(st.lists(LABELS, min_size=2, max_size=7, unique=True))
    root = labels[0]
    rows = draw(
        st.lists(st.lists(st.sampled_from(labels[1:]), min_size=width - 1, max_size=width - 1), min_size=1, max_size=5)
    )
    kept: list[tuple[str, ...]] = []
    for row in rows:
        candidate = [*kept, (*row, root)]
        if all(finding.severity == "note" for finding in lint(map(HierarchyRow, candidate))):
            kept = candidate
    hierarchy = Hierarchy.from_rows(kept or [(*labels[1:2] * (width - 1), root)])
    return hierarchy.admit(draw(st.lists(LABELS, max_size=2)))


def facts(hierarchy: Hierarchy) -> object:
    """All that a hierarchy says, free of how its nodes are numbered."""
    names = dict(enumerate(map(str, hierarchy.labels)))
    return (
        hierarchy.root_label,
        {name: int(hierarchy.level[c]) for c, name in names.items()},
        {name: tuple(names[a] for a in hierarchy.ancestors[:, c].tolist()) for c, name in names.items()},
        {(a, b) for i, a in names.items() for j, b in names.items() if hierarchy.precedes(i, j)},
        set(hierarchy.ground_labels),
    )


@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hierarchy=hierarchies())
@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_is_read_back(tmp_path: Path, name: str, hierarchy: Hierarchy) -> None:
    write_hierarchy(hierarchy, tmp_path / name)
    assert facts(read_hierarchy(tmp_path / name)) == facts(hierarchy)


def test_a_general_value_that_stands_on_level_0_is_kept_there(tmp_path: Path) -> None:
    hierarchy = Hierarchy.from_rows([("a", "b", "*"), ("b", "b", "*")])
    for name in NAMES:
        write_hierarchy(hierarchy, tmp_path / name)
        assert facts(read_hierarchy(tmp_path / name)) == facts(hierarchy)


def test_json_leaves_out_the_repeated_leaves_that_reading_puts_back(tmp_path: Path) -> None:
    hierarchy = Hierarchy.from_rows([("a", "b", "*"), ("c", "c", "*")])
    write_hierarchy(hierarchy, tmp_path / "h.json")
    assert (tmp_path / "h.json").read_text().count('"c"') == 1


def test_csv_is_separated_by_semicolons_and_quotes_only_where_needed(tmp_path: Path) -> None:
    write_hierarchy(Hierarchy.from_rows([("a", "b c", "*")]), tmp_path / "h.csv")
    assert (tmp_path / "h.csv").read_bytes() == b"a;b c;*\n"


def test_json_keeps_numeric(tmp_path: Path) -> None:
    write_hierarchy(Hierarchy.from_rows([("51.0", "50-59", "*")], numeric=True), tmp_path / "h.json")
    assert read_hierarchy(tmp_path / "h.json").numeric


def test_null_is_not_written(tmp_path: Path) -> None:
    write_hierarchy(Hierarchy.flat(["a"]).admit([None]), tmp_path / "h.csv")
    assert (tmp_path / "h.csv").read_text() == "a;*\n"


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    target = tmp_path / "nowhere" / "h.csv"
    with pytest.raises(FileError) as caught:
        write_hierarchy(Hierarchy.flat(["a"]), target)
    assert str(caught.value).startswith(f"{target}: the file cannot be written")
    assert "\n" not in str(caught.value)


def test_a_hierarchy_too_high_for_json_says_so(tmp_path: Path) -> None:
    high = Hierarchy.from_rows([tuple(f"v{level}" for level in range(3_000))])
    with pytest.raises(FileError, match=r"h\.json: 2999 levels are too many for a JSON tree"):
        write_hierarchy(high, tmp_path / "h.json")
