"""Money is exact: what cannot be said in nanocredits is refused, however it is written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

from pacas.core.money import credits_text, credits_words, nanocredits, rounded_text
from pacas.errors import InputError


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("0.000000001", 1),
        (Decimal("1.0000000000000000000000000000000000"), 10**9),
        ("123456789012345678901234567890.123456789", 123456789012345678901234567890123456789),
        ("-2", -2 * 10**9),
        ("1e-9", 1),
    ],
)
def test_amounts_are_read_to_the_nanocredit(amount: str | Decimal, expected: int) -> None:
    assert nanocredits(amount) == expected
    assert nanocredits(credits_text(abs(expected))) == abs(expected)


@pytest.mark.parametrize("amount", ["1.0000000001", "1.00000000000000000000000000000000001", "1e-10", Decimal("1e-10")])
def test_more_than_nine_decimals_are_refused_however_many(amount: str | Decimal) -> None:
    with pytest.raises(InputError, match="nine decimals"):
        nanocredits(amount)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [(0.1 + 0.2, 300_000_000), (1e-10, 0), (2.5e-9, 2), (3.5e-9, 4), (-0.7, -700_000_000), (1e22, 10**31)],
)
def test_a_float_is_rounded_to_nine_decimals_half_to_even(amount: float, expected: int) -> None:
    assert nanocredits(amount) == expected


def test_one_credit_is_in_the_singular() -> None:
    assert [credits_words(n * 10**8) for n in (0, 5, 10, 20)] == ["0 credits", "0.5 credits", "1 credit", "2 credits"]


@pytest.mark.parametrize("amount", ["", "one", "nan", "inf", "1e999999999", float("nan"), float("-inf")])
def test_what_is_no_amount_is_refused(amount: str | float) -> None:
    with pytest.raises(InputError, match="number of credits"):
        nanocredits(amount)


@given(st.integers(0, 10**18))
@examples(60)
def test_people_read_four_digits_and_two_decimals_at_least(amount: int) -> None:
    shown = nanocredits(rounded_text(amount).replace(",", ""))
    assert abs(shown - amount) <= min(amount / 2000, 5_000_000)
    assert (shown == 0) == (amount == 0)
    assert len(rounded_text(amount).replace(",", "").replace(".", "").lstrip("0")) <= max(4, len(str(amount)) - 7)
