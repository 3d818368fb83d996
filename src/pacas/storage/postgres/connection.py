"""A connection to PostgreSQL whose waiting has an end, whether or not the server ever answers."""

from __future__ import annotations

from time import monotonic
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen

GRACE = 10.0
"""Seconds after a wait for others at which the server gives a statement up; twice that, and this side does."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that ends itself when it was waited for too long, or when another thread gives it up."""

    limit = 60.0
    """Seconds that a statement may take."""
    is_given_up = False

    def wait(self, gen: PQGen[RV], *given: Any, **options: Any) -> RV:
        return super().wait(self._bounded(gen), *given, **options)

    def _bounded(self, gen: PQGen[RV]) -> PQGen[RV]:
        """The same steps; psycopg comes by every 0.1 s even if nothing has arrived."""
        begun = monotonic()
        try:
            step = next(gen)
            while True:
                ready = yield step
                if not ready and (self.is_given_up or monotonic() - begun > self.limit):
                    self.pgconn.finish()
                    raise psycopg.OperationalError("the server did not answer")
                step = gen.send(ready)
        except StopIteration as end:
            result: RV = end.value
            return result
