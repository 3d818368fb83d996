"""What is for sale, and on what terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pacas.core.rates.schedule import LIST, Schedule
from pacas.protocol.messages import ListedLadder, ListedPrices
from pacas.wire.shapes.base import Amount, Level, ServerShape

if TYPE_CHECKING:
    from pacas.core.hierarchy import Hierarchy


class PublishedHierarchy(ServerShape):
    """An attribute's generalization hierarchy."""

    levels: list[list[str]] = Field(description="A path per value of level 0: the value, its ancestors, the root.")
    numeric: bool = Field(default=False, description="Whether values are compared as numbers: 51 and 51.0 are one.")
    digest: str | None = Field(default=None, description="SHA-256 of the tree, in hex: one tree has one.")

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> PublishedHierarchy:
        return cls(
            levels=[list(row) for row in hierarchy.level_zero_rows()],
            numeric=hierarchy.numeric,
            digest=hierarchy.digest,
        )


class OfferedLadder(ServerShape):
    """What so many keys cost who has bought nothing."""

    prices: list[Amount] = Field(description="At each level, from ground to root.")
    floor: Level = Field(description="Below this level they are not sold.")
    keys: int


class OfferedCosts(ServerShape):
    """What an attribute costs who has bought nothing, where quotes are sealed."""

    keys: int = Field(description="How many keys there are; where likeness decides, how many can be found.")
    linked: list[str] = Field(description="The attributes whose purchases bear on the price.")
    ladders: list[OfferedLadder] = Field(description="Those that most keys have.")

    @classmethod
    def of(cls, prices: ListedPrices) -> OfferedCosts:
        ladders = [OfferedLadder(prices=list(one.prices), floor=one.floor, keys=one.keys) for one in prices.ladders]
        return OfferedCosts(keys=prices.keys, linked=list(prices.linked), ladders=ladders)

    def told(self) -> ListedPrices:
        ladders = (ListedLadder(tuple(one.prices), one.floor, one.keys) for one in self.ladders)
        return ListedPrices(self.keys, tuple(self.linked), tuple(ladders), isinstance(self, OfferedPrices))


class OfferedPrices(OfferedCosts):
    """What an attribute costs, where there is a list from which a client can work out its quotes."""

    path: str = Field(description="Where the price list is: an Arrow stream that need not be fetched twice.")


class OfferedBounds(ServerShape):
    """What one row can cost at a level, whatever its value, who has bought nothing."""

    lowest: Amount
    highest: Amount


class OfferedAttribute(ServerShape):
    """An attribute that is for sale."""

    attribute: str
    columns: list[str] = Field(description="What a tuple must have, and nothing else.")
    height: int = Field(description="The level of the root.")
    hierarchy: PublishedHierarchy | None = Field(
        description="null where it has no levels but its values, which are not told, and the root."
    )
    may_be_absent: bool = Field(
        default=False, description='Whether an answer may be "absent": quotes are about a registry of people.'
    )
    prices: OfferedPrices | None = Field(
        default=None, description="What it costs, where a price list says so; null: ask for quotes."
    )
    costs: OfferedCosts | None = Field(
        default=None, description="What it costs, where that is public and there is no list."
    )
    bounds: list[OfferedBounds] | None = Field(
        default=None,
        description="Of each level, from ground to root, where prices follow values: what one row can cost. One that a "
        "policy needs more neighbours of costs more.",
    )
    is_sealed: bool = Field(default=False, description="Whether quotes tell nothing of the values.")
    floor: Level = Field(default=0, description="The finest level that anybody may buy.")


class Limits(ServerShape):
    """How much may be asked."""

    max_body_bytes: int
    max_batch: int = Field(description="Requests in one call.")
    max_run: int = Field(default=1, description="Purchases in one call of /v1/runs.")
    quotes_per_minute: int = Field(description="Tuples that an account may ask about, refusals included.")


class RateStep(ServerShape):
    """A step of a schedule of rates."""

    above: Amount = Field(description="List credits from which on it applies, in nanocredits.")
    rate: int = Field(ge=1, le=10_000, description="In hundredths of a per cent: 10000 is what the list says.")

    @classmethod
    def all_of(cls, schedule: Schedule) -> list[RateStep]:
        return [cls(above=above, rate=rate) for above, rate in schedule.pairs()]


def schedule_of(steps: Sequence[RateStep]) -> Schedule:
    """The schedule that was told; an InputError if it is none."""
    return Schedule.of_pairs((step.above, step.rate) for step in steps) if steps else LIST


class Catalogue(ServerShape):
    """What is for sale, and on what terms."""

    attributes: list[OfferedAttribute]
    limits: Limits
    reasons: bool = Field(description="Whether refusals say why.")
    dependencies: list[str] = Field(
        default=[], description="What the provider publishes of those that hold in its table, such as ZIP -> City."
    )
    schedule: list[RateStep] = Field(
        default=[], description="What list prices cost who has bought so much; none: what the list says."
    )
    currency: Literal["nanocredits"] = "nanocredits"
