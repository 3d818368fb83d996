"""The cells that were written, as compact JSON: each value and each repair once, and a few numbers per cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from pacas.client.cleaning import Cleaning, Purchase, Repair
from pacas.client.explain import is_doubtful
from pacas.core.money import credits_text

T = TypeVar("T")

NOT_FLAGGED, OWN_QUOTES, DOUBTFUL = range(3)
"""A cell whose row had other quotes than the row asked about; one written with a value that only such rows had."""


@dataclass(frozen=True, slots=True)
class WrittenCells:
    """What the page's script reads, and how many of the cells are flagged."""

    columns: Mapping[str, object]
    flagged: int

    def json(self) -> str:
        """For a script element: no tag can begin in it, so none can close it."""
        document = json.dumps(self.columns, ensure_ascii=False, separators=(",", ":"))
        return document.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def written_cells(cleaning: Cleaning) -> WrittenCells:
    names, values = _Numbered[str](), _Numbered[str | None]()
    repairs: dict[str, list[object]] = {
        key: [] for key in ("attribute", "new", "bought", "level", "price", "why", "cells")
    }
    rows: list[int] = []
    old: list[int] = []
    flagged: list[int] = []
    for purchase, repair in zip(cleaning.purchases, cleaning.repairs, strict=True):
        repairs["attribute"].append(names[repair.attribute])
        repairs["new"].append(values[repair.new])
        repairs["bought"].append(values[purchase.value])
        repairs["level"].append(purchase.level)
        repairs["price"].append(credits_text(purchase.price))
        repairs["why"].append(repair.why.value)
        repairs["cells"].append(len(repair.written))
        rows += repair.written.tolist()
        old += [values[repair.old[at]] for at in np.searchsorted(repair.rows, repair.written).tolist()]
        flagged += _flags(purchase, repair)
    columns = {
        "attributes": list(names),
        "values": list(values),
        "repairs": repairs,
        "row": rows,
        "old": old,
        "flag": "".join(map(str, flagged)),
    }
    return WrittenCells(columns, len(flagged) - flagged.count(NOT_FLAGGED))


def _flags(purchase: Purchase, repair: Repair) -> list[int]:
    """Per cell that was written: should somebody look at it, and why?"""
    if not len(purchase.differing):
        return [NOT_FLAGGED] * len(repair.written)
    differing = {*purchase.differing.tolist()}
    otherwise = DOUBTFUL if is_doubtful(purchase, repair) else NOT_FLAGGED
    return [OWN_QUOTES if row in differing else otherwise for row in repair.written.tolist()]


class _Numbered(dict[T, int], Generic[T]):
    """Things in order of first appearance: asking for one's number gives it one."""

    def __missing__(self, thing: T) -> int:
        self[thing] = number = len(self)
        return number
