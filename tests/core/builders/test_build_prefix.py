from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacas.core.builders import prefix
from pacas.errors import HierarchyError


def test_masks_one_more_character_per_level():
    assert list(prefix(["P0T2T0"]).rows()) == [
        ("P0T2T0", "P0T2T*", "P0T2**", "P0T***", "P0****", "P*****", "*"),
    ]


def test_keep_chooses_the_levels():
    assert list(prefix(["10115", "10999"], keep=[3, 1]).rows()) == [
        ("10115", "101**", "1****", "*"),
        ("10999", "109**", "1****", "*"),
    ]


def test_short_codes_are_padded_so_that_all_have_the_same_depth():
    assert list(prefix(["E11", "E119", "E"]).rows()) == [
        ("E", "E  *", "E **", "E***", "*"),
        ("E11", "E11*", "E1**", "E***", "*"),
        ("E119", "E11*", "E1**", "E***", "*"),
    ]


def test_codes_of_one_character_stand_under_the_root():
    assert list(prefix(["M", "F"]).rows()) == [("F", "*"), ("M", "*")]


@pytest.mark.parametrize("keep", [[0], [-1], [1, 3], [2, 2]])
def test_kept_lengths_that_do_not_nest_are_an_error(keep):
    with pytest.raises(HierarchyError, match="keep must"):
        prefix(["10115"], keep=keep)


def test_keeping_every_character_is_an_error():
    with pytest.raises(HierarchyError, match="keep = 5 masks nothing: the longest value has 5"):
        prefix(["10115"], keep=[5, 2])


def test_long_values_need_a_choice_of_levels():
    with pytest.raises(HierarchyError, match="40 levels; say which"):
        prefix(["x" * 40])
    assert prefix(["x" * 40], keep=[10]).height == 2


def test_values_that_contain_the_mask_are_counted_and_not_shown():
    with pytest.raises(HierarchyError, match=r"^2 of 3 values contain the mask") as caught:
        prefix(["se*ret", "secret", "*"])
    assert "se*" not in str(caught.value)
    assert list(prefix(["a*", "ab"], mask="#").rows()) == [("a*", "a#", "*"), ("ab", "a#", "*")]


def test_a_value_that_is_the_root_is_an_error_with_any_mask():
    with pytest.raises(HierarchyError, match="1 of 2 values"):
        prefix(["*", "ab"], mask="#")


def test_a_mask_is_one_character():
    with pytest.raises(HierarchyError, match="one character"):
        prefix(["ab"], mask="xx")


def test_no_values_are_an_error():
    with pytest.raises(HierarchyError, match="without values"):
        prefix([])


def redacted(value: str, masked: int, length: int) -> str:
    """ARX's redaction by its documentation: align left, pad with blanks, replace characters from the right."""
    characters = list(value + " " * (length - len(value)))
    for i in range(masked):
        characters[length - 1 - i] = "*"
    return "".join(characters)


@given(values=st.lists(st.text(st.sampled_from("AB1 é"), min_size=1, max_size=7), min_size=1, max_size=20))
def test_masks_form_a_tree_and_are_those_of_arx(assert_tree, values):
    built = prefix(values)
    assert_tree(built, values)
    length = max(map(len, values))
    for value, *labels, _ in built.rows():
        assert labels == [redacted(value, masked, length) for masked in range(1, length)]


def test_agrees_with_arx_on_the_codes_of_adult(adult):
    """fnlwgt read as a code: numbers of five to seven digits."""
    for value, first, last, root in prefix(adult["fnlwgt"], keep=[4, 2]).rows():
        assert (first, last, root) == (redacted(value, 3, 7), redacted(value, 5, 7), "*")
