"""Synthetic data sets of the paper's shapes, made from a seed; they need no files.

Columns are drawn independently, each with few frequent and many rare values, so that X-groups differ in size. A right
side is drawn once for each left side, so that its dependency holds. One column of each left side has a domain that
grows with the rows, so that classes have about sixty rows at any scale, or more where its growth is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
import pyarrow as pa

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import ROOT, Hierarchy
from pacas.core.histogram import Ints
from pacas.core.relation import Relation
from pacas.experiments.datasets.curation import Curation
from pacas.experiments.datasets.dataset import Dataset, left_sides

ROWS_PER_CLASS = 60
SKEW = 0.5
"""The i-th value of a column is drawn with a weight of 1 / i to this power."""


@dataclass(frozen=True)
class Shape:
    """A data set to be made: its size, the domains of its left sides, and the trees of its right sides.

    `growing` bounds the domains that grow with the rows. A tree is given by the number of values on each level below
    the root; four values of level 2 below each of level 3 leave room for k up to 4 there, and above it for more.
    """

    rows: int
    columns: int
    quasi_identifiers: tuple[str, ...]
    fds: tuple[FunctionalDependency, ...]
    domains: Mapping[str, int]
    growing: Mapping[str, int]
    trees: Mapping[str, tuple[int, ...]]


CLINICAL = Shape(
    345_000,
    29,
    ("country", "gender", "source", "age"),
    FunctionalDependency.parse_all(
        ["age, overall_status, gender -> drug_name", "overall_status, timeframe, measure -> condition"]
    ),
    {"country": 4, "gender": 2, "source": 3, "overall_status": 8, "timeframe": 6},
    {"age": 90, "measure": 200},
    {"drug_name": (73, 42, 28, 7, 3), "condition": (61, 36, 24, 6, 3)},
)
CENSUS = Shape(
    300_000,
    40,
    ("sex", "age", "race", "native_country"),
    FunctionalDependency.parse_all(
        ["age, education_num -> education", "age, industry_code, occupation -> wage_per_hour"]
    ),
    {"sex": 2, "race": 3, "native_country": 4, "education_num": 17, "industry_code": 6, "occupation": 5},
    {"age": 90},
    {"education": (17, 14, 12, 3), "wage_per_hour": (250, 125, 50, 12, 4)},
)
FOOD = Shape(
    30_000,
    11,
    ("inspection_type", "borough", "grade"),
    FunctionalDependency.parse_all(
        ["borough, zipcode -> address", "violation_code, inspection_type -> violation_description"]
    ),
    {"inspection_type": 6, "borough": 5, "grade": 4},
    {"zipcode": 250, "violation_code": 250},
    {"address": (248, 124, 48, 12, 4), "violation_description": (70, 40, 28, 7, 3)},
)
SHAPES = {"clinical": CLINICAL, "census": CENSUS, "food": FOOD}


def load_synthetic(name: str, rows: int | None, seed: int) -> Dataset:
    """A data set of the named shape, with as many rows as asked for."""
    shape = SHAPES[name]
    many = shape.rows if rows is None else rows
    random = np.random.default_rng(seed)
    codes = {column: _drawn(random, size, many) for column, size in domains(shape, many).items()}
    columns = {column: _texts(column, drawn) for column, drawn in codes.items()}
    for fd in shape.fds:
        right = _determined(random, shape.trees[fd.rhs][0], [codes[column] for column in fd.lhs])
        columns[fd.rhs] = _texts(fd.rhs, right)
    for i in range(shape.columns - len(columns)):
        columns[f"other_{i + 1}"] = _texts(f"other_{i + 1}", _drawn(random, 5 + 7 * i, many))
    return Dataset(
        name=f"synthetic-{name}",
        truth=Relation(pa.table(columns)),
        fds=shape.fds,
        hierarchies={attribute: tree(attribute, widths) for attribute, widths in shape.trees.items()},
        match=left_sides(shape.fds),
        quasi_identifiers=shape.quasi_identifiers,
        source=f"made from seed {seed}",
        curation=Curation(many),
        max_matches=many,
    )


def tree(attribute: str, widths: Sequence[int]) -> Hierarchy:
    """A tree with so many values on each level, shared out evenly.

    >>> list(tree("drug", (4, 2)).rows())[-1]
    ('drug 3', 'drug group 1.1', '*')
    """
    rows = []
    for leaf in range(widths[0]):
        line, at = [f"{attribute} {leaf}"], leaf
        for level, (below, above) in enumerate(pairwise(widths), start=1):
            at = at * above // below
            line.append(f"{attribute} group {level}.{at}")
        rows.append((*line, ROOT))
    return Hierarchy.from_rows(rows)


def domains(shape: Shape, rows: int) -> dict[str, int]:
    """The size of each column's domain; one that grows takes what keeps classes at about sixty rows."""
    sizes = dict(shape.domains)
    for fd in shape.fds:
        fixed = prod(sizes.get(column, 1) for column in fd.lhs)
        for column in fd.lhs:
            if column in shape.growing and column not in sizes:
                sizes[column] = min(max(round(rows / ROWS_PER_CLASS / fixed), 2), shape.growing[column])
    return sizes


def _drawn(random: np.random.Generator, size: int, rows: int) -> Ints:
    """Values of a domain, the first ones more often."""
    weight = 1.0 / np.arange(1, size + 1) ** SKEW
    edges = np.cumsum(weight / weight.sum())
    return np.searchsorted(edges[:-1], random.random(rows), side="right").astype(np.int64)


def _determined(random: np.random.Generator, values: int, left: Sequence[Ints]) -> Ints:
    """A value for each left side: drawn once, so that equal left sides share it."""
    group = np.zeros(len(left[0]), dtype=np.int64)
    for column in left:
        group = np.unique(group * (int(column.max()) + 1) + column, return_inverse=True)[1]
    return _drawn(random, values, int(group.max()) + 1)[group]


def _texts(column: str, codes: Ints) -> pa.Array:
    labels = pa.array([f"{column} {i}" for i in range(int(codes.max()) + 1)])
    return labels.take(pa.array(codes))
