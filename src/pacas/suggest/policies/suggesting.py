"""The largest k and the levels that keep most sales possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pacas.core.hierarchy import Hierarchy
from pacas.core.words import counted
from pacas.errors import InputError, SchemaError
from pacas.suggest.coded_table import CodedTable, ProfiledColumn
from pacas.suggest.policies.found_rows import FoundRows
from pacas.suggest.policies.per_cell import per_cell_for
from pacas.suggest.policies.sellable import sellable, values_left
from pacas.suggest.policies.suggested import PolicyPoint, SuggestedPolicy

SHARE = 0.9
LEAST_K = 2
USUAL_PER_CELL = 10


def suggest_policy(
    table: CodedTable,
    attribute: str,
    hierarchy: Hierarchy,
    x: Sequence[str],
    *,
    match: Sequence[str] | None = None,
    tied: bool = False,
    scope: str = "group",
    share: float = SHARE,
    level: int | None = None,
) -> SuggestedPolicy:
    """For an attribute that is found by `match` (unless given, by X) and protected in X-groups.

    `tied`: the match is declared to determine the attribute, so that rows that are found together are sold as one.
    `level` is the finest level that should stay for sale; unless given, the finest at which any k above 1 does.
    """
    found_by = tuple(x if match is None else match)
    _check(table, attribute, hierarchy, x, found_by, share)
    found = FoundRows.of(table, x, found_by, tied=tied, scope=scope)
    points = list(_points(hierarchy, found))
    chosen, sold_from = _choice(points, hierarchy.height, share, level)
    needed = None if chosen is None else per_cell_for(hierarchy, chosen.k, chosen.level, chosen.safe_level)
    return SuggestedPolicy(attribute, tuple(x), found_by, found, share, chosen, sold_from, points, needed, scope)


def _check(
    table: CodedTable, attribute: str, hierarchy: Hierarchy, x: Sequence[str], match: Sequence[str], share: float
) -> None:
    SchemaError.check_there([attribute, *x, *match], list(table.columns), table.name)
    if attribute in {*x, *match}:
        raise InputError(f"{attribute!r} is what is sold: it cannot be what people are found or grouped by")
    if not match:
        raise InputError("nobody can be found: name the columns of the match, or of X")
    if not 0 < share <= 1:
        raise InputError(f"a share is above 0 and at most 1, not {share}")
    unknown = _unknown_rows(table[attribute], hierarchy)
    if unknown:
        raise InputError(
            f"{table.name}: {counted(unknown, 'row has', 'rows have')} a value of {attribute} that is no ground value "
            "of its hierarchy; a provider needs all of them"
        )


def _unknown_rows(column: ProfiledColumn, hierarchy: Hierarchy) -> int:
    ground = hierarchy.is_ground
    known = (value in hierarchy and bool(ground[hierarchy.code(value)]) for value in column.values)
    return sum(count for count, is_known in zip(column.counts.tolist(), known, strict=True) if not is_known)


def _points(hierarchy: Hierarchy, found: FoundRows) -> Iterator[PolicyPoint]:
    """Every L, and of the k that leave the same for sale the largest."""
    for level in range(hierarchy.height):
        left = values_left(hierarchy, level).tolist()
        for k in sorted({k for k in left if k >= LEAST_K}):
            safe = next(at for at, values in enumerate(left) if values >= k)
            yield PolicyPoint(k, level, safe, sellable(found, hierarchy.height, safe))


def _choice(
    points: Sequence[PolicyPoint], height: int, share: float, level: int | None
) -> tuple[PolicyPoint | None, int | None]:
    """At the finest level at which some k keeps the share: the largest k that leaves who is kept back something, too.

    Of equal ones the one that sells them at finer levels, then the one that counts coarser labels, which hide more.
    """
    for sold_from in range(height) if level is None else range(level, min(level + 1, height)):
        enough = [point for point in points if point.shares[sold_from] >= share]
        if enough:
            return max(enough, key=lambda p: (p.safe_level < height, p.k, -p.safe_level, p.level)), sold_from
    return None, None
