"""What the keys of a price list share, in the metadata of its stream."""

from __future__ import annotations

from math import prod
from typing import Annotated

from pydantic import Field

from pacas.protocol.messages import LARGEST
from pacas.wire.shapes.base import Amount, ServerShape

MOST_LINKED, MOST_VECTORS = 32, 10**7
"""The attributes of a price list, and the level vectors that they have together: more are not read."""


class ListedKeyColumn(ServerShape):
    """A client's column that is part of a key."""

    column: str
    numeric: bool = Field(description="Whether its values are compared as numbers.")


class PriceListHead(ServerShape):
    """What the keys of a price list share; it is in the metadata of the stream's schema."""

    version: int = Field(ge=1, le=1)
    attribute: str
    height: int = Field(ge=1)
    salt: str = Field(pattern="^([0-9a-f]{2}){16,64}$")
    key: list[ListedKeyColumn] = Field(min_length=1)
    linked: list[str] = Field(description="The attributes that a level vector has levels of, in order.")
    levels: list[Annotated[int, Field(ge=2)]]
    tables: list[list[Amount]]
    presence: list[Amount] | None

    @property
    def is_whole(self) -> bool:
        """Do its parts fit each other?"""
        dearest = max((max(table, default=0) for table in self.tables), default=0) + max(self.presence or (), default=0)
        return (
            self.attribute in self.linked
            and len(set(self.linked)) == len(self.linked) == len(self.levels) <= MOST_LINKED
            and prod(self.levels) <= MOST_VECTORS
            and all(len(table) == prod(self.levels) and table[-1] == 0 for table in self.tables)
            and dearest <= LARGEST
            and (self.presence is None or len(self.presence) == len(self.tables))
            and self.levels[self.linked.index(self.attribute)] == self.height + 1 + (self.presence is not None)
        )
