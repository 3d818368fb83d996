"""A claim: a sentence about the evaluation, the figure that shows it, and what judges it; and what came of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pacas.experiments.verdicts import Judge


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, the figure that shows it, and how it is judged."""

    claim: str
    figure: str
    judge: Judge
    why: str
    """What makes it hold or fail."""
    in_paper: bool = True
    """Does the paper say it? Some questions are ours."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, judged; `agrees` is None where its figure was not run."""

    claim: str
    figure: str
    agrees: bool | None
    measured: str
    why: str
    in_paper: bool = True

    def as_dict(self) -> dict[str, Any]:
        return {
            "claim": self.claim,
            "agrees": self.agrees,
            "figure": self.figure,
            "measured": self.measured,
            "in_paper": self.in_paper,
        }
