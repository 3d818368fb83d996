"""PrivateClean and Greedy-Repair together: the baseline that the paper compares SafeClean with.

Paper: §7.1 (comparative baseline) and §7.6. The client's relation is privatized by GRR, with the same p = 0.5 for all
attributes; violations are found, and Greedy-Repair finds its updates, on the privatized relation, which is all that
a cleaner of PrivateClean ever sees; the updates are then applied as Transform operations.

The paper leaves open, and is read here as follows:

- *Which columns are randomized.* GRR is applied to all attributes: all columns, by default. `columns` narrows that, for
  example to the right sides, which leaves the X-groups whole and is far kinder to the baseline.
- *Numbers.* One p is given and no b: every column is discrete, unless `scales` says otherwise. With Laplace noise on an
  attribute of X, hardly two tuples would agree on it, and nothing would be found.
- *Where the updates go.* `updates` (the default) writes them into the client's own relation: a cell that Greedy-Repair
  leaves alone keeps the value that the client has, so that only updates count against the baseline. The paper measures
  the targets that Greedy-Repair recommends, which is that. `private` writes them into the privatized relation, as
  PrivateClean's Transform does: then all noise is measured, too.
- *Who is private.* The paper times the privatization of the client's relation: no provider and no money take part.

Either way the result is a relation of ground values, row by row the client's, for `score` to measure with
the δ that SafeClean is measured with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pacas.core.dependency import FunctionalDependency
from pacas.core.relation import Relation
from pacas.engine.contract import Engine
from pacas.engine.questions import embedded_engine
from pacas.errors import InputError, did_you_mean
from pacas.experiments.baselines.greedy_repair import GreedyRepair, greedy_repair, transform
from pacas.experiments.baselines.private_clean import Privatized, privatize

INTO = ("updates", "private")
"""What the updates are written into: the client's own relation, or the privatized one."""


@dataclass(frozen=True, eq=False)
class PrivateRepair:
    """The repaired relation, and the steps to it."""

    relation: Relation
    privatized: Privatized
    repair: GreedyRepair
    """On the privatized relation."""


def private_repair(
    relation: Relation,
    fds: str | Iterable[str | FunctionalDependency],
    *,
    seed: int,
    p: float = 0.5,
    columns: Iterable[str] | None = None,
    scales: Mapping[str, float] | None = None,
    into: str = "updates",
    engine: Engine[Any] | None = None,
) -> PrivateRepair:
    """Privatize a relation, repair it by what that shows, and apply the updates."""
    if into not in INTO:
        raise InputError(f"updates cannot go into {into!r}; {did_you_mean(into, INTO)}")
    engine = engine or embedded_engine()
    privatized = privatize(relation, p=p, seed=seed, columns=columns, scales=scales)
    repair = greedy_repair(privatized.relation, fds, engine=engine)
    repaired = transform(relation, repair.updates, engine=engine) if into == "updates" else repair.relation
    return PrivateRepair(repaired, privatized, repair)
