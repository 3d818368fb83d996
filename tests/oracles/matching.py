"""Record matching (§5.1): a client's value against a provider's, one pair at a time.

What each way of being alike means, exactly:

- `=`: the same value; the same number, where the provider column's hierarchy is numeric.
- `within N`: both are decimal numbers and |client − provider| ≤ N, exactly. What is no number is within nothing.
- `edit θ`: 1 − d / (length of the longer text) ≥ θ, d being Levenshtein's distance.
- `jaro_winkler θ`: Jaro's similarity; where it is over 0.7, it gains a tenth of what lacks to 1 for each of the first
  (up to four) characters that agree.
- `qgram θ`: Dice over multisets of 2-grams, 2·|P ∩ Q| / (|P| + |Q|), each text padded to `#text$`.
- `compatible`: the provider's value is the client's or lies below it.
- `normalized`: both name the same day, or the same number, or are the same text but for case, compatibility forms and
  white space. A date that could be two days (4/5/2016) is like one that is written like it, up to zeros; `normalized
  dmy` and `mdy` say which day it is.

A null (an empty text) is like nothing, another null included. Texts are compared as they are written: case and white
space count, and a measure of similarity knows nothing of numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, time
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from oracles.cleaning import Row, tree_of
from oracles.tree import Tree, Value


class Clause(NamedTuple):
    """One conjunct of a matching dependency: the client's column is like the provider's."""

    client: str
    provider: str
    how: str = "="
    threshold: float = 0.0


ZONES = ("z", "+00:00")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

Match = tuple[Clause, ...]
"""A matching dependency: all clauses hold."""


def matching_rows(
    match: Match, values: Mapping[str, Value], rows: Sequence[Row], trees: Mapping[str, Tree]
) -> list[Row]:
    """σ_match(R) for a client's tuple."""
    return [
        row
        for row in rows
        if all(alike(c, values[c.client], row[c.provider], tree_of(c.provider, trees)) for c in match)
    ]


def alike(clause: Clause, client: Value, provider: Value, tree: Tree) -> bool:
    """Does the clause hold for these two values? The tree is the provider column's."""
    if not client or not provider:
        return False
    match clause.how:
        case "=":
            return tree.key(client) == tree.key(provider)
        case "within":
            return within(client, provider, clause.threshold)
        case "compatible":
            return tree.precedes(provider, client)
        case "normalized" | "normalized dmy" | "normalized mdy":
            order = clause.how.partition(" ")[2]
            return meaning(client, order) == meaning(provider, order)
        case _:
            return SIMILARITIES[clause.how](client, provider) >= clause.threshold


def within(client: str, provider: str, tolerance: float) -> bool:
    if not NUMBER.fullmatch(client) or not NUMBER.fullmatch(provider):
        return False
    return abs(Fraction(client) - Fraction(provider)) <= Fraction(repr(tolerance))


