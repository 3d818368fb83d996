"""From a matching dependency and the provider's columns to the indexes that answer it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pacas.core.dependency import MatchClause, Similarity
from pacas.core.hierarchy import Hierarchy
from pacas.engine.codes import CodedColumn
from pacas.engine.contract import Hierarchies
from pacas.engine.grouping import Groups, Ints, Keys, combine, distinct
from pacas.provider.matching.clause import ClauseIndex, CompatibleIndex, WithinIndex
from pacas.provider.matching.equality import EqualityIndex
from pacas.provider.matching.similarity import EditIndex, JaroWinklerIndex, QGramIndex


def equality_index(
    clauses: Sequence[MatchClause],
    client_columns: Sequence[str],
    columns: Mapping[str, CodedColumn],
    hierarchies: Hierarchies,
) -> EqualityIndex:
    """One index for all equality clauses."""
    numeric = [clause.provider in hierarchies and hierarchies[clause.provider].numeric for clause in clauses]
    client_at = [client_columns.index(clause.client) for clause in clauses]
    return EqualityIndex([columns[clause.provider] for clause in clauses], numeric, client_at)


def clause_index(clause: MatchClause, values: Sequence[str | None], hierarchy: Hierarchy | None) -> ClauseIndex:
    """The index for a clause other than equality."""
    match clause.similarity:
        case Similarity.WITHIN:
            return WithinIndex(values, clause.threshold)
        case Similarity.EDIT:
            return EditIndex(values, clause.threshold)
        case Similarity.JARO_WINKLER:
            return JaroWinklerIndex(values, clause.threshold)
        case Similarity.QGRAM:
            return QGramIndex(values, clause.threshold)
        case Similarity.COMPATIBLE:
            return CompatibleIndex(values, hierarchy or Hierarchy.flat(()))
        case Similarity.EQUAL:
            raise ValueError("equality clauses share one index")


def combinations(exact: EqualityIndex | None, columns: Sequence[CodedColumn]) -> tuple[Groups, Ints]:
    """Rows by their combination of slot and values, and each combination's first row; a null is in none."""
    keys = combine([*([exact.slots] if exact else []), *map(_value_keys, columns)])
    combination, found = distinct(keys.key)
    rows = Groups.of(combination, len(found))
    return rows, rows.members[rows.offsets[:-1]]


def _value_keys(column: CodedColumn) -> Keys:
    codes = np.array([code if value else -1 for code, value in enumerate(column.values)], dtype=np.int64)
    return column.recoded(codes, len(codes))
