"""What only the truth can tell of a client that weighed: how good a free vote was, and what the money has brought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pacas.client.outcome.changes import with_changes
from pacas.client.outcome.judgement import Judgement
from pacas.client.outcome.score import Score, score
from pacas.core.relation import Relation
from pacas.engine.contract import Engine, Hierarchies
from pacas.engine.questions import Data


@dataclass(frozen=True, slots=True)
class Hindsight:
    """A cleaning's ways not taken, against the truth."""

    vote: Score
    """What a free vote would have come to."""
    errors: tuple[tuple[int, float], ...]
    """(nanocredits spent, repair error) at each point at which all was weighed: as if the cleaning had ended there."""

    @classmethod
    def of(
        cls, judgement: Judgement, dirty: Relation, truth: Data, hierarchies: Hierarchies, engine: Engine[Any]
    ) -> Hindsight:
        vote = score(with_changes(dirty, judgement.vote, engine), truth, dirty, hierarchies, engine=engine)
        stages = [judgement.changes_at(point) for point in range(len(judgement.expected))]
        moving = [name for name in vote.attributes if any(name in stage for stage in stages)]
        before = {name: found.repair_error_before or 0.0 for name, found in vote.attributes.items()}
        still = sum(error for name, error in before.items() if name not in moving)
        some = Relation(dirty.table.select(moving))  # the others are as they were, whatever is spent
        errors = []
        for (spent, _), stage in zip(judgement.expected, stages, strict=True):
            repaired = with_changes(some, {name: stage[name] for name in moving if name in stage}, engine)
            found = score(repaired, truth, None, hierarchies, engine=engine).repair_error if moving else 0.0
            errors.append((spent, still + found))
        return cls(vote, tuple(errors))
