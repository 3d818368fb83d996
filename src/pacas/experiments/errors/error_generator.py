"""Errors put into a clean relation, as many as asked for, each of them known.

After BART (Arocena et al., "Messing up with BART", 2015). Constraint-induced errors break a dependency and are
*detectable*: undoing any one of them, with all others left in place, lowers the number of violations of its dependency
(`detectability.py`). That is seen to at the end, on the relation with all errors in it: those that do not show,
because others hide them, are taken back and replaced by others, until all show. Random errors strike blindly. Groups
that are overwritten (`overwritten_groups.py`) stay as they are, whether they show or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.core.relation import Relation
from pacas.engine.contract import Engine
from pacas.engine.questions import Data, as_source, embedded_engine
from pacas.errors import InputError, SchemaError, did_you_mean
from pacas.experiments.errors.constraint_errors import CleanGroups, Places, Side, no_place
from pacas.experiments.errors.detectability import apart, detectable, repairabilities, seen
from pacas.experiments.errors.dirty_relation import CellError, DirtyRelation, ErrorKind, Shortfall
from pacas.experiments.errors.error_columns import ErrorBatch, ErrorColumns
from pacas.experiments.errors.overwritten_groups import no_groups, overwrite
from pacas.experiments.errors.random_errors import SPOIL, USUAL, random_errors
from pacas.experiments.errors.rates import SIDES, Quota, Rate, check_rate, check_rates, quotas, tuples

ROUNDS = 20
"""How often errors that did not show are replaced by others."""

VALUES: Mapping[str, tuple[ErrorKind, ...]] = {
    "fresh": (ErrorKind.RHS_FRESH,),
    "domain": (ErrorKind.RHS_DOMAIN,),
    "both": (ErrorKind.RHS_FRESH, ErrorKind.RHS_DOMAIN),
}


class ErrorGenerator:
    """How to make a relation dirty.

    `rate` is the share of tuples with a constraint-induced error, spread evenly over the dependencies and the sides
    that `side` names (rhs, lhs, both), or a mapping with a rate each (`{"A -> B": 0.1, "C -> D:lhs": 0.05}`). `value`
    says what a right side gets: a fresh value, another one of its column (domain), or now this, now that (both).
    `random_rate` is the share of tuples with a random error of one of `kinds`, in `attributes` (by default those of the
    dependencies; all, if there are none). `overwritten` is the share of each dependency's groups of several rows in
    which a block of rows gets one other value, and `stale` that of those of three rows or more in which such a block is
    the majority, and not all. No tuple gets two errors, but by blocks of several dependencies.

    By default errors may share a group, of which one dependency's errors touch half at most: only so can large groups
    have many. If `non_interacting`, no X-group of any dependency, clean or dirty, holds the tuple of a
    constraint-induced error together with that of any other error. The same seed gives the same errors.
    """

    def __init__(
        self,
        fds: str | Iterable[str | FunctionalDependency] = (),
        *,
        rate: Rate = 0.0,
        side: str = "rhs",
        value: str = "both",
        random_rate: float = 0.0,
        overwritten: float = 0.0,
        stale: float = 0.0,
        kinds: Iterable[str] = USUAL,
        attributes: Sequence[str] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        non_interacting: bool = False,
        seed: int = 0,
    ) -> None:
        self.fds = FunctionalDependency.parse_all([fds] if isinstance(fds, str) else fds)
        self.side = _one_of(SIDES, side, "side")
        self.value = _one_of(VALUES, value, "way to choose a value")
        self.kinds = tuple(ErrorKind(_one_of(SPOIL, kind, "kind of random error")) for kind in kinds)
        self.rate = rate
        self.random_rate = check_rate(random_rate, "the rate of random errors")
        self.overwritten = check_rate(overwritten, "the share of overwritten groups", of="groups")
        self.stale = check_rate(stale, "the share of stale groups", of="groups")
        self.attributes = attributes
        self.hierarchies = dict(hierarchies or {})
        self.non_interacting = non_interacting
        self.seed = seed
        together = check_rates(rate, self.fds, side) + self.random_rate
        if together > 1:
            raise InputError(f"the rates come to {together:g} errors a tuple, and no tuple gets two; lower them")
        if isinstance(rate, float | int) and rate > 0 and not self.fds:
            raise InputError("a rate, and no dependency to break; give at least one, such as 'GEN, DIAG -> MED'")
        if (self.overwritten or self.stale) and not self.fds:
            raise InputError("groups to overwrite, and no dependency; give at least one, such as 'GEN, DIAG -> MED'")
        if self.overwritten and self.stale:
            raise InputError("groups are overwritten, or stale; leave out one of the two")
        if (self.overwritten or self.stale) and non_interacting:
            raise InputError("errors of an overwritten group share it; they cannot be non-interacting, too")
        if self.random_rate and not self.kinds:
            raise InputError(f"random errors, and no kind of them; {did_you_mean('', SPOIL)}")

    def check(self, columns: Sequence[str], where: str) -> None:
        """Raise unless a relation with these columns has all attributes that are named."""
        for fd in self.fds:
            fd.check(columns, where)
        for attribute in (*self.hierarchies, *(self.attributes or ())):
            if attribute not in columns:
                raise SchemaError.missing(attribute, columns, where)

    def dirty(self, data: Data, *, engine: Engine[Any] | None = None) -> DirtyRelation:
        """Put errors into a table in memory, or a file's (`pacas.scan_relation`)."""
        engine = engine or embedded_engine()
        source = as_source(data)
        self.check(source.columns, source.name)
        table = engine.open(source)
        named = list(dict.fromkeys(a for fd in self.fds for a in fd.attributes))
        run = _Run(self, ErrorColumns(engine.columns(table, named) if named else {}, self.hierarchies, len(table)))
        if self.overwritten or self.stale:
            run.overwrite()
        if self.random_rate:
            struck = list(dict.fromkeys(self.attributes or named or source.columns))
            run.strike(engine.rows(table, None, struck))
        run.break_dependencies()
        errors = run.errors()
        texts = engine.rows(table, None, list({error.attribute: None for error in errors}) or source.columns[:1])
        clean = source if isinstance(source, Relation) else Relation(engine.rows(table, None, source.columns))
        return DirtyRelation(clean, errors, tuple(run.short), run.left_alone, texts, run.overwritten_whole)


