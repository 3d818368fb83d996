"""What is quoted: requests, at a level or at all of them, and prices or refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import FailFast, Field, TypeAdapter
from pydantic import create_model as model_of

from pacas.protocol.messages import Request
from pacas.wire.shapes.base import Amount, ClientShape, Level, Name, ServerShape, Tuple


class QuoteRequest(ClientShape):
    """A value to be quoted, at one level or, without one, at all of them."""

    tuple: Tuple
    attribute: Name
    level: Level | None = None

    def request(self, level: int) -> Request:
        return Request(self.tuple, self.attribute, level)


class QuotesBody(ClientShape):
    """Any number of requests, up to the catalogue's `max_batch`."""

    requests: Annotated[list[QuoteRequest], FailFast()]


def quotes_reader(most: int) -> Callable[[bytes], QuotesBody]:
    """Reads a QuotesBody, and no further than to the first request that is one too many."""
    requests = Annotated[list[QuoteRequest], FailFast(), Field(max_length=most)]
    body = model_of("QuotesBody", __base__=QuotesBody, requests=(requests, ...))
    return TypeAdapter(body).validator.validate_json  # without what pydantic's own methods do before they call this


class Price(ServerShape):
    """What a request costs."""

    price: Amount


class Refused(ServerShape):
    """A request that is not answered at any price."""

    refused: Literal["no_match", "ambiguous", "unsafe", "ceiling", "credit", "refused"] = Field(
        description='"refused", unless the catalogue says that this provider gives its reasons.'
    )


class Ladder(ServerShape):
    """A request's quotes at all levels, from ground to root."""

    levels: list[Price | Refused]


class QuotesAnswer(ServerShape):
    """The quotes, in the order of the requests."""

    quotes: list[Price | Refused | Ladder]
