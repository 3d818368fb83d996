"""What came of several providers in one cleaning: who was away, and how often each was right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class PanelSummary:
    """The providers of a cleaning that had several."""

    providers: tuple[str, ...]
    """By name, in the order in which they were given."""
    away: Mapping[str, str]
    """Who did not answer in the end, or did not keep to its words, and why: a line each."""
    reliabilities: Mapping[str, Mapping[str | None, float]]
    """Per attribute and source, how often it is right, as learnt; None is the client's own majority."""

    paid: Mapping[str, int] = field(default_factory=dict)
    """What was paid to each, in nanocredits: together what was spent."""
    overcharged: Mapping[str, int] = field(default_factory=dict)
    """What some say they took beyond what they were allowed to: it is not in what was paid, nor in what was spent."""
    open_nanocredits: int = 0
    """What orders may have cost that no answer came to: it is kept aside, and is not in what was spent."""

    @property
    def names(self) -> tuple[str, ...]:
        """All that were named, those that were left out from the start at the end."""
        return tuple(dict.fromkeys([*self.providers, *self.away]))
