"""The cells that were written, as compact JSON: each value and each repair once, and a few numbers per cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.steps import Look, looks
from pacas.core.money import credits_text

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WrittenCells:
    """What the page's script reads."""

    columns: Mapping[str, object]

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
    look: list[Look] = []
    for purchase, repair in zip(cleaning.purchases, cleaning.repairs, strict=True):
        repairs["attribute"].append(names[repair.attribute])
        repairs["new"].append(values[repair.new])
        repairs["bought"].append(values[purchase.value])
        repairs["level"].append(purchase.level)
        repairs["price"].append(credits_text(purchase.price))
        repairs["why"].append(repair.why.value)
        repairs["cells"].append(len(repair.written))
        rows += repair.written.tolist()
        before = repair.old
        old += [values[before[at]] for at in np.searchsorted(repair.rows, repair.written).tolist()]
        look += looks(purchase, repair)
    columns = {
        "attributes": list(names),
        "values": list(values),
        "repairs": repairs,
        "row": rows,
        "old": old,
        "flag": "".join(map(str, map(int, look))),
    }
    return WrittenCells(columns)


class _Numbered(dict[T, int], Generic[T]):
    """Things in order of first appearance: asking for one's number gives it one."""

    def __missing__(self, thing: T) -> int:
        self[thing] = number = len(self)
        return number
