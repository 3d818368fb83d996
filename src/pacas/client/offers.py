"""What the provider offers a client: which attributes, found by which columns, at which levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.errors import InputError, SchemaError, did_you_mean
from pacas.protocol.messages import Offer

PREFERENCES = ("finest", "coarsest")

MaxLevel = int | Mapping[str, int] | None
"""The coarsest level that may be bought: for all attributes, or by attribute."""


@dataclass(frozen=True, slots=True)
class Offered:
    """An offer, and its levels that may be bought, the preferred one first."""

    offer: Offer
    levels: list[int]


def find_offers(
    catalogue: Mapping[str, Offer], wanted: set[str], relation: Relation, max_level: MaxLevel, prefer: str
) -> dict[str, Offered]:
    """What is for sale of what may need a repair. The client must have the columns that its tuples are found by."""
    offers = {a: offer for a, offer in catalogue.items() if a in wanted}
    for offer in offers.values():
        _check_columns(offer, relation)
    return {a: Offered(offer, levels_to_try(offer, max_level, prefer)) for a, offer in offers.items()}


def levels_to_try(offer: Offer, max_level: MaxLevel, prefer: str) -> list[int]:
    """The levels that may be bought, the preferred one first.

    D10: l_max is one below the root unless something else is asked for; a larger one is cut.
    """
    given = max_level.get(offer.attribute) if isinstance(max_level, Mapping) else max_level
    height = offer.hierarchy.height
    highest = height - 1 if given is None else min(given, height)
    levels = list(range(highest + 1))
    return levels if prefer == "finest" else levels[::-1]


def all_hierarchies(
    catalogue: Mapping[str, Offer], own: Mapping[str, Hierarchy], relation: Relation
) -> dict[str, Hierarchy]:
    """The client's own hierarchies, and the provider's for the columns that have none."""
    for attribute in own:
        if attribute not in relation.columns:
            raise SchemaError.missing(attribute, relation.columns, relation.name)
    published = {a: offer.hierarchy for a, offer in catalogue.items() if a in relation.columns}
    return {**published, **own}


def check_max_level(max_level: MaxLevel) -> None:
    for level in max_level.values() if isinstance(max_level, Mapping) else [max_level]:
        if level is not None and level < 0:
            raise InputError(f"the maximal level must be 0 (ground) or above, not {level}")


def _check_columns(offer: Offer, relation: Relation) -> None:
    for column in offer.columns:
        if column not in relation.columns:
            raise InputError(
                f"the provider finds {offer.attribute!r} by a column {column!r} that {relation.name} does not have; "
                f"{did_you_mean(column, relation.columns)}"
            )
