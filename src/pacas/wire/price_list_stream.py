"""A price list as an Arrow IPC stream: a row for each key, and in the schema's metadata what all keys share.

What comes in is checked before it is believed: a list that is not whole is none.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pydantic import ValidationError

from pacas.core.sealed.unit_prices import Ints, UnitPrices
from pacas.protocol.key_digest import NOTHING, KeyColumn, KeyDigest
from pacas.protocol.price_list import TOO_MANY, PriceList
from pacas.wire.arrow_streams import read_stream, written_stream
from pacas.wire.shapes.price_list import ListedKeyColumn, PriceListHead

HEAD = b"pacas price list"
"""The metadata's key."""
COLUMNS = {"digest": pa.uint64(), "unit": pa.int32(), "kind": pa.int32(), "floor": pa.int8()}


def write_price_list(listed: PriceList) -> bytes:
    """A list as it is published."""
    prices = listed.prices
    presence = np.zeros(len(prices.kind), dtype=np.int64) if prices.presence is None else prices.presence
    told, which = np.unique(presence, return_inverse=True)
    _, one, kind = np.unique(prices.kind.astype(np.int64) * len(told) + which, return_index=True, return_inverse=True)
    head = PriceListHead(
        version=1,
        attribute=listed.attribute,
        height=listed.height,
        salt=listed.key.salt.hex(),
        key=[ListedKeyColumn(column=column.name, numeric=column.is_numeric) for column in listed.key.columns],
        linked=list(prices.attributes),
        levels=[height + 1 for height in prices.heights],
        tables=[table.ravel().tolist() for table in prices.tables[prices.kind[one]]],
        presence=None if prices.presence is None else presence[one].tolist(),
    )
    of_key = np.append(kind, 0)[np.maximum(listed.units, -1)]
    arrays = (listed.digests, listed.units, of_key, listed.floors)
    fields = [pa.field(name, type_, nullable=False) for name, type_ in COLUMNS.items()]
    schema = pa.schema(fields, metadata={HEAD: head.model_dump_json().encode()})
    columns = [pa.array(a, type_) for a, type_ in zip(arrays, COLUMNS.values(), strict=True)]
    return written_stream(pa.Table.from_arrays(columns, schema=schema))


def read_price_list(content: bytes, most: int) -> PriceList | None:
    """The list that a stream holds, of at most so many units; None if it holds none, or one that contradicts itself."""
    table = read_stream(content)
    if table is None:
        return None
    try:
        head = PriceListHead.model_validate_json((table.schema.metadata or {}).get(HEAD, b""))
    except ValidationError:
        return None
    if {field.name: field.type for field in table.schema} != COLUMNS or any(c.null_count for c in table.columns):
        return None
    digests, units, kind, floors = (column.to_numpy() for column in table.columns)
    units, kind = units.astype(np.int64), kind.astype(np.int64)
    prices = _prices(head, units, kind) if _within(units, TOO_MANY, most) else None
    is_sorted = bool((digests[1:] > digests[:-1]).all()) and (not len(digests) or digests[0] > NOTHING)
    if prices is None or not is_sorted or not _within(floors, 0, prices.heights[head.linked.index(head.attribute)] + 1):
        return None
    key = KeyDigest(bytes.fromhex(head.salt), [KeyColumn(column.column, column.numeric) for column in head.key])
    return PriceList(head.attribute, head.height, key, prices, digests, units, floors)


def _prices(head: PriceListHead, units: Ints, kind: Ints) -> UnitPrices | None:
    """The prices of a list's units, if each has one kind, and its table all level vectors."""
    is_unit = units >= 0
    if not head.is_whole or not _within(kind[is_unit], 0, len(head.tables)):
        return None
    tables = np.array(head.tables, dtype=np.int64).reshape(len(head.tables), *head.levels)
    if any((np.diff(tables, axis=axis) > 0).any() for axis in range(1, tables.ndim)):  # coarser is never dearer
        return None
    of_unit = np.zeros(int(units.max(initial=-1)) + 1, dtype=np.int64)
    of_unit[units[is_unit]] = kind[is_unit]
    if (of_unit[units[is_unit]] != kind[is_unit]).any():
        return None
    presence = None if head.presence is None else np.array(head.presence, dtype=np.int64)[of_unit]
    return UnitPrices(tuple(head.linked), tables, of_unit, presence)


def _within(numbers: np.ndarray, low: int, high: int) -> bool:
    """Are all numbers at least one number and below another?"""
    return not len(numbers) or bool(numbers.min() >= low and numbers.max() < high)
