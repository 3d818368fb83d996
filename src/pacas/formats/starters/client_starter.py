"""A `client.toml` to start from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pacas.formats.starters.lines import StarterLine, document, lines_of, remarks


@dataclass(frozen=True)
class ClientStarter:
    """All that stands in the file; each line with why it does."""

    table: str
    """What the table is called."""
    head: Sequence[StarterLine]
    """Data, key, engine; provider and budget."""
    fds: Sequence[StarterLine]
    keys: Sequence[str]
    columns: Sequence[StarterLine]
    hierarchies: Sequence[StarterLine]
    send: Sequence[StarterLine] = ()
    notes: Sequence[str] = ()

    def text(self) -> str:
        return document(
            [
                remarks(
                    f"A client's file, made from {self.table} by pacas init client. Everything may be changed; a line",
                    "that begins with # does not count. Paths are relative to this file.",
                    *self.notes,
                ),
                lines_of(self.head),
                self._fds(),
                self._section("columns", "yours, and what the provider calls them", self.columns),
                self._section("send", "what the provider is sent of a row to find a value; no other column", self.send),
                self._section(
                    "hierarchies", "only where your table has general values, such as [30,40)", self.hierarchies
                ),
            ]
        )

    def _fds(self) -> Iterator[str]:
        yield from remarks("What should hold. Strong ones count; weak ones are for you to judge: some would do harm.")
        if self.keys:
            yield from remarks(f"Keys tell every row apart, and so say nothing of others: {', '.join(self.keys)}")
        yield "fds = ["
        yield from lines_of(self.fds, "    ")
        yield "]"

    def _section(self, name: str, why: str, lines: Sequence[StarterLine]) -> Iterator[str]:
        if not lines:
            return
        head = StarterLine(f"[{name}]", why, any(line.is_on for line in lines))
        yield from lines_of([head])
        yield from lines_of(lines)