@cache
def meaning(value: str, order: str) -> object:
    """What a text says, to somebody who tries all readings: a moment, a number, or itself."""
    text = " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", value).casefold()).split())
    if NUMBER.fullmatch(text) and abs(number := float(text)) < 1e15:
        text = str(int(text)) if text.isdecimal() else text
        whole = str(int(number)) if number == int(number) else ""
        day = re.fullmatch(r"(19|20)[0-9]{6}", whole) and _moments(whole, ["%Y%m%d"])
        return next(iter(day)) if day else number
    sure = ["%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y"] if _has_clock_or_digits(text) else []
    named = [f"%d{s}{m}{s2}%Y" for m in ("%b", "%B", "%b.", "%B.") for s in " -" for s2 in " -"]
    named += [f"{m} %d{s} %Y" for m in ("%b", "%B", "%b.", "%B.") for s in ("", ",")]
    found = _moments(re.sub(r"\bsept\b", "sep", text), named) or _moments(text, _with_clocks(sure))
    if found:
        return _day_of_utc(found.pop(), text)
    by_order = {"dmy": ["%d/%m/%Y", "%d-%m-%Y"], "mdy": ["%m/%d/%Y", "%m-%d-%Y"]}
    chosen = by_order.get(order, [*by_order["dmy"], *by_order["mdy"]])
    found = _moments(text, _with_clocks(chosen)) if _has_clock_or_digits(text) else set()
    if len(found) == 1:
        return _day_of_utc(found.pop(), text)
    return [int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", text)] if found else text


def _day_of_utc(moment: datetime, text: str) -> object:
    """A moment by the clock of UTC is a day at midnight, and else itself: nobody knows by whose clock others go."""
    return text if text.endswith(ZONES) and moment.time() != time() else moment


def _has_clock_or_digits(text: str) -> bool:
    """No reading of strptime's but ours: the year in four digits, the others in one or two, no spaces inside."""
    one_or_two = r"[0-9]{1,2}"
    day = rf"([0-9]{{4}}[-/.]{one_or_two}[-/.]{one_or_two}|{one_or_two}[-/.]{one_or_two}[-/.][0-9]{{4}})"
    return re.fullmatch(rf"{day}([t ]{one_or_two}:[0-9]{{2}}(:[0-9]{{2}}(\.0+)?)?(z|\+00:00)?)?", text) is not None


def _with_clocks(days: Sequence[str]) -> list[str]:
    clocks = [f"{sign}{clock}{zone}" for sign in " t" for clock in ("%H:%M", "%H:%M:%S") for zone in ("", *ZONES)]
    return [f"{day}{clock}" for day in days for clock in ("", *clocks)]


def _moments(text: str, formats: Sequence[str]) -> set[datetime]:
    found = set()
    for one in formats:
        with suppress(ValueError):
            found.add(datetime.strptime(re.sub(r"(:[0-9]{2})\.0+(?=z|\+|$)", r"\1", text), one))
    return found


def edit_similarity(one: str, other: str) -> float:
    return 1.0 - levenshtein(one, other) / max(len(one), len(other))


@cache
def levenshtein(one: str, other: str) -> int:
    """The fewest insertions, deletions and replacements of a character that turn one text into the other."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        levenshtein(one[1:], other) + 1,
        levenshtein(one, other[1:]) + 1,
        levenshtein(one[1:], other[1:]) + (one[0] != other[0]),
    )


def jaro(one: str, other: str) -> float:
    """Characters match that are equal and near; half of those that stand in another order count as transposed."""
    near = max(max(len(one), len(other)) // 2 - 1, 0)
    taken: dict[int, int] = {}  # position in `other` -> position in `one`
    for i, character in enumerate(one):
        for j in range(max(i - near, 0), min(i + near + 1, len(other))):
            if other[j] == character and j not in taken:
                taken[j] = i
                break
    if not taken:
        return 0.0
    matched = len(taken)
    in_one, in_other = [one[i] for i in sorted(taken.values())], [other[j] for j in sorted(taken)]
    transposed = sum(a != b for a, b in zip(in_one, in_other, strict=True)) // 2
    return (matched / len(one) + matched / len(other) + (matched - transposed) / matched) / 3


def jaro_winkler(one: str, other: str) -> float:
    similarity, prefix = jaro(one, other), 0
    while prefix < min(4, len(one), len(other)) and one[prefix] == other[prefix]:
        prefix += 1
    return similarity + prefix * 0.1 * (1 - similarity) if similarity > 0.7 else similarity


def qgram_similarity(one: str, other: str) -> float:
    grams = [Counter(padded[i : i + 2] for i in range(len(padded) - 1)) for padded in (f"#{one}$", f"#{other}$")]
    return 2 * (grams[0] & grams[1]).total() / (grams[0].total() + grams[1].total())


SIMILARITIES: dict[str, Callable[[str, str], float]] = {
    "edit": edit_similarity,
    "jaro_winkler": jaro_winkler,
    "qgram": qgram_similarity,
}
