"""Record matching: what each clause means, what is asked of a tuple, and what an error may say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pacas.core.dependency import MatchingDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.codes import CodedColumn
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, SchemaError
from pacas.provider.matching import Matcher, similarity

Column = Sequence[str | None]

MED = Hierarchy.from_rows(
    [
        ("ibuprofen", "NSAID", "analgesic", "*"),
        ("naproxen", "NSAID", "analgesic", "*"),
        ("tylenol", "acetaminophen", "analgesic", "*"),
    ]
)
AGE = Hierarchy.from_rows([("51", "[41,60]", "*"), ("45", "[41,60]", "*"), ("32", "[21,40]", "*")], numeric=True)


def coded(values: Column) -> CodedColumn:
    distinct: list[str | None] = [*dict.fromkeys(v for v in values if v is not None)]
    if None in values:
        distinct.append(None)
    return CodedColumn(np.array([distinct.index(v) for v in values], dtype=np.uint8), distinct)


def matcher(md: str, hierarchies: Mapping[str, Hierarchy] | None = None, **columns: Column) -> Matcher:
    return Matcher(MatchingDependency.parse(md), {a: coded(v) for a, v in columns.items()}, hierarchies)


def rows(md: str, client: str | None, provider: Column, hierarchy: Hierarchy | None = None) -> list[int]:
    """The matches of one client value, for a dependency between columns `a` and `b`."""
    found = matcher(md, {"b": hierarchy} if hierarchy else None, b=provider)
    return found.match_one({"a": client}).tolist()


# ---- the paper ------------------------------------------------------------------------------------------------------


def test_a_request_of_the_running_example_finds_the_patient_of_that_gender_and_age() -> None:
    sp = Relation.of({"GEN": ["male", "male", "female", "female"], "AGE": [51, 45, 32, 45]})
    engine = DuckEngine(threads=1)
    table = engine.open(sp)
    engine.group_histogram(table, ["GEN", "AGE"], {}, {})  # gives the columns their codes
    found = Matcher(MatchingDependency.parse("GEN = GEN, AGE = AGE"), table.coded)
    assert found.match_one({"GEN": "male", "AGE": "45"}).tolist() == [1]
    assert found.match_one({"GEN": "female", "AGE": "51"}).tolist() == []


# ---- clauses --------------------------------------------------------------------------------------------------------


def test_equality_compares_text_unless_a_hierarchy_says_numeric() -> None:
    provider = ["51", "51.0", "051", "x", None]
    assert rows("a = b", "51", provider) == [0]
    assert rows("a = b", "51.0", provider, AGE) == [0, 1, 2]
    assert rows("a = b", "5.1e1", provider, AGE) == [0, 1, 2]
    assert rows("a = b", "x", provider, AGE) == [3]
    assert rows("a = b", "X", provider, AGE) == []


@pytest.mark.parametrize(
    "how", ["= b", "~ b within 9", "~ b edit 0", "~ b jaro_winkler 0", "~ b qgram 0", "~ b compatible"]
)
@pytest.mark.parametrize("null", [None, ""])
def test_a_null_matches_nothing_on_either_side(how: str, null: str | None) -> None:
    assert rows(f"a {how}", null, ["1", None, "", "*"]) == []
    assert rows(f"a {how}", "1", [None, "", "1"]) == [2]


@pytest.mark.parametrize("how", ["edit", "jaro_winkler", "qgram"])
def test_any_two_texts_are_alike_at_least_0_and_only_equal_ones_1(how: str) -> None:
    assert rows(f"a ~ b {how} 0", "x", ["y", "long text", None, "x"]) == [0, 1, 3]
    assert rows(f"a ~ b {how} 1", "x", ["y", "xx", None, "x"]) == [3]


def test_a_tolerance_is_exact_where_floats_are_not() -> None:
    assert 0.4 - 0.1 > 0.3  # what floats say
    assert rows("a ~ b within 0.3", "0.1", ["0.4", "0.40000000000000000001", "-0.2", "0.4e0"]) == [0, 2, 3]
    assert rows("a ~ b within 0.1", "0.3", ["0.2", "0.4", "0.1999"]) == [0, 1]


def test_what_is_no_number_is_within_nothing() -> None:
    odd = ["n/a", "inf", "nan", "1_0", " 10", "１０", "1e999999", "1e-999999", "1" * 500]
    assert rows("a ~ b within 1e300", "10", [*odd, "10"]) == [len(odd)]
    assert all(rows("a ~ b within 1e300", value, ["10"]) == [] for value in odd)


def test_a_tolerance_holds_for_large_and_tiny_numbers() -> None:
    assert rows("a ~ b within 1", "1e300", ["1e300", "1.1e300", "1" + "0" * 299 + "1"]) == [0, 2]
    assert rows("a ~ b within 0", "1e-300", ["0", "10e-301"]) == [1]


def test_edit_similarity_counts_edits_per_character_of_the_longer_text() -> None:
    assert rows("a ~ b edit 0.8", "smith", ["smith", "smyth", "smithe", "smi", "smythe"]) == [0, 1, 2]


def test_jaro_winkler_similarity_favours_common_beginnings() -> None:
    assert rows("a ~ b jaro_winkler 0.96", "martha", ["marhta", "amrtha", "martha"]) == [0, 2]  # 0.961, 0.944, 1


def test_qgram_similarity_counts_pairs_of_characters_and_how_often_they_occur() -> None:
    # #a aa a$ and #a aa aa a$ share three of 3 + 4
    assert rows(f"a ~ b qgram {2 * 3 / 7!r}", "aa", ["aaa", "aaaa", "aa"]) == [0, 2]


def test_a_compatible_value_is_the_clients_or_lies_below_it() -> None:
    provider = ["ibuprofen", "naproxen", "tylenol", "NSAID", "unheard of", None]
    match = "a ~ b compatible"
    assert rows(match, "ibuprofen", provider, MED) == [0]
    assert rows(match, "NSAID", provider, MED) == [0, 1, 3]
    assert rows(match, "analgesic", provider, MED) == [0, 1, 2, 3]
    assert rows(match, "*", provider, MED) == [0, 1, 2, 3, 4]
    assert rows(match, "unheard of", provider, MED) == [4]
    assert rows(match, "never heard of", provider, MED) == []


def test_compatible_without_a_hierarchy_knows_values_and_the_root() -> None:
    assert rows("a ~ b compatible", "x", ["x", "y", "*"]) == [0]
    assert rows("a ~ b compatible", "*", ["x", "y", "*", None]) == [0, 1, 2]


def test_compatible_compares_numbers_where_the_hierarchy_is_numeric() -> None:
    assert rows("a ~ b compatible", "51.0", ["51", "051", "45", "32"], AGE) == [0, 1]
    assert rows("a ~ b compatible", "[41,60]", ["51", "051", "45", "32"], AGE) == [0, 1, 2]


def test_a_row_matches_if_all_clauses_hold() -> None:
    found = matcher(
        "SEX = GEN, AGE ~ AGE within 1, NAME ~ FULL_NAME jaro_winkler 0.9",
        GEN=["m", "m", "m", "f", None],
        AGE=["50", "52", "51", "50", "50"],
        FULL_NAME=["john smith", "john smith", "jane doe", "john smith", "john smith"],
    )
    assert found.client_columns == ("SEX", "AGE", "NAME")
    assert found.match_one({"SEX": "m", "AGE": "51", "NAME": "jon smith"}).tolist() == [0, 1]
    assert found.match_one({"SEX": "x", "AGE": "51", "NAME": "jon smith"}).tolist() == []


# ---- many tuples ----------------------------------------------------------------------------------------------------


def test_tuples_are_answered_in_order_and_equal_ones_share_their_rows() -> None:
    found = matcher("a = b", b=["x", "y", "x", "x"]).match([{"a": v} for v in ("x", "z", "y", "x", None)])
    assert [rows.tolist() for rows in found] == [[0, 2, 3], [], [1], [0, 2, 3], []]
    assert len(found) == 5
    assert len(found.rows) == 4


def test_no_tuples_and_no_rows() -> None:
    assert len(matcher("a = b", b=["x"]).match([])) == 0
    for how in ("= b", "~ b within 1", "~ b edit 0.5", "~ b jaro_winkler 0.5", "~ b qgram 0.5", "~ b compatible"):
        assert rows(f"a {how}", "x", []) == []
        assert rows(f"a {how}", "1", [None]) == []


@pytest.mark.parametrize("md", ["a = b", "a ~ b edit 0", "a ~ b compatible, a = c", "a ~ b within 5, a = c"])
def test_of_more_rows_than_the_limit_the_first_and_one_more_are_given(md: str) -> None:
    found = matcher(md, b=["1"] * 9, c=["1"] * 9)
    assert found.match_one({"a": "1"}, 3).tolist() == [0, 1, 2, 3]
    assert found.match_one({"a": "1"}, 0).tolist() == [0]
    assert found.match_one({"a": "1"}, 9).tolist() == list(range(9))
    assert found.match([{"a": "1"}] * 2, 3)[1].tolist() == [0, 1, 2, 3]


def test_the_limit_keeps_the_first_rows_of_several_values() -> None:
    found = matcher("a ~ b within 2", b=["3", "1", "9", "2", "1", "3"])
    assert found.match_one({"a": "2"}, 2).tolist() == [0, 1, 3]


def test_what_is_handed_out_cannot_change_the_matcher() -> None:
    with pytest.raises(ValueError, match="read-only"):
        matcher("a = b", b=["x", "y"]).match_one({"a": "x"})[0] = 1


def test_several_threads_may_ask() -> None:
    found = matcher("a ~ b edit 0.5, c ~ d within 3", b=["abc", "abd", "xyz"] * 20, d=list("123456") * 10)
    tuples = [{"a": a, "c": c} for a in ("abc", "xbd", "xyy", "q") for c in "0379"] * 5
    expected = [rows.tolist() for rows in found.match(tuples)]
    with ThreadPoolExecutor(4) as pool:
        assert [rows.tolist() for rows in pool.map(found.match_one, tuples)] == expected


def test_many_equality_columns_do_not_overflow() -> None:
    columns = {f"p{i}": coded([str(n) for n in range(200)]) for i in range(12)}  # 200^12 combinations
    found = Matcher(MatchingDependency.parse(", ".join(f"c{i} = p{i}" for i in range(12))), columns)
    assert found.match_one({f"c{i}": "77" for i in range(12)}).tolist() == [77]
    assert found.match_one({f"c{i}": str(77 + i // 11) for i in range(12)}).tolist() == []


def test_an_absent_value_is_not_mistaken_for_a_neighbour() -> None:
    found = matcher("a = b, c = d", b=["x", "y"], d=["1", "0"])
    assert found.match_one({"a": "y", "c": "absent"}).tolist() == []
    assert found.match_one({"a": "absent", "c": "0"}).tolist() == []


def test_what_was_found_lately_is_remembered_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "REMEMBERED", 2 * (32 + 2))  # two searches that found two codes each
    index = similarity.EditIndex(["ann", "anne", "bob", "bobo", "cyd", "cydi"], 0.7)
    for text in ("ann", "bob", "ann", "cyd"):
        assert len(index.find(text)) == 2
    assert set(index.recent) == {"ann", "cyd"}
    assert len(similarity.EditIndex(["x" * n for n in range(30, 120)], 0.2).find("x" * 70)) > 80  # too many to keep


# ---- bad input ------------------------------------------------------------------------------------------------------


def test_a_provider_column_that_does_not_exist_is_a_schema_error() -> None:
    with pytest.raises(SchemaError, match="no column 'AEG' in the provider's relation; did you mean 'AGE'"):
        matcher("AGE = AEG", AGE=["secret"])


@pytest.mark.parametrize("md", ["AGE = AGE, GEN = GEN", "AGE = AGE", "AGE ~ AGE within 1"])
def test_a_tuple_without_a_needed_column_is_an_input_error_that_tells_no_value(md: str) -> None:
    found = matcher(md, AGE=["51"], GEN=["male"])
    for ask in (found.match_one, lambda t: found.match([t])):
        with pytest.raises(InputError, match=r"needs column 'AGE'.* did you mean 'Age'") as error:
            ask({"Age": "hush", "GEN": "female"})
        assert not any(value in str(error.value) for value in ("hush", "51", "female"))


def test_a_dependency_without_clauses_is_an_input_error() -> None:
    with pytest.raises(InputError, match="without clauses"):
        Matcher(MatchingDependency(()), {})


def test_many_tuples_whose_first_value_nobody_has_find_nothing() -> None:
    found = matcher("a = a, b = b, c = c", a=["x"], b=[None], c=["z"])
    nobody = {"a": ["nobody"] * 20, "b": ["y"] * 20, "c": ["other"] * 20}
    assert found.slots(nobody).tolist() == [-1] * 20
