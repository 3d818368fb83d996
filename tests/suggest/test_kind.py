"""What kind of values a column has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest

from pacas.suggest.kind import Kind, kind_of


def kind(cells: Iterable[str]) -> Kind:
    counts = Counter(cells)
    values = sorted(counts)
    return kind_of(values, np.array([counts[value] for value in values], dtype=np.int64))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([], Kind.EMPTY),
        (["x"] * 9, Kind.CONSTANT),
        (["x"] * 199 + ["y"], Kind.NEAR_CONSTANT),
        ([f"{i // 3 % 28 + 1}.{i % 12 + 1}.2024" for i in range(400)], Kind.DATE),
        ([f"{i % 12}:{i % 60:02d} p.m." for i in range(200)], Kind.TIME),
        ([f"{i % 50}.5" for i in range(200)], Kind.MEASURE),
        ([str(i % 73 + 17) for i in range(400)], Kind.MEASURE),
        ([f"{35_000 + i % 40}" for i in range(400)], Kind.CODE),
        ([f"{i % 40:03d}" for i in range(400)], Kind.CODE),
        ([f"06{'ABC'[i % 3]}" for i in range(60)], Kind.CODE),
        (["Bronx", "Queens", "Kings"] * 5, Kind.CATEGORY),
        ([f"food kept at {i % 9} degrees or warmer" for i in range(99)], Kind.TEXT),
        ([f"person {i}" for i in range(100)], Kind.KEY),
        ([str(i + 1) for i in range(500)], Kind.KEY),
        ([str(i * i + 7) for i in range(500)], Kind.MEASURE),
        ([f"{i}.25" for i in range(500)], Kind.MEASURE),
    ],
)
def test_columns_are_what_they_look_like(cells: list[str], expected: Kind) -> None:
    assert kind(cells) is expected


def test_typos_make_no_measure_of_numbers_of_things() -> None:
    codes = [f"{10_001 + i % 40}" for i in range(400)]
    assert kind([*codes, "1000", "100021", "1o001"]) is Kind.CODE


def test_typos_make_no_codes_of_measures() -> None:
    ages = [str(i % 73 + 17) for i in range(400)]
    assert kind([*ages, "04", "0"]) is Kind.MEASURE


def test_a_large_value_is_looked_at_like_any_other() -> None:
    assert kind(["x" * 1_000_000, "y", "y", "z"]) is Kind.CATEGORY
