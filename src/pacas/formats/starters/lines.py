"""Lines of a file to start from: what stands there, why, and whether it counts or is only a comment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pacas.core.toml import comment, toml_key, toml_text, toml_value

WIDEST = 60
"""Characters up to which the reasons of several lines stand below each other."""


@dataclass(frozen=True, slots=True)
class StarterLine:
    """A line, without the reason; `is_on` says that it counts."""

    text: str
    why: str
    is_on: bool = True

    @classmethod
    def key(cls, name: str, value: object, why: str = "", *, is_on: bool = True) -> StarterLine:
        """`name = value`."""
        return cls(f"{toml_key(name)} = {toml_value(value)}", why, is_on)

    @classmethod
    def item(cls, text: str, why: str = "", *, is_on: bool = True) -> StarterLine:
        """An entry of a list."""
        return cls(f"{toml_text(text)},", why, is_on)

    @property
    def shown(self) -> str:
        return self.text if self.is_on else f"# {self.text}"


def lines_of(lines: Sequence[StarterLine], indent: str = "") -> Iterator[str]:
    """The lines, their reasons below each other."""
    width = min(max((len(line.shown) for line in lines), default=0), WIDEST)
    for line in lines:
        said = comment(line.why)
        yield (f"{indent}{line.shown:<{width}}  # {said}" if said else f"{indent}{line.shown}").rstrip()


def remarks(*texts: str) -> Iterator[str]:
    """Lines of comment."""
    for text in texts:
        yield f"# {comment(text)}".rstrip()


def document(parts: Iterable[Iterable[str]]) -> str:
    """Parts with an empty line between; empty ones are left out."""
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part))) + "\n"
