"""Lots: a function of a unit's values alone, which any order of rows and any part of them gives again."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pacas.engine.codes import coded_texts
from pacas.provider.quoter.public_index import PublicIndex
from pacas.provider.quoter.units import Units, public_draw

VALUES = st.none() | st.sampled_from(["", "a", "1:a", "-", "é", "e\u0301", "👩\u200d👧"]).map(lambda text: text or None)
ROWS = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8)


def lots(rows: list[tuple[str | None, str | None]], left: tuple[str, ...], salt: bytes = b"salt") -> list[int]:
    """The lot of each row's unit."""
    columns = zip(*rows, strict=True)
    index = PublicIndex(
        {name: coded_texts(pa.chunked_array([pa.array(c, pa.string())])) for name, c in zip("KX", columns, strict=True)}
    )
    units = Units(index, left)
    return public_draw(salt, index, units)(np.arange(len(units)))[units.of_row].tolist()


def literally(values: tuple[str | None, ...], salt: bytes = b"salt") -> int:
    text = salt.hex() + " " + "".join("-" if v is None else str(len(v)) + ":" + v for v in values)
    return int(sha256(text.encode()).hexdigest()[:16], 16)


@given(ROWS)
def test_a_lot_follows_from_the_rows_values(rows: list[tuple[str | None, str | None]]) -> None:
    assert lots(rows, ()) == [literally(row) for row in rows]


@given(ROWS)
def test_the_lot_of_a_unit_follows_from_what_ties_it(rows: list[tuple[str | None, str | None]]) -> None:
    assert lots(rows, ("X",)) == [literally(row[1:]) for row in rows]


@given(ROWS)
def test_rows_that_differ_have_other_lots(rows: list[tuple[str | None, str | None]]) -> None:
    assert len(set(lots(rows, ()))) == len(set(rows))


def test_another_salt_draws_another_lot() -> None:
    assert lots([("a", "b")], (), b"one") != lots([("a", "b")], (), b"two")


def test_some_are_drawn_as_all_are() -> None:
    index = PublicIndex({"K": coded_texts(pa.chunked_array([[f"k{i}" for i in range(9)]]))})
    units = Units(index, ())
    draw = public_draw(b"salt", index, units)
    some = draw(np.array([7, 2])).tolist() + draw(np.array([2, 5])).tolist()
    every = public_draw(b"salt", index, units)(np.arange(9)).tolist()
    assert some == [every[i] for i in (7, 2, 2, 5)]
