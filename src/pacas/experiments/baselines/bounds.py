"""Two bounds around what a purchase can do: nothing is bought, and everything is, without any privacy.

Where SafeClean's repair error lies between theirs says how much it makes of what could be bought.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pacas.client.classes.check import check
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.safe_clean import SafeClean
from pacas.core.consistency import GroupedRows
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.core.histogram import Ints
from pacas.core.relation import Relation
from pacas.engine.contract import Engine, Hierarchies
from pacas.engine.questions import Data, embedded_engine
from pacas.experiments.baselines.class_values import ClassValues
from pacas.experiments.baselines.greedy_repair import Update, transform, updates_of
from pacas.provider.provider import Provider
from pacas.provider.support.support_set import Generated

TOTAL = 100
"""What all that the provider without policies has is sold for, in credits. No price is ever more."""

ANY_NUMBER = 2**62
"""Of rows that a tuple may be matched with: X-groups can be large."""


def no_purchase(
    relation: Relation,
    fds: str | Iterable[str | FunctionalDependency],
    hierarchies: Hierarchies | None = None,
    *,
    engine: Engine[Any] | None = None,
) -> Relation:
    """Without any purchase: each unresolved class gets the value that most of its cells have.

    Ties: the one that stands first. A null is no evidence. The classes are those of the relation as it is given.
    """
    engine = engine or embedded_engine()
    classes = check(relation, [fds] if isinstance(fds, str) else fds, hierarchies, engine=engine).classes
    updates: list[Update] = []
    for attribute, cells in classes.cells.items():
        if len(cells):
            updates += _majority(engine, relation, attribute, cells)
    return transform(relation, updates, engine=engine)


def no_privacy(
    relation: Relation,
    truth: Data,
    fds: str | Iterable[str | FunctionalDependency],
    match: Mapping[str, str | MatchingDependency],
    hierarchies: Hierarchies | None = None,
    *,
    engine: Engine[Any] | None = None,
) -> Cleaning:
    """With everything for sale at level 0: SafeClean on a provider of the truth who has no policies.

    The provider finds tuples by `match`, as any other would. The money never runs out: all that is there costs `TOTAL`
    at most, and every class may spend as much.
    """
    engine = engine or embedded_engine()
    dependencies = FunctionalDependency.parse_all([fds] if isinstance(fds, str) else fds)
    classes = check(relation, dependencies, hierarchies, engine=engine).classes
    provider = Provider(
        truth,
        match=match,
        hierarchies=hierarchies,
        support=Generated(per_cell=1),
        total=TOTAL,
        max_matches=ANY_NUMBER,
        seed=0,
        engine=engine,
    )
    budget = TOTAL * (len(classes) + 1)
    how = SafeClean(dependencies, budget, hierarchies=hierarchies, max_level=0, allocation="uniform", repair="replace")
    return how.clean(relation, provider, engine=engine)


def _majority(engine: Engine[Any], relation: Relation, attribute: str, cells: GroupedRows) -> list[Update]:
    codes = cells.codes.astype(np.int64)
    told = np.array([label is not None for label in cells.hierarchy.labels], dtype=np.bool_)
    values = ClassValues.of(cells.groups, codes, cells.rows, np.ones(len(codes), dtype=np.int64)).only(told)
    chosen = values.heaviest()
    differs = np.flatnonzero(values.code[chosen][cells.groups] != codes)
    texts = engine.rows(engine.open(relation, [attribute]), values.first[chosen], [attribute]).column(0)
    coded = texts.combine_chunks().dictionary_encode()
    target: Ints = coded.indices.to_numpy().astype(np.int64)[cells.groups]
    return updates_of(attribute, cells.rows[differs], target[differs], coded.dictionary.to_pylist())
