"""What kind of values a column has, told from the values themselves: a suggestion for one kind is none for another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

import numpy as np

from pacas.core.histogram import Ints

LOOKED_AT = 2_000
"""Values of a column whose shapes are looked at."""
MOSTLY = 0.95
"""The share of rows that a shape must have to be the column's."""
NEAR_CONSTANT = 0.99
KEY = 0.98
FEWEST_DIGITS = 4
"""Digits of a number that numbers things rather than counts them."""
PADDED = 0.03
"""The share of rows with a zero in front that is no typo."""

_NUMBER = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?([eE][-+]?\d+)?\s*%?")
_WHOLE = re.compile(r"[-+]?\d+")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([ T].*)?|(19|20)\d{6}")
_TIME = re.compile(r"\d{1,2}:\d\d(:\d\d)?(\s*[ap]\.?\s*m\.?)?", re.IGNORECASE)
_CODE = re.compile(r"(?=.*\d)[0-9A-Za-z][0-9A-Za-z.\-/_]{0,19}")


class Kind(Enum):
    """What a column is to a suggestion."""

    EMPTY = "empty"
    CONSTANT = "constant"
    NEAR_CONSTANT = "nearly constant"
    KEY = "key"
    """It tells nearly every row apart."""
    DATE = "date"
    TIME = "time"
    MEASURE = "measure"
    """A number of something: amounts, counts, ages."""
    CODE = "code"
    """Digits, or digits and letters, of few shapes: postcodes, diagnoses, numbers of things."""
    CATEGORY = "category"
    TEXT = "text"
    """Several words, mostly different ones."""

    @property
    def is_measured(self) -> bool:
        """A left side of such values agrees by chance, so that more is asked of it."""
        return self in (Kind.MEASURE, Kind.TIME, Kind.DATE)

    @property
    def tells_nothing(self) -> bool:
        """No dependency with such a column is worth a look."""
        return self in (Kind.EMPTY, Kind.CONSTANT, Kind.NEAR_CONSTANT, Kind.KEY)


def kind_of(values: Sequence[str], counts: Ints) -> Kind:
    """The kind of a column, by its distinct values and how often each occurs.

    >>> kind_of(["1.5", "2.25", "3"], np.array([4, 4, 4]))
    <Kind.MEASURE: 'measure'>
    >>> kind_of(["35801", "35802", "36507"], np.array([9, 4, 2]))
    <Kind.CODE: 'code'>
    """
    present = int(counts.sum())
    if not present:
        return Kind.EMPTY
    if len(values) == 1:
        return Kind.CONSTANT
    if int(counts.max()) >= NEAR_CONSTANT * present:
        return Kind.NEAR_CONSTANT
    shape = _shape(values, counts)
    if len(values) >= KEY * present and (shape is not Kind.MEASURE or _numbers_rows(values)):
        return Kind.KEY
    return shape


def _shape(values: Sequence[str], counts: Ints) -> Kind:
    """What most rows look like."""
    chosen = np.argsort(-counts, kind="stable")[:LOOKED_AT]
    texts, weights = [values[i].strip() for i in chosen], counts[chosen]
    total = weights.sum()

    def share(pattern: re.Pattern[str]) -> float:
        return float(weights[[bool(text) and pattern.fullmatch(text) is not None for text in texts]].sum() / total)

    if share(_DATE) >= MOSTLY:
        return Kind.DATE
    if share(_TIME) >= MOSTLY:
        return Kind.TIME
    if share(_NUMBER) >= MOSTLY:
        return Kind.CODE if share(_WHOLE) >= MOSTLY and _numbers_things(texts, weights) else Kind.MEASURE
    if share(_CODE) >= MOSTLY:
        return Kind.CODE
    words = np.array([len(text.split()) for text in texts])
    return Kind.TEXT if float((words * weights).sum() / total) >= 4 else Kind.CATEGORY


def _numbers_rows(values: Sequence[str]) -> bool:
    """Whole numbers, each once, of a range that most of it is filled of: they count the rows and measure nothing."""
    if not all(_WHOLE.fullmatch(value) for value in values[:LOOKED_AT]):
        return False
    numbers = np.array([float(value) for value in values if _WHOLE.fullmatch(value)])
    low, high = np.quantile(numbers, (0.01, 0.99))
    return len(numbers) >= MOSTLY * len(values) and high - low < 2 * len(numbers)


def _numbers_things(texts: Sequence[str], weights: Ints) -> bool:
    """Whole numbers that count nothing: of one length of four digits or more, or with zeros in front; but for typos."""
    lengths = np.array([len(text) for text in texts])
    padded = np.array([text.startswith("0") and len(text) > 1 for text in texts])
    usual = lengths[int(weights.argmax())]
    if usual >= FEWEST_DIGITS and weights[lengths == usual].sum() >= MOSTLY * weights.sum():
        return True
    return bool(weights[padded].sum() > PADDED * weights.sum())
