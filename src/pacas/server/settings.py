"""What a provider's service allows: how much may be asked at once, how often, and whether refusals say why."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The limits of a service, the same for each account."""

    quotes_per_minute: int = 600_000
    """Tuples that an account may ask about, refusals included; so many may come at once after a quiet minute."""
    max_body_bytes: int = 16 * MEBIBYTE
    max_batch: int = 100_000
    """Requests in one call."""
    reasons: bool = False
    """Whether a refusal says why."""

    @property
    def batch(self) -> int:
        """Requests in one call; never more than an account may ask in a minute, or the call could not be answered."""
        return min(self.max_batch, self.quotes_per_minute)
