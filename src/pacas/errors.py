"""Every error PACAS raises, on one page.

    PacasError
    ├── InputError              something given to us is wrong; the command line exits with 2
    │   ├── ParseError          a dependency or query text; points at the character
    │   ├── SchemaError         a column that is missing, doubled or of the wrong kind
    │   ├── HierarchyError      a generalization hierarchy that is not a tree, or a level it lacks
    │   ├── FileError           a file that cannot be read as what it should be
    │   ├── ConfigError         a key or value in provider.toml or client.toml
    │   ├── KeyReusedError      an idempotency key that was used before, for another request
    │   └── ReplayError         a step of a cleaning that does not fit its record, or its quote
    │       └── OverchargedError  a purchase that cost more than was agreed to
    ├── StorageError            a ledger that cannot be opened, read or written where it is kept
    │   ├── LedgerChangedError  a provider whose data or rules are not those its ledger was opened with
    │   ├── LedgerModeError     a ledger that was kept with the other kind of quotes
    │   ├── HouseError          a clearing house that cannot be asked: nothing is sold
    │   ├── LedgerBrokenError   a ledger with an entry that is missing, altered or moved
    │   └── LedgerWentBackError a ledger that no longer holds what it was seen to hold
    └── RemoteError             a provider at a URL that is away, lets nobody in, or is none

Each message is one line: what is wrong, where, and what to try. A message never holds a cell value of a
provider's relation; attributes, levels, row numbers and counts are fine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches


class PacasError(Exception):
    """The base of all errors that PACAS raises on purpose."""


class InputError(PacasError):
    """Something given to PACAS is wrong, and the message says what to try."""

    @classmethod
    def unknown(cls, what: str, name: object, known: Iterable[str]) -> InputError:
        return cls(f"no {what} {name!r}; {did_you_mean(str(name), known)}")


class NoRowsError(InputError):
    """A table has a header, and no rows."""

    @classmethod
    def of(cls, name: str) -> NoRowsError:
        return cls(f"{name} has a header but no rows")


class ParseError(InputError):
    """A text that does not follow its grammar, with the place where it stops making sense."""

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(f"{message} at character {position + 1} of {text!r}")
        self.text = text
        self.position = position


class SchemaError(InputError):
    """A column that is missing, doubled, or of the wrong kind."""

    @classmethod
    def missing(cls, column: str, columns: Iterable[str], where: str) -> SchemaError:
        return cls(f"no column {column!r} in {where}; {did_you_mean(column, columns)}")

    @classmethod
    def check_there(cls, names: Iterable[str], columns: Collection[str], where: str) -> None:
        """Raise if a name is none of the columns."""
        for name in names:
            if name not in columns:
                raise cls.missing(name, columns, where)


class HierarchyError(InputError):
    """A hierarchy that is not a tree of levels, or a level that it does not have."""

    @classmethod
    def no_such_level(cls, level: int, height: int, where: str = "the hierarchy") -> HierarchyError:
        return cls(f"no level {level} in {where}; its levels are 0 (ground) to {height} (the root)")


class FileError(InputError):
    """A file that cannot be read as what it should be."""


class ConfigError(InputError):
    """A key or value in provider.toml or client.toml."""


class NeedsMemoryError(InputError):
    """What is asked for needs a relation that is held in memory."""


class KeyReusedError(InputError):
    """An idempotency key that was used before, for another request."""

    @classmethod
    def at(cls, sequence: int) -> KeyReusedError:
        return cls(f"the idempotency key was used before, for another request (entry {sequence}); give a new one")


class ReplayError(InputError):
    """A step of a cleaning that does not fit its record, or its quote: part of the record may be lost."""


class OverchargedError(ReplayError):
    """A purchase that cost more than was agreed to; `charged` is what its provider says, in nanocredits."""

    def __init__(self, message: str, charged: int) -> None:
        super().__init__(message)
        self.charged = charged


class StorageError(PacasError):
    """A ledger that cannot be opened, read or written where it is kept."""


class HouseError(StorageError):
    """A clearing house that cannot be asked what other providers have sold: nothing is sold."""


class LedgerChangedError(StorageError):
    """A provider whose data or rules are not those that its ledger was opened with; `places` say where each part is."""

    def __init__(
        self,
        parts: Iterable[str],
        places: Mapping[str, str] | None = None,
        remedy: str = "restore it, or begin a new ledger",
    ) -> None:
        self.parts = tuple(parts)
        where = {} if places is None else places
        changed = ", ".join(f"{part} ({where[part]})" if part in where else part for part in self.parts)
        super().__init__(f"changed since the ledger was opened: {changed}; {remedy}")


class LedgerModeError(StorageError):
    """A ledger that was kept with sealed quotes and is opened with the paper's, or the other way round."""

    parts = ("quotes",)

    def __init__(self, kept: str, now: str) -> None:
        super().__init__(
            f'the ledger was kept with quotes = "{kept}", not "{now}"; say quotes = "{kept}" to go on with it, or name '
            "another one in [ledger] url, "
            + ("where what this one sold does not count" if now == "paper" else "and this one in [ledger] sold_before")
        )


class LedgerBrokenError(StorageError):
    """A ledger with an entry that is missing, altered or moved, or with a record of its own that does not fit."""

    def __init__(self, problem: str, sequence: int | None = None) -> None:
        super().__init__(f"the ledger is broken: {problem}")
        self.problem = problem
        self.sequence = sequence


class LedgerWentBackError(StorageError):
    """A ledger that no longer holds what it was seen to hold: an older copy, another one, or none.

    Whoever sold from it would sell again what was sold, as if nobody had bought it.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"the ledger has gone back: {problem}; sell nothing, put back its newest copy, and start again"
        )


class RemoteError(PacasError):
    """A provider at a URL that does not answer, does not let us in, or answers as no provider would."""


def did_you_mean(name: str, known: Iterable[str], most: int = 12) -> str:
    """The nearest known name, or the known names, as the end of an error message."""
    names = list(known)
    by_folded = {n.casefold(): n for n in reversed(names)}
    close = get_close_matches(name.casefold(), by_folded, n=1)
    if close:
        return f"did you mean {by_folded[close[0]]!r}?"
    shown = ", ".join(names[:most]) + (", …" if len(names) > most else "")
    return f"there is {shown}" if names else "there is none"
