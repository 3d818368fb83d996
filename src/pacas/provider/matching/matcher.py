"""All clauses of a matching dependency together: from a client's tuples to row numbers.

Paper: §5.1, σ_match(R). Rows that have the same values in all match columns match the same tuples, so clauses are
judged on the distinct *combinations* of those values, numbered in the order of their first rows. The clause that
leaves fewest of them says which; the others are only asked about these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import pyarrow as pa

from pacas.core.dependency import MatchClause, MatchingDependency, Similarity
from pacas.core.hierarchy import Hierarchy, canonical_number
from pacas.core.normal_text import DateOrder, normal_text
from pacas.engine.codes import CodedColumn
from pacas.engine.contract import Hierarchies
from pacas.engine.grouping import NONE, Groups, Ints, Keys, combine, distinct
from pacas.errors import InputError, SchemaError
from pacas.protocol.marketplace import Columns, lacks_column
from pacas.provider.matching.clause import (
    Clause,
    ClauseIndex,
    CompatibleIndex,
    Demand,
    InSlot,
    LikeValue,
    NormalizedIndex,
    Slots,
    WithinIndex,
)
from pacas.provider.matching.equality import EqualityIndex, Spelling
from pacas.provider.matching.similarity import EditIndex, JaroWinklerIndex, QGramIndex

Tuple = Mapping[str, str | None]
Values = tuple[str | None, ...]

CHUNK = 1 << 14
"""How many combinations are judged before it is asked whether there are enough."""
LARGE = 8
"""A demand that more than one in so many combinations fulfils says too little to look these up and sort them."""


@dataclass(frozen=True, eq=False)
class Matches:
    """The matches of many tuples: tuple i's rows are `rows[starts[i] : starts[i] + sizes[i]]`, ascending.

    Tuples with equal values share their rows.
    """

    rows: Ints
    starts: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> Ints:
        if not 0 <= i < len(self):
            raise IndexError(f"no tuple {i} among {len(self)}")
        return self.rows[self.starts[i] : self.starts[i] + self.sizes[i]]

    def __iter__(self) -> Iterator[Ints]:
        return (self[i] for i in range(len(self)))


class Matcher:
    """Finds the provider's rows that match a client's tuple in all clauses of a matching dependency.

    Built once from the provider's columns; may be asked from several threads.

    >>> columns = {
    ...     "GEN": CodedColumn(np.array([0, 1, 0]), ["male", "female"]),
    ...     "AGE": CodedColumn(np.array([0, 1, 1]), ["51", "45"]),
    ... }
    >>> matcher = Matcher(MatchingDependency.parse("SEX = GEN, AGE ~ AGE within 1"), columns)
    >>> matcher.match_one({"SEX": "male", "AGE": "46"}).tolist()
    [2]
    """

    def __init__(
        self,
        dependency: MatchingDependency,
        columns: Mapping[str, CodedColumn],
        hierarchies: Hierarchies | None = None,
        *,
        where: str = "the provider's relation",
    ) -> None:
        _check(dependency, columns, where)
        self.client_columns = dependency.client_columns
        """The columns that a tuple must have."""
        self._pick = _picker(self.client_columns)
        equal = [clause for clause in dependency.clauses if clause.similarity.is_one_spelling]
        other = [clause for clause in dependency.clauses if not clause.similarity.is_one_spelling]
        self._exact = _equality_index(equal, self.client_columns, columns, hierarchies or {}) if equal else None
        self._slots: Slots | None = None
        self._clauses: list[Clause] = []
        if self._exact and not other:  # a slot is a combination
            self._rows = Groups.of(self._exact.slots.key, self._exact.slots.space)
        else:
            self._index_combinations(other, columns, hierarchies or {})
        self.together = self._rows
        """Rows that agree in all columns of the match: every tuple matches them together, or not at all."""
        if any(clause.similarity is not Similarity.EQUAL for clause in equal):
            self.together = _agreeing(dependency, columns, hierarchies or {})

    def match(self, tuples: Sequence[Tuple], limit: int | None = None) -> Matches:
        """The rows that match each tuple; of more than `limit` rows, the first `limit` + 1."""
        most = None if limit is None else limit + 1
        number: dict[Values, int] = {}
        which = np.fromiter((number.setdefault(self._values(t), len(number)) for t in tuples), np.int64, len(tuples))
        found = [self._find(values, most) for values in number]
        size = np.fromiter(map(len, found), np.int64, len(found))
        start = np.cumsum(size) - size
        return Matches(np.concatenate([NONE, *found]), start[which], size[which])

    def match_columns(self, tuples: Columns, limit: int | None = None) -> Matches:
        """The rows that match each of the tuples, which come by column; by equality alone, without a loop over them."""
        columns = self._columns(tuples)
        if self._clauses or self._exact is None:
            return self.match(
                [dict(zip(self.client_columns, t, strict=True)) for t in zip(*columns, strict=True)], limit
            )
        slots = self._exact.slots_of(columns)
        starts = self._rows.offsets[slots]
        sizes = np.where(slots >= 0, self._rows.offsets[slots + 1] - starts, 0)
        return Matches(self._rows.members, starts, sizes if limit is None else np.minimum(sizes, limit + 1))

    @property
    def by_slot(self) -> tuple[Groups, Ints] | None:
        """The rows of each slot and the slot of each row, where equality decides alone."""
        return None if self._clauses or self._exact is None else (self._rows, self._exact.slots.key)

    def slot(self, values: Tuple) -> int:
        """The slot that a tuple matches, −1 for none; only where equality decides alone."""
        assert self._exact is not None
        return self._exact.slot(self._values(values))

    def slots(self, tuples: Columns) -> Ints:
        """The slot of each tuple; only where equality decides alone."""
        assert self._exact is not None
        return self._exact.slots_of(self._columns(tuples))

    def match_one(self, values: Tuple, limit: int | None = None) -> Ints:
        """The rows that match a tuple; of more than `limit` rows, the first `limit` + 1."""
        return self._find(self._values(values), None if limit is None else limit + 1)

    # ---- building -------------------------------------------------------------------------------------------

    def _index_combinations(
        self, clauses: Sequence[MatchClause], columns: Mapping[str, CodedColumn], hierarchies: Hierarchies
    ) -> None:
        provided = {clause.provider: columns[clause.provider] for clause in clauses}
        self._rows, first = _combinations(self._exact, list(provided.values()))
        self._all = np.arange(len(first))
        if self._exact:
            self._slots = Slots.of(self._exact.slots.key[first], self._exact.slots.space)
        for clause in clauses:
            column = columns[clause.provider]
            index = clause_index(clause, column.values, hierarchies.get(clause.provider))
            client_at = self.client_columns.index(clause.client)
            self._clauses.append(Clause.of(client_at, index, column.codes[first].astype(np.int64), len(column.values)))
        self._clauses.sort(key=lambda clause: clause.index.few)

    # ---- matching -------------------------------------------------------------------------------------------

    def _values(self, of: Tuple) -> Values:
        try:
            return self._pick(of)
        except KeyError:
            raise lacks_column(next(column for column in self.client_columns if column not in of), of) from None

    def _columns(self, tuples: Columns) -> list[list[str | None]]:
        return listed_columns(self.client_columns, tuples)

    def _find(self, values: Values, most: int | None) -> Ints:
        """The first `most` of the rows that match."""
        slot = self._exact.slot(values) if self._exact else 0
        if slot < 0:
            return NONE
        if not self._clauses:
            return self._rows.one(slot)[:most]
        texts = [value for value in values if value]
        if len(texts) < len(values):
            return NONE
        found = self._survivors(self._demands(texts, slot), most)
        # Combinations are in order of their first rows: no later one can be among the first `most` rows.
        return self._rows.some(found, most)[:most] if len(found) else NONE

    def _demands(self, texts: Sequence[str], slot: int) -> list[Demand]:
        """What the combinations have to fulfil, the one that tells best where to look first."""
        quick: list[tuple[int, Demand]] = []
        if self._slots is not None:
            demand: Demand = InSlot(self._slots, slot)
            quick.append((demand.size(), demand))
        slow: list[Demand] = []
        for clause in self._clauses:  # those that are slow to find all matches come last
            demand = LikeValue(clause, texts[clause.client_at])
            if min((size for size, _ in quick), default=len(self._all)) > clause.index.few:
                quick.append((demand.size(), demand))
            else:
                slow.append(demand)
        quick.sort(key=itemgetter(0))
        return [demand for _, demand in quick] + slow

    def _survivors(self, demands: Sequence[Demand], most: int | None) -> Ints:
        """The first `most` of the combinations that fulfil all demands."""
        narrow, rest = demands[0], demands[1:]
        if narrow.size() * LARGE > len(self._all):
            candidates, rest = self._all, demands
        else:
            candidates = narrow.members()
        found: list[Ints] = []
        enough = len(candidates) if most is None else most
        for start in range(0, len(candidates), CHUNK):
            chunk = candidates[start : start + CHUNK]
            for demand in rest:
                chunk = chunk[demand.holds(chunk)] if len(chunk) else chunk
            found.append(chunk)
            enough -= len(chunk)
            if enough <= 0:
                break
        return np.concatenate([NONE, *found])[:most]


def _check(dependency: MatchingDependency, columns: Mapping[str, CodedColumn], where: str) -> None:
    if not dependency.clauses:
        raise InputError("a matching dependency without clauses would match everything; give it at least one")
    for clause in dependency.clauses:
        if clause.provider not in columns:
            raise SchemaError.missing(clause.provider, columns, where)


def listed_columns(needed: Sequence[str], tuples: Columns) -> list[list[str | None]]:
    """The columns that a match needs, as lists of one length."""
    try:
        given = [tuples[column] for column in needed]
    except KeyError:
        missing = next(column for column in needed if column not in tuples)
        raise lacks_column(missing, tuples) from None
    columns = [c if type(c) is list else _listed(c) for c in given]
    if len(set(map(len, columns))) > 1:
        raise InputError(f"the columns of the client's tuples are of {len(set(map(len, columns)))} lengths")
    return columns


def _listed(column: Sequence[str | None] | pa.Array | pa.ChunkedArray) -> list[str | None]:
    values: list[str | None] = column.to_pylist() if isinstance(column, pa.Array | pa.ChunkedArray) else list(column)
    return values


def _picker(columns: Sequence[str]) -> Callable[[Tuple], Values]:
    """From a tuple to the values of some of its columns."""
    if len(columns) == 1:
        (only,) = columns
        return lambda values: (values[only],)
    return itemgetter(*columns)


# ---- indexes -------------------------------------------------------------------------------------------------------


def _equality_index(
    clauses: Sequence[MatchClause],
    client_columns: Sequence[str],
    columns: Mapping[str, CodedColumn],
    hierarchies: Hierarchies,
) -> EqualityIndex:
    """One index for all clauses that ask for one spelling."""
    spellings = [_spelling(clause, hierarchies.get(clause.provider)) for clause in clauses]
    client_at = [client_columns.index(clause.client) for clause in clauses]
    return EqualityIndex([columns[clause.provider] for clause in clauses], spellings, client_at)


def _spelling(clause: MatchClause, hierarchy: Hierarchy | None) -> Spelling | None:
    """What two values are brought to before they are compared."""
    order = clause.similarity.date_order
    if order is not None:
        return lambda value: normal_text(value, order)
    return canonical_number if hierarchy is not None and hierarchy.numeric else None


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
        case (
            Similarity.NORMALIZED | Similarity.NORMALIZED_DAY_FIRST | Similarity.NORMALIZED_MONTH_FIRST
        ) as normalized:
            return NormalizedIndex(values, normalized.date_order or DateOrder.UNKNOWN)
        case Similarity.EQUAL:
            raise ValueError("equality clauses share one index")


def _agreeing(dependency: MatchingDependency, columns: Mapping[str, CodedColumn], hierarchies: Hierarchies) -> Groups:
    """The rows that agree in all columns of the match as an engine groups them: by texts, whatever is normalized."""
    equal = [clause for clause in dependency.clauses if clause.similarity is Similarity.EQUAL]
    others = dict.fromkeys(c.provider for c in dependency.clauses if c.similarity is not Similarity.EQUAL)
    exact = _equality_index(equal, dependency.client_columns, columns, hierarchies) if equal else None
    return _combinations(exact, [columns[column] for column in others])[0]


def _combinations(exact: EqualityIndex | None, columns: Sequence[CodedColumn]) -> tuple[Groups, Ints]:
    """Rows by their combination of slot and values, and each combination's first row; a null is in none."""
    keys = combine([*([exact.slots] if exact else []), *map(_value_keys, columns)])
    combination, found = distinct(keys.key)
    rows = Groups.of(combination, len(found))
    return rows, rows.members[rows.offsets[:-1]]


def _value_keys(column: CodedColumn) -> Keys:
    codes = np.array([code if value else -1 for code, value in enumerate(column.values)], dtype=np.int64)
    return column.recoded(codes, len(codes))
