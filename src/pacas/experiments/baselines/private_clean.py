"""PrivateClean's generalized randomized response (GRR): a relation whose every cell may be a lie.

A baseline of the paper's §7, after Krishnan, Wang, Franklin, Goldberg and Kraska, "PrivateClean: Data Cleaning and
Differential Privacy" (SIGMOD 2016). A discrete cell is, with probability p, replaced by a uniform draw from its
column's own domain, its own value included; a numeric cell gets Laplace noise of scale b.

What is stated here about their theorems:

- ε = ln(3/p - 2) per discrete column and Δ/b per numeric one, summed over the columns, is theirs. The former is right
  for a domain of three values only: with N values, a row shows its own value with probability 1 - p + p/N and another
  one with p/N, so that the largest ratio is 1 + N(1-p)/p. That is the tight ε; theirs is less where N > 3.
- S > (N/p)·ln(pN/α) records let every value of a domain of N survive with probability 1 - α: their theorem on the size
  of the data, quoted from memory, not from its text. Its proof is short enough to be redone: a value that one record
  holds vanishes if this record is given another (p(N-1)/N) and no other record is given it ((1 - p/N)^(S-1)); summed
  over N values this is at most p(N-1)·exp(-p(S-1)/N), which is at most α there. ("Distinct records" is the wording of
  PACAS; the proof counts records.)

A null is a value of a discrete domain, since who has none is private too; in a numeric column it stays. The domain is
taken to be public, as PrivateClean does: it is that of the column itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import floor, inf, log

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pacas.core.relation import Relation
from pacas.errors import InputError, SchemaError

ALPHA = 0.05
"""1 - α is the confidence that every value of a domain is still seen; the paper's."""

AT_ONCE = 2
"""Columns that are randomized together."""


@dataclass(frozen=True, slots=True)
class ColumnPrivacy:
    """What one column's randomization promises."""

    stated: float
    """ε as PrivateClean states it."""
    tight: float
    """The least ε that holds."""
    domain: int | None = None
    """How many values a discrete column has, null among them; None for a numeric one."""


@dataclass(frozen=True, eq=False, repr=False)
class Privatized:
    """A randomized relation, and what that promises."""

    relation: Relation
    p: float
    columns: Mapping[str, ColumnPrivacy]
    """The columns that were randomized."""

    @property
    def stated_epsilon(self) -> float:
        """ε of the whole relation by PrivateClean's formulas: columns compose by addition."""
        return sum(column.stated for column in self.columns.values())

    @property
    def tight_epsilon(self) -> float:
        return sum(column.tight for column in self.columns.values())

    def minimum_records(self, alpha: float = ALPHA) -> int:
        """How many records all domains need to be seen whole: what the largest one needs."""
        needed = [minimum_records(c.domain, self.p, alpha) for c in self.columns.values() if c.domain is not None]
        return max(needed, default=1)

    def __repr__(self) -> str:
        return f"Privatized({len(self.relation):,} rows, ε = {self.stated_epsilon:.3g} as stated)"


def privatize(
    relation: Relation,
    *,
    p: float = 0.5,
    seed: int,
    columns: Iterable[str] | None = None,
    scales: Mapping[str, float] | None = None,
) -> Privatized:
    """Randomize all columns of a relation, or those named.

    `scales` gives the numeric columns their b; all others are discrete. A column's noise follows from the seed and its
    place, so that it is the same whichever others are randomized.
    """
    _check_probability(p)
    chosen = list(relation.columns if columns is None else dict.fromkeys(columns))
    numeric = dict(scales or {})
    for name in (*chosen, *numeric):
        if name not in relation.columns:
            raise SchemaError.missing(name, relation.columns, relation.name)
    seeds = np.random.SeedSequence(seed).spawn(len(relation.columns))

    def one(at: int, name: str) -> tuple[pa.Array, ColumnPrivacy]:
        column, rng = _whole(relation.table.column(at)), np.random.default_rng(seeds[at])
        return _perturbed(name, column, numeric[name], rng) if name in numeric else _randomized(column, p, rng)

    table, privacy = relation.table, {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        made = {(at, c): pool.submit(one, at, c) for at, c in enumerate(relation.columns) if c in chosen}
        for (at, name), future in made.items():
            column, privacy[name] = future.result()
            table = table.set_column(at, name, column)
    return Privatized(Relation(table), p, privacy)


# ---- what it promises -------------------------------------------------------------------------------------------


def stated_epsilon(p: float) -> float:
    """ε of a discrete column as PrivateClean states it, whatever its domain: ln(3/p - 2)."""
    _check_probability(p)
    return log(3 / p - 2) if p > 0 else inf


def tight_epsilon(p: float, domain: int) -> float:
    """The least ε of a discrete column of N values: ln(1 + N(1-p)/p); 0 where there is only one to be told."""
    _check_probability(p)
    if domain <= 1:
        return 0.0
    return log(1 + domain * (1 - p) / p) if p > 0 else inf


def laplace_epsilon(spread: float, b: float) -> float:
    """ε of a numeric column: Δ/b, where Δ is the spread of its values."""
    if not b >= 0 or b == inf:
        raise InputError(f"the scale b of a numeric column is a number from 0, not {b}")
    if spread == 0:
        return 0.0
    return spread / b if b > 0 else inf


def minimum_records(domain: int, p: float, alpha: float = ALPHA) -> int:
    """The fewest records S with S > (N/p)·ln(pN/α): every value of the domain is then seen with probability 1 - α."""
    _check_probability(p)
    if not 0 < alpha < 1:
        raise InputError(f"alpha lies between 0 and 1, and {alpha} does not")
    if p * domain <= alpha:
        return 1
    return max(1, floor(domain / p * log(p * domain / alpha)) + 1)


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise InputError(f"p is a probability, from 0 to 1, and {p} is not")


# ---- one column -------------------------------------------------------------------------------------------------


def _randomized(column: pa.Array, p: float, rng: np.random.Generator) -> tuple[pa.Array, ColumnPrivacy]:
    coded = column.dictionary_encode(null_encoding="encode")
    if _with_nulls(coded.dictionary).null_count > coded.dictionary.null_count:
        coded = _with_nulls(column).dictionary_encode(null_encoding="encode")
    domain = len(coded.dictionary)
    privacy = ColumnPrivacy(stated_epsilon(p), tight_epsilon(p, domain), domain)
    if domain <= 1:
        return column, privacy
    codes = coded.indices.to_numpy().copy()
    replaced = np.flatnonzero(rng.random(len(codes)) < p)
    codes[replaced] = rng.integers(domain, size=len(replaced), dtype=codes.dtype)
    return coded.dictionary.take(pa.array(codes)), privacy


def _perturbed(name: str, column: pa.Array, b: float, rng: np.random.Generator) -> tuple[pa.Array, ColumnPrivacy]:
    try:
        numbers = _with_nulls(_with_nulls(column).cast(pa.float64()))
    except pa.ArrowException:
        raise InputError(f"column {name!r} holds values that are not numbers; leave it out of the scales") from None
    bounds = pc.min_max(numbers)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    epsilon = laplace_epsilon(0.0 if low is None else high - low, b)
    noisy = pc.add(numbers, pa.array(rng.laplace(scale=b, size=len(numbers))))
    return noisy, ColumnPrivacy(epsilon, epsilon)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    plain = column.combine_chunks()
    return plain.dictionary_decode() if pa.types.is_dictionary(plain.type) else plain


def _with_nulls(column: pa.Array) -> pa.Array:
    """Empty text and NaN are null, as everywhere."""
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    return column
