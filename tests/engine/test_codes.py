"""Columns as codes: few rows without Arrow, many by it, alike."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.engine import codes, grouping

TEXTS = st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=30)


@given(TEXTS, TEXTS)
def test_few_texts_are_coded_as_many_are(first: list[str | None], second: list[str | None]) -> None:
    column = pa.chunked_array([first, second], pa.string())
    few = codes.coded_texts(column)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codes, "FEW", 0)
        many = codes.coded_texts(column)
    assert few.values == many.values
    assert (few.codes.dtype, few.codes.tolist()) == (many.codes.dtype, many.codes.tolist())
    assert [few.values[code] for code in few.codes] == first + second


@given(st.lists(st.integers(-1, 9), min_size=1, max_size=40))
def test_few_keys_are_numbered_as_many_are(keys: list[int]) -> None:
    few = grouping.distinct(np.array(keys))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "FEW", 0)
        many = grouping.distinct(np.array(keys))
    assert [part.tolist() for part in few] == [part.tolist() for part in many]
    assert [few[1][number] if number >= 0 else -1 for number in few[0]] == keys
