"""Columns of integer codes, and what the codes mean under a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from pacas.core.hierarchy import ROOT, Codes, Hierarchy
from pacas.engine.grouping import FEW, Array, Keys


@dataclass(frozen=True, eq=False, repr=False)
class CodedColumn:
    """A column as one code per row; code i stands for values[i]. A null, if there is one, is the last value."""

    codes: Array
    values: list[str | None]

    def __repr__(self) -> str:  # no values: they may be a provider's
        return f"CodedColumn({len(self.codes):,} rows, {len(self.values):,} values)"

    def recoded(self, codes: Array, space: int) -> Keys:
        """The column under another code for each of its values, −1 for none."""
        if np.array_equal(codes, np.arange(len(codes))):
            return Keys(self.codes, space, False)
        return Keys(codes.astype(np.int32).take(self.codes), space, bool((codes < 0).any()))


def coded_texts(texts: pa.ChunkedArray) -> CodedColumn:
    """A column of texts, values sorted and a null last."""
    if len(texts) <= FEW:
        return _few_coded(texts.to_pylist())
    coded = (pa.concat_arrays(texts.chunks) if texts.num_chunks != 1 else texts.chunk(0)).dictionary_encode()
    found: list[str] = coded.dictionary.to_pylist()
    order = sorted(range(len(found)), key=found.__getitem__)
    values: list[str | None] = [found[i] for i in order]
    if coded.indices.null_count:
        values.append(None)
    code = np.empty(len(found) + 1, dtype=code_type(len(values)))
    code[order] = np.arange(len(found))
    code[len(found)] = len(values) - 1
    indices = coded.indices.fill_null(len(found)) if coded.indices.null_count else coded.indices
    return CodedColumn(code[np.frombuffer(indices.buffers()[1], dtype=np.int32, count=len(indices))], values)


def coded_together(texts: Mapping[str, pa.ChunkedArray], threads: int) -> dict[str, CodedColumn]:
    """Columns of texts, so many at a time where they are long."""
    if threads == 1 or len(texts) < 2 or len(next(iter(texts.values()))) <= FEW:
        return {name: coded_texts(column) for name, column in texts.items()}
    from concurrent.futures import ThreadPoolExecutor  # here: slow to import, rarely needed

    with ThreadPoolExecutor(threads) as pool:
        return dict(zip(texts, pool.map(coded_texts, texts.values()), strict=True))


def _few_coded(texts: list[str | None]) -> CodedColumn:
    """A column of few texts, in Python alone."""
    distinct = set(texts)
    values = [*sorted(text for text in distinct if text is not None), *([None] if None in distinct else [])]
    code = {value: i for i, value in enumerate(values)}
    return CodedColumn(np.array([code[text] for text in texts], dtype=code_type(len(values))), values)


def code_type(size: int) -> type[np.unsignedinteger[Any]] | type[np.int32]:
    """The smallest type for that many codes."""
    return np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.int32


def place(rows: Array, columns: Sequence[Array], into: Sequence[Array]) -> None:
    """Put a batch of rows where they belong: run by run, as engines mostly give rows in long runs."""
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    if len(breaks) > MOST_RUNS:
        for column, whole in zip(columns, into, strict=True):
            whole[rows] = column
        return
    for start, end in pairwise([0, *breaks.tolist(), len(rows)]):
        for column, whole in zip(columns, into, strict=True):
            whole[rows[start] : rows[start] + end - start] = column[start:end]


MOST_RUNS = 64


def in_hierarchy(column: CodedColumn, hierarchy: Hierarchy) -> tuple[Hierarchy, Codes]:
    """The hierarchy with the column's unknown values admitted, and the node of each of the column's codes."""
    known = hierarchy.admit(column.values)
    return known, known.encode(column.values)


def ground_keys(column: CodedColumn, hierarchy: Hierarchy | None) -> Keys:
    """The column's ground values; a null or general value has no key."""
    if hierarchy is None:
        codes = np.array([-1 if v is None or v == ROOT else c for c, v in enumerate(column.values)])
        return column.recoded(codes, len(codes))
    known, nodes = in_hierarchy(column, hierarchy)
    ground = known.is_ground[nodes] & np.array([v is not None for v in column.values])
    return column.recoded(np.where(ground, nodes, -1), len(known))


def linked_keys(column: CodedColumn, hierarchy: Hierarchy | None) -> Keys:
    """The column's values, general ones like any other; a null has no key."""
    codes = np.arange(len(column.values))
    if hierarchy is not None and hierarchy.numeric:
        codes = in_hierarchy(column, hierarchy)[1].astype(np.int64)
    if column.values[-1] is None:
        codes[-1] = -1
    return column.recoded(codes, int(codes.max(initial=0)) + 1)


def level_keys(column: CodedColumn, hierarchy: Hierarchy | None, attribute: str, level: int) -> tuple[Hierarchy, Keys]:
    """The column's values at a level; the null is a value of its own below the root."""
    tree = hierarchy or Hierarchy.flat(())
    tree.check_level(level, f"the hierarchy of {attribute!r}")
    known, nodes = in_hierarchy(column, tree)
    return known, column.recoded(known.generalize(nodes, level), len(known))
