"""Countries and states of the USA, by what everybody knows of them: small lists, with other names that are in use.

Countries stand in the regions and continents of the United Nations' M49, states in the Census Bureau's divisions and
regions.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pacas.core.builders.labelled_values import OTHER, labelled_tree
from pacas.suggest.coded_table import ProfiledColumn
from pacas.suggest.hierarchies.built_tree import DraftHierarchy

KNOWN, KNOWN_ROWS = 0.8, 0.95
"""The share of a column's values that a list must know to be the column's; or else, with many typos, of its rows."""
FEWEST = 4
"""Values that it must know at least."""
LONGEST = 60
LISTS = {"countries": "countries by region and continent", "us_states": "states by division and region"}
_NO_LETTER = re.compile(r"[^a-z]+")


@dataclass(frozen=True, slots=True)
class PublicList:
    """Names that many tables have, each with its labels from level 1 up."""

    how: str
    labels: Mapping[str, tuple[str, str]]
    """By name and alias, as `plain` writes them; codes as they are, dots left out."""

    def find(self, value: str) -> tuple[str, str] | None:
        if len(value) > LONGEST:
            return None
        return self.labels.get(value.replace(".", "").strip()) or self.labels.get(plain(value))


def listed(column: ProfiledColumn) -> DraftHierarchy | None:
    """The hierarchy of the list that knows most of a column's values; what it does not know is `other`."""
    if len(column.values) > 20 * len(public_list("countries").labels):
        return None
    best = max((public_list(name) for name in LISTS), key=lambda one: _known(one, column))
    values, rows = _known(best, column)
    if values < FEWEST or (values < KNOWN * len(column.values) and rows < KNOWN_ROWS * column.present):
        return None
    labels = {value: best.find(value) or (OTHER, OTHER) for value in column.values}
    return DraftHierarchy(best.how, labelled_tree(labels))


def _known(one: PublicList, column: ProfiledColumn) -> tuple[int, int]:
    """How many values of a column a list knows, and how many rows have one of them."""
    known = [one.find(value) is not None for value in column.values]
    return sum(known), int(column.counts[known].sum())


@cache
def public_list(name: str) -> PublicList:
    """One of `LISTS`, from its file beside this module."""
    labels: dict[str, tuple[str, str]] = {}
    for called, codes, near, far, aliases in read_list(name):
        for alias in (called, *filter(None, aliases.split(";"))):
            labels[plain(alias)] = (near, far)
        for code in codes.split(";"):
            labels[code] = (near, far)
    return PublicList(LISTS[name], labels)


def read_list(name: str) -> list[list[str]]:
    """The lines of a list's file: name, codes, two labels, aliases."""
    text = files(__package__).joinpath(f"{name}.csv").read_text("utf-8")
    return list(csv.reader(text.splitlines()))[1:]


def plain(name: str) -> str:
    """A name without accents, signs, capitals and the like: what stays of all its spellings.

    >>> plain("Côte d'Ivoire"), plain("Trinadad&Tobago"), plain("Bahamas, The")
    ('cote d ivoire', 'trinadad and tobago', 'bahamas')
    """
    letters = unicodedata.normalize("NFKD", name.replace("&", " and ").replace(".", "").replace("ı", "i")).casefold()
    bare = "".join(c for c in letters if not unicodedata.combining(c))
    words = _NO_LETTER.sub(" ", bare).split()
    return " ".join("saint" if word == "st" else word for word in words if word != "the")
