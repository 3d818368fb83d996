"""A key whose values do not tell all rows apart, said alike by every engine."""

from __future__ import annotations

from collections.abc import Iterable

from pacas.errors import InputError


def check_key(key: Iterable[str], where: str, *, without: int = 0, again: int = 0) -> None:
    """Raise if the key lacks a value in some rows, or has in some the value of another row."""
    named = ", ".join(key)
    if without:
        raise InputError(f"the key {named} of {where} is null in {without:,} rows; give columns that never are")
    if again:
        raise InputError(f"the key {named} of {where} repeats in {again:,} rows; give columns that tell all rows apart")