class _Run:
    """One relation being made dirty."""

    def __init__(self, how: ErrorGenerator, clean: ErrorColumns) -> None:
        self.short: list[Shortfall] = []
        self.left_alone: dict[FunctionalDependency, int] = {}
        self.overwritten_whole: dict[FunctionalDependency, int] = {}
        self._how, self._clean = how, clean
        self._rng = np.random.default_rng(how.seed)
        self._taken: NDArray[np.bool_] = np.zeros(clean.rows, dtype=np.bool_)
        self._errors = ErrorBatch.joined([])

    def overwrite(self) -> None:
        """Overwrite blocks of groups. Every dependency has its share, so that a tuple may be in a block of several."""
        for number, fd in enumerate(self._how.fds):
            groups = CleanGroups(self._clean, fd, number, one_each=False)
            share, stale = self._how.overwritten or self._how.stale, bool(self._how.stale)
            done = overwrite(groups, share, self._errors, self._rng, stale=stale)
            self._add(done.errors)
            self.left_alone[fd], self.overwritten_whole[fd] = groups.violating, done.whole
            if done.made < done.asked:
                self.short.append(Shortfall(f"{fd}:overwritten", done.asked, done.made))
        if not len(self._errors):
            raise no_groups(self._how.overwritten or self._how.stale)

    def strike(self, texts: pa.Table) -> None:
        """Put random errors in."""
        how = self._how
        asked = tuples(how.random_rate, self._clean.rows, "the rate of random errors")
        free = np.flatnonzero(~self._taken)
        rows = np.sort(self._rng.choice(free, min(asked, len(free)), replace=False))
        columns = dict(zip(texts.column_names, texts.columns, strict=True))
        made = random_errors(columns, rows, how.kinds, self._rng)
        self._add(made)
        if len(made) < asked:
            self.short.append(Shortfall("random", asked, len(made)))

    def break_dependencies(self) -> None:
        """Put constraint-induced errors in, and replace those that do not show."""
        how = self._how
        wanted = [q for q in quotas(how.rate, how.fds, how.side, self._clean.rows) if q.asked]
        used = {q.fd: how.fds.index(q.fd) for q in wanted}
        groups = {fd: CleanGroups(self._clean, fd, number, one_each=how.non_interacting) for fd, number in used.items()}
        places = {q: Places(groups[q.fd], q.side, VALUES[how.value], self._rng) for q in wanted}
        for _ in range(ROUNDS):
            before = len(self._errors)
            missing = {q: q.asked - self._made(q) for q in wanted}
            for quota in wanted:
                self._add(places[quota].offer(missing[quota], self._taken))
            if len(self._errors) == before:
                break
            self._settle()
        self.left_alone |= {fd: found.violating for fd, found in groups.items()}
        self.short += [Shortfall(str(q), q.asked, n) for q in wanted if (n := self._made(q)) < q.asked]
        if wanted and not any(map(self._made, wanted)):
            raise InputError(no_place(wanted[0], groups[wanted[0].fd]))

    def errors(self) -> tuple[CellError, ...]:
        """What was put in, in row order, with how hard each is to repair, and whether a violation shows it."""
        columns = self._clean.with_errors(self._errors)
        return self._errors.cells(self._how.fds, repairabilities(columns, self._how.fds), seen(columns, self._how.fds))

    def _made(self, quota: Quota) -> int:
        """How many errors a side of a dependency has."""
        kinds = [ErrorKind.LHS_DOMAIN] if quota.side is Side.LHS else list(VALUES["both"])
        of_side = np.isin(self._errors.kind, kinds)
        return int((of_side & (self._errors.fd == self._how.fds.index(quota.fd))).sum())

    def _add(self, errors: ErrorBatch) -> None:
        self._errors = ErrorBatch.joined([self._errors, errors])
        self._taken[errors.row] = True

    def _settle(self) -> None:
        """Take errors back until all that are left show, and, if so asked, stand apart."""
        columns = self._clean.with_errors(self._errors)
        if self._how.non_interacting:
            columns = self._keep(columns, apart(columns, self._how.fds))
        while not (shows := detectable(columns, self._how.fds)).all():
            columns = self._keep(columns, shows)

    def _keep(self, columns: ErrorColumns, kept: NDArray[np.bool_]) -> ErrorColumns:
        self._taken[self._errors.row[~kept]] = False
        self._errors = self._errors[kept]
        return self._clean.with_errors(self._errors)


def _one_of(known: Iterable[str], name: str, what: str) -> str:
    names = [str(one) for one in known]
    if name not in names:
        raise InputError.unknown(what, name, names)
    return name
