"""What the provider offers a client: which attributes, found by which columns, at which levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from pacas.core.hierarchy import Hierarchy
from pacas.core.toml import toml_key, toml_text
from pacas.engine.contract import Source
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

    def supposed(self, value: str, level: int) -> str:
        """What the answer would be if a value were the true one, in the tree that is sold; any, if it is not in it."""
        tree = self.offer.hierarchy if self.offer.tells_values else self.offer.hierarchy.admit([value])
        code = tree.code(value if value in tree else tree.ground_labels[0])
        return str(tree.label(int(tree.ancestors[level][code])))


class LacksColumn(InputError):
    """The client's table has no column of a name that an attribute is found by."""

    def __init__(self, offer: Offer, column: str, relation: Source, near: str) -> None:
        super().__init__(
            f"the provider finds {offer.attribute!r} by a column {column!r} that {relation.name} does not have; {near}"
        )
        self.offer, self.column, self.relation = offer, column, relation

    def with_near(self, own: str) -> LacksColumn:
        """The same, where it is known which column may be meant."""
        how = said_in_columns(own, self.column)
        return LacksColumn(self.offer, self.column, self.relation, f"if that is {own!r}, {how}")


def said_in_columns(own: str, theirs: str) -> str:
    """How a client says that a column of its own is one of the provider's, as the end of a sentence."""
    return f"say so in client.toml: [columns] with {toml_key(own)} = {toml_text(theirs)}"


def check_marketplace(marketplace: object) -> None:
    """Raise if nothing can be bought there: a file's name or a URL is not yet a provider."""
    if not hasattr(marketplace, "catalogue"):
        raise InputError(
            f"cannot buy from {type(marketplace).__name__}; give a pacas.Provider, or a pacas.RemoteProvider for a URL"
        )


def find_offers(
    catalogue: Mapping[str, Offer], wanted: set[str], relation: Source, max_level: MaxLevel, prefer: str
) -> dict[str, Offered]:
    """What is for sale of what may need a repair. The client must have the columns that its tuples are found by."""
    _check_named(max_level, catalogue, relation)
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
    catalogue: Mapping[str, Offer], own: Mapping[str, Hierarchy], relation: Source
) -> dict[str, Hierarchy]:
    """The client's own hierarchies, and the provider's for the columns that have none.

    One whose values are not told is none: what stands in the client's column may then be right, as without any.
    """
    for attribute in own:
        if attribute not in relation.columns:
            raise SchemaError.missing(attribute, relation.columns, relation.name)
    told = {a: offer.hierarchy for a, offer in catalogue.items() if a in relation.columns and offer.tells_values}
    return {**told, **own}


def check_max_level(max_level: MaxLevel) -> None:
    for level in max_level.values() if isinstance(max_level, Mapping) else [max_level]:
        if level is not None and not (is_whole(level) and level >= 0):
            raise InputError(f"the maximal level must be a whole number, 0 (ground) or above, not {level!r}")


def is_whole(number: object) -> bool:
    """Whether it is an integer of Python or NumPy; True is none, nor is "2" or 2.0."""
    return isinstance(number, Integral) and not isinstance(number, bool)


def _check_named(max_level: MaxLevel, catalogue: Mapping[str, Offer], relation: Source) -> None:
    """A level for an attribute that nobody has is a mistake; for one that is not sold or needed it does no harm."""
    known = [*relation.columns, *(a for a in catalogue if a not in relation.columns)]
    for attribute in max_level if isinstance(max_level, Mapping) else ():
        if attribute not in known:
            near = did_you_mean(str(attribute), known)
            raise InputError(
                f"the maximal level of {attribute!r}: neither {relation.name} nor the provider has it; {near}"
            )


def unknown_labels(own: Hierarchy, offered: Offered) -> tuple[int, int]:
    """How many of the labels that may be bought the client's own hierarchy does not know, and how many there are."""
    tree = offered.offer.hierarchy
    codes = np.flatnonzero(tree.level <= max(offered.levels, default=-1))
    may_be_bought = [label for code in codes if (label := tree.label(code)) is not None]
    return sum(label not in own for label in may_be_bought), len(may_be_bought)


def _check_columns(offer: Offer, relation: Source) -> None:
    for column in offer.columns:
        if column not in relation.columns:
            raise LacksColumn(offer, column, relation, did_you_mean(column, relation.columns))
