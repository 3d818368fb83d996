"""A generalization hierarchy as its rows say it, one row per ground value from the value to the root (§2.2, D1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import pairwise

Value = str | None


@cache
def as_number(text: str) -> str:
    """One spelling per number."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    if not number.is_finite():
        return text
    return str(int(number)) if number == int(number) else format(number.normalize(), "f")


class Tree:
    """Values and their parents. An unknown value and the null hang right under the root.

    Answers are remembered; that is all the cleverness there is.
    """

    def __init__(self, rows: Iterable[Sequence[str]], *, root: str | None = None, numeric: bool = False) -> None:
        self.numeric = numeric
        self.rows = [[as_number(v) if numeric else v for v in row] for row in rows]
        self.root = root if root is not None else self.rows[0][-1]
        self.height = len(self.rows[0]) - 1 if self.rows else 1
        self.known = {v for row in self.rows for v in row} | {self.root}
        for question in ("parent", "ancestors", "precedes", "level", "is_ground", "generalize"):
            setattr(self, question, cache(getattr(self, question)))

    @classmethod
    def flat(cls) -> Tree:
        """The hierarchy of an attribute that has none: its values and `*`."""
        return cls([], root="*")

    def key(self, value: Value) -> Value:
        return as_number(value) if self.numeric and value is not None else value

    def parent(self, value: Value) -> Value:
        """The next other value in a row that holds it; the root for what no row holds."""
        value = self.key(value)
        assert value != self.root
        for row in self.rows:
            for below, above in pairwise(row):
                if below == value and above != value:
                    return above
        return self.root

    def ancestors(self, value: Value) -> list[Value]:
        """The value, its parent, …, the root."""
        value = self.key(value)
        return [value] if value == self.root else [value, *self.ancestors(self.parent(value))]

    def precedes(self, a: Value, b: Value) -> bool:
        """a ⪯ b."""
        return self.key(b) in self.ancestors(a)

    def comparable(self, a: Value, b: Value) -> bool:
        return self.precedes(a, b) or self.precedes(b, a)

    def lca(self, a: Value, b: Value) -> Value:
        return next(v for v in self.ancestors(a) if v in self.ancestors(b))

    def level(self, value: Value) -> int:
        """The lowest level on which the value stands."""
        value = self.key(value)
        levels = [at for row in self.rows for at, v in enumerate(row) if v == value]
        return min(levels) if levels else self.height if value == self.root else 0

    def is_ground(self, value: Value) -> bool:
        """No other value lies below it. The null is nobody's ground value."""
        value = self.key(value)
        if value is None or value == self.root:
            return False
        return not any(v != value and self.precedes(v, value) for v in self.known)

    def base(self, value: Value) -> set[str]:
        """The ground values at or below it."""
        return {v for v in self.known if self.is_ground(v) and self.precedes(v, value)}

    def generalize(self, value: Value, level: int) -> Value:
        """The value's ancestor at the level, or the value itself if it is at that level or above."""
        value = self.key(value)
        if value not in self.known:
            return self.root if level == self.height else value
        if self.level(value) >= level:
            return value
        (above,) = {row[level] for row in self.rows if value in row[: level + 1]}
        return above
