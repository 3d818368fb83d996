"""What a ledger's history belongs to: a digest of each thing that prices and answers follow from.

A relation in a file is known by its bytes, one in memory by its values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pacas.core.hierarchy import Hierarchy
from pacas.core.query import MAIN
from pacas.core.relation import Relation
from pacas.engine.contract import Source
from pacas.errors import FileError
from pacas.provider.stock import Stock
from pacas.provider.terms import Terms


def fingerprint(sources: Mapping[str, Source], stock: Stock) -> dict[str, str]:
    """A hex digest by part; a part that changes is named when the ledger is opened again."""
    parts = {"relation" if name == MAIN else f"relation {name}": _relation(source) for name, source in sources.items()}
    parts |= {f"hierarchy of {a}": _hierarchy(hierarchy) for a, hierarchy in stock.terms.hierarchies.items()}
    return parts | {
        "match": _text({a: str(dependency) for a, dependency in stock.terms.match.items()}),
        "policies": _text(_policies(stock.terms)),
        "support set": _support(stock),
        "weights": hashlib.sha256(stock.weights.tobytes()).hexdigest(),
    }


def _relation(source: Source) -> str:
    if isinstance(source, Relation):
        return _table(source.table)
    try:
        with source.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{source.path} cannot be read ({error.strerror})") from None


def _table(table: pa.Table) -> str:
    digest = hashlib.sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        digest.update(f"{len(name)} {name} {len(column)}".encode())
        texts = column.cast(pa.large_string())
        lengths = pc.fill_null(pc.binary_length(texts), -1).combine_chunks()
        digest.update(np.frombuffer(lengths.buffers()[1], np.int64, len(lengths), 8 * lengths.offset).tobytes())
        for chunk in pc.fill_null(texts, "").chunks:
            ends = np.frombuffer(chunk.buffers()[1], np.int64, len(chunk) + 1, 8 * chunk.offset)
            digest.update(memoryview(chunk.buffers()[2] or b"")[ends[0] : ends[-1]])
    return digest.hexdigest()


def _hierarchy(hierarchy: Hierarchy) -> str:
    return _text([hierarchy.numeric, list(hierarchy.labels), hierarchy.ancestors.tolist()])


def _policies(terms: Terms) -> list[Any]:
    return [[p.x, p.y, p.y_levels, p.k, p.allow_linkage] for p in terms.policies]


def _support(stock: Stock) -> str:
    digest = hashlib.sha256()
    for attribute, cells in stock.support.cells.items():
        digest.update(attribute.encode() + _text(stock.columns[attribute].hierarchy.labels).encode())
        for array in (cells.first, cells.new, cells.divergence):
            digest.update(array.tobytes())
    edits = stock.support.edits
    digest.update(edits.neighbour.tobytes() + edits.row.tobytes() + edits.gone.tobytes())
    for attribute, changed in sorted(edits.values.items()):
        digest.update(attribute.encode() + changed.patch.tobytes())
        digest.update(_text([stock.columns[attribute].values[c] for c in changed.code.tolist()]).encode())
    return digest.hexdigest()


def _text(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
