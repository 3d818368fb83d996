"""Who is told of what a service refuses, where somebody asks for it."""

from __future__ import annotations

from typing import Protocol


class Watch(Protocol):
    """Is told what was refused: to whom, why, how often. Never what was asked for. It may be told by any thread."""

    def refused(self, account: str, reason: str, count: int) -> None:
        """So many refusals to an account, of quotes or of purchases; the reason is the true one."""

    def turned_away(self, account: str, status: int) -> None:
        """A call was not answered for who asked, or how often: 401 or 429. Without a token it is nobody's."""
