"""Columns of texts as codes: the few in Python, the many by Arrow, alike."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.engine import codes

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
