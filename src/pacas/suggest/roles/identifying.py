"""Columns that name rows, or people: by their words, and by how few rows share a value."""

from __future__ import annotations

from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.kind import KEY, Kind
from pacas.suggest.mapping.column_names import words_of

NUMBERS = {"number", "identification", "index", "key", "row", "rowid", "uid", "uuid"}
"""Words of columns that number rows, or what rows are about: whole numbers in them count nothing."""
NAMES = frozenset(
    words_of(
        "account email fax fingerprint firstname forename fullname iban lastname login mail mrn name passport phone "
        "plate signature ssn surname url username vin"
    )
)
"""Words of columns that say who or where somebody is."""
MANY, FEWEST = 0.05, 20
"""Values a row, and values, from which on a column with such a word tells one from another."""


def names_rows(column: ProfiledColumn) -> bool:
    """Whether a column tells nearly every row from every other, as a key or as a number that a row has."""
    if column.kind is Kind.KEY:
        return True
    is_unlike = len(column.values) >= KEY * column.present > 1
    return is_unlike and bool(set(words_of(column.name)) & NUMBERS)


def naming_word(column: ProfiledColumn) -> str | None:
    """The word of a column's name by which it names people, or numbers them; several rows may be about one."""
    if len(column.values) < max(MANY * column.present, FEWEST):
        return None
    return min(set(words_of(column.name)) & (NAMES | NUMBERS), default=None)
