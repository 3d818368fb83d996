"""The JSON that crosses the wire: what all its shapes share. This floor alone knows them.

All money is whole nanocredits (10⁻⁹ credit). What a client sends is read strictly: no key but those that are known, no
value of another type. What a server sends may gain keys.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from pacas.protocol.messages import LARGEST

LONGEST_NAME = 1000
LONGEST_TEXT = 10_000
MOST_COLUMNS = 1000
DOTS = (".", "..")
"""What stands in a path for something else, so that no purchase could be asked about under such a key."""
JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
Name = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
Amount = Annotated[int, Field(ge=0, le=LARGEST, description="In nanocredits.")]
Level = Annotated[int, Field(ge=0, le=LARGEST, description="0 is ground.")]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Tuple = Annotated[
    dict[Name, Text | None], Field(max_length=MOST_COLUMNS, description="The client's tuple: just the match columns.")
]


class ClientShape(BaseModel):
    """JSON that a client sends: nothing in it but what is known."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)


class ServerShape(BaseModel):
    """JSON that a server answers: it may gain members."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


class DocumentShape(BaseModel):
    """JSON that is signed: nothing in it but what is known, whoever sends it."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)
