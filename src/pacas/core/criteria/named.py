"""The criteria by name, as files and commands write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from pacas.core.criteria.closeness import Closeness
from pacas.core.criteria.criterion import Criterion, Number
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.criteria.entropy import EntropyDiversity
from pacas.core.criteria.recursive import RecursiveDiversity
from pacas.errors import InputError, did_you_mean

CRITERIA: Mapping[str, type[Any]] = {
    criterion.name: criterion for criterion in (DistinctValues, EntropyDiversity, RecursiveDiversity, Closeness)
}


def criterion_named(name: str, given: Mapping[str, Number | None]) -> Criterion:
    """A criterion by its name, with its parameters; those that are None are not given.

    >>> criterion_named("recursive", {"c": 3, "l": 2, "t": None})
    RecursiveDiversity(c=3, l=2)
    """
    if name not in CRITERIA:
        raise InputError(f"no criterion {name!r}; {did_you_mean(name, CRITERIA)}")
    takes = [field.name for field in fields(CRITERIA[name])]
    said = {parameter: value for parameter, value in given.items() if value is not None}
    for parameter in takes:
        if parameter not in said:
            raise InputError(f"criterion {name!r} takes {' and '.join(takes)}; {parameter} is missing")
    for parameter in said:
        if parameter not in takes:
            raise InputError(f"criterion {name!r} takes {' and '.join(takes)}; leave {parameter} out")
    made: Criterion = CRITERIA[name](**said)
    return made
