"""Batches of queries are read one by one, and come to what JSON says they are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.server.http.failures import Failure
from pacas.server.reconcile.asked import AskedRow, read_queries

QUERIES = st.dictionaries(
    st.text(max_size=8),
    st.fixed_dictionaries({"query": st.text(max_size=12)}, optional={"limit": st.integers(1, 99)}),
    max_size=6,
)


@given(QUERIES, st.sampled_from([(",", ":"), (" ,\n", "\t: ")]), st.sampled_from(["", " ", "\n\t"]))
def test_what_is_read_one_by_one_is_what_was_written(
    queries: dict[str, dict[str, object]], marks: tuple[str, str], around: str
) -> None:
    text = around + json.dumps(queries, separators=marks) + around
    rows = {key: AskedRow(str(one["query"]), (), {}, one.get("limit")) for key, one in queries.items()}  # type: ignore[arg-type]
    assert read_queries(text, 10) == rows


@pytest.mark.attack
@pytest.mark.parametrize(
    "broken", ["", "{", '{"a"', '{"a":', '{"a":{}', '{"a":{},', '{"a":{},}', '{"a":{}}x', "{,}", '{a":{}}']
)
@pytest.mark.parametrize("more", ["", "[" * 100_000], ids=["as it is", "deep"])
def test_what_is_no_json_is_refused(broken: str, more: str) -> None:
    with pytest.raises(Failure, match="queries is not JSON"):
        read_queries(broken + more, 10)


def test_too_many_are_refused_before_all_are_read() -> None:
    with pytest.raises(Failure, match="send fewer"):
        read_queries('{"a":{},"b":{},"c":{},', 2)
