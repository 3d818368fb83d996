"""Errors that strike blindly: slips of the keyboard, other values, numbers that are off, nothing at all.

Nothing is promised of them: one may break a dependency, or several, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from string import ascii_lowercase, digits

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pacas.core.hierarchy import EXACT, NUMBER
from pacas.core.histogram import Ints
from pacas.experiments.errors.dirty_relation import ErrorKind
from pacas.experiments.errors.error_columns import ErrorBatch

ATTEMPTS = 12
"""How often a tuple is given another cell and kind, where the first ones do not go together."""

Rng = np.random.Generator


class ColumnTexts:
    """A column's values as text, and what is needed to spoil one of them."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._column = column

    def at(self, rows: Ints) -> list[str | None]:
        values: list[str | None] = self._column.take(pa.array(rows)).to_pylist()
        return values

    def any(self, rng: Rng) -> str | None:
        """The value of a random row."""
        value: str | None = self._column[int(rng.integers(len(self._column)))].as_py()
        return value

    @cached_property
    def range(self) -> tuple[float, float, bool] | None:
        """The least and the greatest number, and whether all are whole; None if not all values are numbers."""
        if not all(NUMBER.fullmatch(value) for value in self._column[:SAMPLE].to_pylist() if value is not None):
            return None
        values = self._column.drop_null()
        if not len(values) or not pc.all(pc.match_substring_regex(values, f"^{NUMBER.pattern}$")).as_py():
            return None
        numbers = values.cast(pa.float64()).to_numpy()
        whole = not pc.any(pc.match_substring_regex(values, "[.eE]")).as_py()
        least, greatest = float(numbers.min()), float(numbers.max())
        return (least, greatest, whole) if max(-least, greatest) < EXACT / 1000 else None


SAMPLE = 100
"""Values that are looked at before all of them are."""


def random_errors(
    columns: Mapping[str, pa.ChunkedArray], rows: Ints, kinds: Sequence[ErrorKind], rng: Rng
) -> ErrorBatch:
    """An error in each of the rows, in a random cell and of a random kind, as far as one fits."""
    texts = {attribute: ColumnTexts(column) for attribute, column in columns.items()}
    attributes = list(texts)
    made: list[ErrorBatch] = []
    for _ in range(ATTEMPTS):
        if not len(rows):
            break
        where = rng.integers(0, len(attributes), len(rows))
        made += [_spoil_all(a, texts[a], rows[where == i], kinds, rng) for i, a in enumerate(attributes)]
        rows = np.setdiff1d(rows, ErrorBatch.joined(made).row)
    return ErrorBatch.joined(made)


def _spoil_all(attribute: str, texts: ColumnTexts, rows: Ints, kinds: Sequence[ErrorKind], rng: Rng) -> ErrorBatch:
    old = texts.at(rows)
    chosen = rng.integers(0, len(kinds), len(rows))
    kind = [kinds[number] for number in chosen.tolist()]
    new = [None if v is None else SPOIL[k](v, texts, rng) for v, k in zip(old, kind, strict=True)]
    batch = ErrorBatch.of(rows, attribute, old, new, kind)
    return batch[batch.old != batch.new]


# ---- one cell: its new value, or the old one where the kind does not fit -----------------------------------------


def _typo(old: str, _: ColumnTexts, rng: Rng) -> str:
    at = int(rng.integers(len(old)))
    return old[:at] + _character(old[at], rng) + old[at + 1 :]


def _append(old: str, _: ColumnTexts, rng: Rng) -> str:
    return old + _character(old[-1], rng)


def _drop(old: str, _: ColumnTexts, rng: Rng) -> str:
    at = int(rng.integers(len(old)))
    return old[:at] + old[at + 1 :] if len(old) > 1 else old


def _swap(old: str, _: ColumnTexts, rng: Rng) -> str:
    places = [i for i in range(len(old) - 1) if old[i] != old[i + 1]]
    if not places:
        return old
    at = places[int(rng.integers(len(places)))]
    return old[:at] + old[at + 1] + old[at] + old[at + 2 :]


def _domain(old: str, texts: ColumnTexts, rng: Rng) -> str:
    return texts.any(rng) or old


def _numeric(old: str, texts: ColumnTexts, rng: Rng) -> str:
    """Up to a tenth of the column's range to either side, one at least."""
    if texts.range is None:
        return old
    least, greatest, whole = texts.range
    off = max((greatest - least) / 10, 1.0) * rng.uniform(0.1, 1) * rng.choice((-1, 1))
    return _number(float(old) + (np.sign(off) * np.ceil(abs(off)) if whole else off), whole)


def _outlier(old: str, texts: ColumnTexts, rng: Rng) -> str:
    """Beyond the column's range by three to ten times its width."""
    if texts.range is None:
        return old
    least, greatest, whole = texts.range
    beyond = max(greatest - least, 1.0) * rng.uniform(3, 10)
    return _number(greatest + beyond if rng.random() < 0.5 else least - beyond, whole)


def _null(old: str, _: ColumnTexts, rng: Rng) -> None:
    return None


def _character(like: str, rng: Rng) -> str:
    """Another character: a digit for a digit, a letter for all else."""
    choice = (digits if like in digits else ascii_lowercase).replace(like.lower(), "")
    return choice[int(rng.integers(len(choice)))]


def _number(number: float, whole: bool) -> str:
    return str(round(number)) if whole else repr(round(float(number), 6))


SPOIL: Mapping[ErrorKind, Callable[[str, ColumnTexts, Rng], str | None]] = {
    ErrorKind.TYPO: _typo,
    ErrorKind.APPEND: _append,
    ErrorKind.DROP: _drop,
    ErrorKind.SWAP: _swap,
    ErrorKind.DOMAIN: _domain,
    ErrorKind.NUMERIC: _numeric,
    ErrorKind.OUTLIER: _outlier,
    ErrorKind.NULL: _null,
}
"""The kinds of random errors."""

USUAL = (ErrorKind.TYPO, ErrorKind.APPEND, ErrorKind.DROP, ErrorKind.SWAP, ErrorKind.DOMAIN, ErrorKind.NUMERIC)
"""The kinds that are made where none are asked for."""
