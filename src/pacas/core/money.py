"""Money is a whole number of nanocredits: sums are exact, and prices compare as they should.

A credit has 10⁹ nanocredits. People read and write credits, with up to nine decimals.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation

from pacas.errors import InputError

CREDIT = 10**9
"""Nanocredits in a credit."""
MOST_DIGITS = 40
"""Before the point of an amount: far more than any ledger holds."""


def nanocredits(credits: int | float | str | Decimal, what: str = "an amount") -> int:
    """Credits, as a person or a file gives them, in nanocredits.

    A float is rounded to nine decimals, for it seldom is the number that was meant; all else is taken as it is given.

    >>> nanocredits("0.8"), nanocredits(1), nanocredits(0.1 + 0.2)
    (800000000, 1000000000, 300000000)
    """
    try:
        given = Decimal(str(credits))
    except InvalidOperation:
        raise InputError(f"{what} must be a number of credits, not {credits!r}") from None
    if not given.is_finite() or given.adjusted() > MOST_DIGITS:
        raise InputError(f"{what} must be a finite number of credits, not {str(credits)!r}")
    exactly = Context(prec=len(given.as_tuple().digits) + MOST_DIGITS)  # the default one would round
    amount = given.scaleb(9, exactly)
    if isinstance(credits, float):
        return int(amount.to_integral_value(ROUND_HALF_EVEN, exactly))
    if amount != amount.to_integral_value(context=exactly):
        raise InputError(f"{what} has at most nine decimals; {str(credits)!r} has more")
    return int(amount)


def not_negative(credits: str, what: str, zero: str = "0 buys what is free") -> int:
    """An amount that is not negative; `zero` says what could be meant."""
    amount = nanocredits(credits, what)
    if amount < 0:
        raise InputError(f"{what} must not be negative; {zero}")
    return amount


def in_credits(nanocredits: int) -> float:
    """Nanocredits as the number of credits that JSON shows; the decimal that is written is exact below 10⁶ credits.

    >>> in_credits(800_000_000), in_credits(1)
    (0.8, 1e-09)
    """
    return nanocredits / CREDIT


def credits_text(nanocredits: int) -> str:
    """Nanocredits as credits, to the last decimal.

    >>> credits_text(345_000_000), credits_text(10**18 + 1), credits_text(2 * 10**9)
    ('0.345', '1000000000.000000001', '2')
    """
    credits, rest = divmod(nanocredits, CREDIT)
    return f"{credits}.{rest:09d}".rstrip("0").rstrip(".")


def rounded_text(nanocredits: int) -> str:
    """Nanocredits as credits, for people: four digits that count, and no fewer than two decimals.

    Nothing but nothing reads as 0.

    >>> [rounded_text(n) for n in (345_678_912, 12_345_678_912, 1_234_567_891_234, 399_999_999, 1, 0)]
    ['0.3457', '12.35', '1,234.57', '0.4', '0.000000001', '0']
    """
    decimals = 9 - max(min(len(str(abs(nanocredits))) - 4, 7), 0)
    unit = 10 ** (9 - decimals)
    credits = Decimal((nanocredits + unit // 2) // unit).scaleb(-decimals)
    text = f"{credits:,.{decimals}f}"
    return text.rstrip("0").rstrip(".")


def credits_words(nanocredits: int) -> str:
    """An amount in credits for people, with its unit.

    >>> credits_words(10**9), credits_words(700_000_001)
    ('1 credit', '0.7 credits')
    """
    text = rounded_text(nanocredits)
    return f"{text} credit{'' if text == '1' else 's'}"
