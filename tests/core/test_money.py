"""Money is exact: what cannot be said in nanocredits is refused, however it is written."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pacas.core.money import credits_text, nanocredits
from pacas.errors import InputError


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("0.000000001", 1),
        (Decimal("1.0000000000000000000000000000000000"), 10**9),
        ("123456789012345678901234567890.123456789", 123456789012345678901234567890123456789),
        ("-2", -2 * 10**9),
        ("1e-9", 1),
    ],
)
def test_amounts_are_read_to_the_nanocredit(given: str | Decimal, expected: int) -> None:
    assert nanocredits(given) == expected
    assert nanocredits(credits_text(abs(expected))) == abs(expected)


@pytest.mark.parametrize("given", ["1.0000000001", "1.00000000000000000000000000000000001", "1e-10", 1e-10])
def test_more_than_nine_decimals_are_refused_however_many(given: str | float) -> None:
    with pytest.raises(InputError, match="nine decimals"):
        nanocredits(given)


@pytest.mark.parametrize("given", ["", "one", "nan", "inf", "1e999999999", float("nan"), float("-inf")])
def test_what_is_no_amount_is_refused(given: str | float) -> None:
    with pytest.raises(InputError, match="number of credits"):
        nanocredits(given)
