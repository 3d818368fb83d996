"""What the members of a circle tell each other."""

from __future__ import annotations

from pydantic import Field

from pacas.protocol.circle import CircleLine, CircleLines
from pacas.protocol.messages import LARGEST
from pacas.wire.shapes.base import ClientShape, Level, Name, ServerShape


class CircleBody(ClientShape):
    """A line that a member of a circle adds: what it is about to sell of whom the key is about."""

    if_version: int = Field(ge=0, le=LARGEST, description="The key's version as it was read; 0: it had no lines.")
    attribute: Name
    level: Level


class CircleLineDocument(ServerShape):
    """What a member has sold, or was about to sell."""

    attribute: str
    level: Level
    member: str


class CircleAnswer(ServerShape):
    """All that members have sold of whom a key is about."""

    version: int = Field(ge=0, description="How often a line was added: 0, if there is none.")
    lines: list[CircleLineDocument]

    @classmethod
    def of(cls, found: CircleLines) -> CircleAnswer:
        lines = [CircleLineDocument(attribute=a, level=level, member=member) for a, level, member in found.lines]
        return cls(version=found.version, lines=lines)

    def told(self) -> CircleLines:
        lines = (CircleLine(one.attribute, one.level, one.member) for one in self.lines)
        return CircleLines(self.version, tuple(lines))
