"""The tree that `pacas hierarchy show` draws."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from pacas.cli.tree import draw
from pacas.core.hierarchy import Hierarchy

EDUCATION = Hierarchy.from_rows(
    [
        ("Bachelors", "Undergraduate", "Higher education", "*"),
        ("Some-college", "Undergraduate", "Higher education", "*"),
        ("11th", "High School", "Secondary education", "*"),
        ("HS-grad", "High School", "Secondary education", "*"),
        ("9th", "High School", "Secondary education", "*"),
        ("12th", "High School", "Secondary education", "*"),
        ("Masters", "Graduate", "Higher education", "*"),
        ("Preschool", "Primary School", "Primary education", "*"),
    ]
)


def lines(hierarchy: Hierarchy, **options: Any) -> list[str]:
    console = Console(record=True, width=100, file=io.StringIO())
    console.print(draw(hierarchy, **options))
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_draws_the_tree_with_the_number_of_ground_values_and_a_legend() -> None:
    assert lines(EDUCATION) == [
        "*  8 values",
        "├── Higher education  3 values",
        "│   ├── Undergraduate  2 values",
        "│   │   ├── Bachelors",
        "│   │   └── Some-college",
        "│   └── Graduate  1 value",
        "│       └── Masters",
        "├── Secondary education  4 values",
        "│   └── High School  4 values",
        "│       ├── 11th",
        "│       ├── HS-grad",
        "│       ├── 9th",
        "│       └── 12th",
        "└── Primary education  1 value",
        "    └── Primary School  1 value",
        "        └── Preschool",
        "",
        "level 3 (root): 1 value",
        "level 2: 3 values",
        "level 1: 4 values",
        "level 0 (ground): 8 values",
    ]


def test_wide_levels_are_cut_short_and_say_so() -> None:
    assert lines(EDUCATION, max_children=2)[:13] == [
        "*  8 values",
        "├── Higher education  3 values",
        "│   ├── Undergraduate  2 values",
        "│   │   ├── Bachelors",
        "│   │   └── Some-college",
        "│   └── Graduate  1 value",
        "│       └── Masters",
        "├── Secondary education  4 values",
        "│   └── High School  4 values",
        "│       ├── 11th",
        "│       ├── HS-grad",
        "│       └── … 2 more",
        "└── … 1 more",
    ]


def test_stops_at_the_depth_asked_for() -> None:
    assert lines(EDUCATION, depth=1)[:5] == [
        "*  8 values",
        "├── Higher education  3 values",
        "├── Secondary education  4 values",
        "└── Primary education  1 value",
        "",
    ]


def test_counts_add_up_from_the_ground_and_skip_what_the_hierarchy_does_not_know() -> None:
    drawn = lines(EDUCATION, depth=1, counts={"Bachelors": 5, "Masters": 2, "9th": 1, "unheard of": 100})
    assert drawn[:4] == [
        "*  8 values  8 rows",
        "├── Higher education  3 values  7 rows",
        "├── Secondary education  4 values  1 row",
        "└── Primary education  1 value  0 rows",
    ]


def test_children_stand_in_the_order_of_the_ground_values_below_them() -> None:
    hierarchy = Hierarchy.from_rows([("a", "x", "*"), ("b", "y", "*"), ("y", "y", "*")])
    assert [line[4:] for line in lines(hierarchy, depth=1)[1:3]] == ["x  1 value", "y  1 value"]


def test_labels_are_neither_markup_nor_control_codes() -> None:
    hierarchy = Hierarchy.flat(["[red]x[/red]", "a\x1b[31mb", "c\nd"]).admit([None])
    assert [line[4:] for line in lines(hierarchy)[1:5]] == ["[red]x[/red]", r"a\x1b[31mb", r"c\nd", "(null)"]


def test_an_empty_hierarchy_is_its_root() -> None:
    assert lines(Hierarchy.flat([]))[0] == "*"
