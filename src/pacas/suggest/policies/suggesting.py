"""The largest k and the levels that keep most sales possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pacas.core.hierarchy import Hierarchy
from pacas.core.words import counted
from pacas.engine.contract import Engine
from pacas.engine.questions import Data
from pacas.errors import InputError, SchemaError
from pacas.suggest.coded_table import CodedTable, ProfiledColumn
from pacas.suggest.policies.per_cell import per_cell_for
from pacas.suggest.policies.rows_for_sale import RowsForSale
from pacas.suggest.policies.sellable import sellable, values_left
from pacas.suggest.policies.suggested import PolicyPoint, SuggestedPolicy

SHARE = 0.9
LEAST_K = 2
USUAL_PER_CELL = 10


def suggest_policy(
    data: Data | CodedTable,
    attribute: str,
    hierarchy: Hierarchy,
    x: Sequence[str],
    *,
    match: Sequence[str] | None = None,
    tied: bool = False,
    scope: str = "group",
    share: float = SHARE,
    level: int | None = None,
    engine: Engine[Any] | None = None,
) -> SuggestedPolicy:
    """The largest k that keeps most rows for sale, and what others would leave.

    It is for an attribute that is found by `match` (unless given, by X) and protected in X-groups.
    `tied`: the match is declared to determine the attribute, so that rows that are found together are sold as one.
    `level` is the finest level that should stay for sale; unless given, the finest at which any k above 1 does.
    """
    table = CodedTable.from_data(data, engine)
    found_by = tuple(x if match is None else match)
    _check(table, attribute, hierarchy, x, found_by)
    _check_options(table, hierarchy, found_by, tied, share, level)
    found = RowsForSale.of(table, x, found_by, tied=tied, scope=scope)
    points = list(_points(hierarchy, found))
    chosen, sold_from = _choice(points, hierarchy.height, share, level)
    is_for_sale = chosen is not None and chosen.safe_level < hierarchy.height
    needed = per_cell_for(hierarchy, chosen.k, chosen.level, chosen.safe_level) if chosen and is_for_sale else None
    return SuggestedPolicy(attribute, tuple(x), found_by, found, share, chosen, sold_from, points, needed, scope)


def _check(table: CodedTable, attribute: str, hierarchy: Hierarchy, x: Sequence[str], match: Sequence[str]) -> None:
    SchemaError.check_there([attribute, *x, *match], list(table.columns), table.name)
    if attribute in {*x, *match}:
        raise InputError(f"{attribute!r} is what is sold: it cannot be what people are found or grouped by")
    if not match:
        raise InputError("nobody can be found: name the columns of the match, or of X")
    unknown = _unknown_rows(table[attribute], hierarchy)
    if unknown:
        raise InputError(
            f"{table.name}: {counted(unknown, 'row has', 'rows have')} a value of {attribute} that is no ground value "
            "of its hierarchy; a provider needs all of them"
        )


def _check_options(
    table: CodedTable, hierarchy: Hierarchy, match: Sequence[str], tied: bool, share: float, level: int | None
) -> None:
    if not 0 < share <= 1:
        raise InputError(f"a share is above 0 and at most 1, not {share}")
    if level is not None and not 0 <= level < hierarchy.height:
        raise InputError(
            f"no level {level} below the root; the levels that can be sold are 0 to {hierarchy.height - 1}"
        )
    empty = [name for name in match if table[name].present < table.rows]
    if tied and empty:
        raise InputError(f"rows cannot be tied by {empty[0]!r}, which some do not have; leave it out of the match")


def _unknown_rows(column: ProfiledColumn, hierarchy: Hierarchy) -> int:
    ground = hierarchy.is_ground
    known = (value in hierarchy and bool(ground[hierarchy.code(value)]) for value in column.values)
    return sum(count for count, is_known in zip(column.counts.tolist(), known, strict=True) if not is_known)


def _points(hierarchy: Hierarchy, found: RowsForSale) -> Iterator[PolicyPoint]:
    """Every L, and of the k that leave the same for sale the largest."""
    for level in range(hierarchy.height):
        left = values_left(hierarchy, level).tolist()
        for k in sorted({k for k in left if k >= LEAST_K}):
            safe = next(at for at, values in enumerate(left) if values >= k)
            yield PolicyPoint(k, level, safe, sellable(found, hierarchy.height, safe))


def _choice(
    points: Sequence[PolicyPoint], height: int, share: float, level: int | None
) -> tuple[PolicyPoint | None, int | None]:
    """At the finest level at which some k keeps the share: the largest k that is best in what else it does.

    Who is kept back is sold something below the root, if any k allows it; and no label above L stands for fewer than k
    values. Of equal ones the one that sells them at finer levels, then the one of coarser labels, which hide more.
    """

    def worth(point: PolicyPoint) -> tuple[bool, bool, int, int, int]:
        is_sold = point.safe_level < height
        return is_sold, is_sold and point.safe_level == point.level + 1, point.k, -point.safe_level, point.level

    for sold_from in range(height) if level is None else range(level, min(level + 1, height)):
        enough = [point for point in points if point.shares[sold_from] >= share]
        if enough:
            return max(enough, key=worth), sold_from
    return None, None
