"""What a cleaning did as tables, for whoever goes on with pandas, Polars or Arrow: classes, changes, purchases.

Each is a `Relation`, which goes where the user works. Prices are in nanocredits, so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from pacas.client.outcome.changed_cells import ChangedCell
from pacas.client.outcome.steps import BoughtValue, Repair, Unrepaired
from pacas.core.relation import Relation

REPAIRED = "repaired"

_TEXT, _NUMBER, _ROWS = pa.string(), pa.int64(), pa.list_(pa.int64())
CLASSES = pa.schema(
    {
        "attribute": _TEXT,
        "rows": _ROWS,
        "outcome": _TEXT,
        "new": _TEXT,
        "why": _TEXT,
        "written": _NUMBER,
        "price_nanocredits": _NUMBER,
    }
)
CHANGES = pa.schema(
    {
        "row": _NUMBER,
        "attribute": _TEXT,
        "old": _TEXT,
        "new": _TEXT,
        "why": _TEXT,
        "price_nanocredits": _NUMBER,
        "look": _TEXT,
        "guess": _TEXT,
        "sure": pa.float64(),
    }
)
PURCHASES = pa.schema(
    {
        "attribute": _TEXT,
        "row": _NUMBER,
        "rows": _ROWS,
        "level": _NUMBER,
        "value": _TEXT,
        "price_nanocredits": _NUMBER,
        "key": _TEXT,
    }
)
UNREPAIRED = pa.schema(
    {
        "attribute": _TEXT,
        "rows": _ROWS,
        "reason": _TEXT,
        "price_nanocredits": _NUMBER,
        "cheapest_nanocredits": _NUMBER,
    }
)


def classes_table(repairs: Iterable[Repair], unrepaired: Iterable[Unrepaired]) -> Relation:
    """What became of each class, or of the part of one that was repaired: its outcome is `repaired`, or the reason."""
    lines: list[tuple[object, ...]] = [
        (r.attribute, r.rows, REPAIRED, r.new, r.why.value, len(r.written), sum(p.price for p in r.purchases))
        for r in repairs
    ]
    lines += [(u.attribute, u.rows, u.reason, None, None, 0, u.price) for u in unrepaired]
    return _table(CLASSES, lines)


def changes_table(cells: Iterable[ChangedCell]) -> Relation:
    """A line a cell. `price_nanocredits` is that of what was bought for the cell's whole class; `look`, `guess` and
    `sure` are there where somebody should look."""
    return _table(
        CHANGES,
        (
            (
                *(c.row, c.attribute, c.old, c.new, None if c.repair is None else c.repair.why.value, c.price),
                *((None, None, None) if c.look is None else (c.look.look, c.look.guess, c.look.sure)),
            )
            for c in cells
        ),
    )


def purchases_table(purchases: Iterable[BoughtValue]) -> Relation:
    """A line a purchase: it was asked about `row`, and bought for all `rows` of a class."""
    return _table(PURCHASES, ((p.attribute, p.row, p.rows, p.level, p.value, p.price, p.key) for p in purchases))


def unrepaired_table(unrepaired: Iterable[Unrepaired]) -> Relation:
    """A line a class that stays as it is."""
    return _table(UNREPAIRED, ((u.attribute, u.rows, u.reason, u.price, u.cheapest) for u in unrepaired))


def _table(schema: pa.Schema, lines: Iterable[tuple[object, ...]]) -> Relation:
    columns = list(zip(*lines, strict=True)) or [()] * len(schema)
    return Relation(pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema))
