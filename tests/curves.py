"""A true table, spoiled on purpose, and what each budget makes of it. The tests and `make bench` share these curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.score import Score
from pacas.client.safe_clean import SafeClean
from pacas.core.anonymity import Policy
from pacas.core.dependency import FunctionalDependency
from pacas.core.hierarchy import Hierarchy
from pacas.engine.duck.engine import DuckEngine
from pacas.engine.hierarchy_files import read_hierarchy
from pacas.provider.provider import Provider

ENGINE = DuckEngine(threads=1)
K = 3
WRONG = 0.1
"""The share of tuples that get an error."""
CREDITS = ("0.0001", "0.001", "0.01", "0.03", "0.1", "0.3", "1")
PROVIDER_SEED = 7
RECORD = "record"
"""A column that tells rows apart, where a provider finds people one by one."""
ADULT_FDS = ("age, education-num -> education", "age, sex, relationship -> marital-status")
ADULT_GROUPS = ("sex", "race", "native-country")


@dataclass(frozen=True)
class World:
    """A true table, its dependencies, and a provider that has it and sells the right-hand sides.

    With `groups`, people are found by a dependency's left side, and the groups of these columns must stay linked to
    `K` values: then all levels are for sale (the policy needs `allow_linkage`, D5). Without, they are found one by
    one, and each must stay linked to `K` values: then nothing ground is for sale.
    """

    truth: pa.Table
    fds: tuple[FunctionalDependency, ...]
    hierarchies: Mapping[str, Hierarchy]
    groups: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, truth: pa.Table, fds: Sequence[str], hierarchies: Mapping[str, Hierarchy], groups: Sequence[str]
    ) -> World:
        numbered = truth.append_column(RECORD, pa.array([f"r{i}" for i in range(len(truth))]))
        return cls(numbered, FunctionalDependency.parse_all(fds), hierarchies, tuple(groups))

    def one_by_one(self) -> World:
        """The same, with people found one by one."""
        return replace(self, groups=())

    def provider(self) -> Provider:
        """It tells the truth, and has sold nothing yet."""
        match = {fd.rhs: fd.lhs if self.groups else (RECORD,) for fd in self.fds}
        x = self.groups or (RECORD,)
        return Provider(
            self.truth,
            match={a: ", ".join(f"{column} = {column}" for column in columns) for a, columns in match.items()},
            policies=[Policy(x, (fd.rhs,), k=K, allow_linkage=bool(self.groups)) for fd in self.fds],
            hierarchies=self.hierarchies,
            total=1,
            seed=PROVIDER_SEED,
            engine=ENGINE,
        )

    def clean(self, dirty: pa.Table, budget: str, repair: str = "refine") -> tuple[Cleaning, Score]:
        """What a budget makes of the table, and how near that is to the truth."""
        cleaning = SafeClean(self.fds, budget, repair=repair).clean(dirty, self.provider(), engine=ENGINE)
        return cleaning, cleaning.score(self.truth, engine=ENGINE)

    def curve(self, dirty: pa.Table, budgets: Sequence[str], repair: str = "refine") -> list[float]:
        """The repair error δ of the dirty table, then of what each budget makes of it."""
        totals = [self.clean(dirty, budget, repair)[1].total for budget in budgets]
        return [totals[0].repair_error_before or 0.0, *(total.repair_error for total in totals)]

    # ---- errors -------------------------------------------------------------------------------------------------

    def wrong_right(self, seed: int, share: float = WRONG) -> pa.Table:
        """The truth, where a share of the tuples has another ground value on the right of a dependency."""
        rng = np.random.default_rng(seed)
        columns = self._columns([fd.rhs for fd in self.fds])
        for row in self._victims(rng, share):
            attribute = self.fds[rng.integers(len(self.fds))].rhs
            values = columns[attribute]
            others = [v for v in self.hierarchies[attribute].ground_labels if v != values[row]]
            values[row] = others[rng.integers(len(others))]
        return self._with(columns)

    def wrong_left(self, seed: int, share: float = WRONG) -> pa.Table:
        """The truth, where a share of the tuples has one value on the left changed, and so stands in another group."""
        rng = np.random.default_rng(seed)
        columns = self._columns([a for fd in self.fds for a in fd.lhs])
        places = [(fd, a) for fd in self.fds for a in fd.lhs]
        groups = {fd: {*zip(*(columns[a] for a in fd.lhs), strict=True)} for fd in self.fds}
        domains = {a: sorted({*values}) for a, values in columns.items()}
        for row in self._victims(rng, share):
            for at in rng.permutation(len(places)):
                fd, attribute = places[at]
                own = {a: columns[a][row] for a in fd.lhs}
                others = [v for v in domains[attribute] if v != own[attribute]]
                others = [v for v in others if tuple((own | {attribute: v}).values()) in groups[fd]]
                if others:
                    columns[attribute][row] = others[rng.integers(len(others))]
                    break
        return self._with(columns)

    def _victims(self, rng: np.random.Generator, share: float) -> Iterator[int]:
        return iter(rng.permutation(len(self.truth))[: round(share * len(self.truth))].tolist())

    def _columns(self, names: Sequence[str]) -> dict[str, list[str]]:
        return {name: self.truth[name].to_pylist() for name in names}

    def _with(self, columns: Mapping[str, list[str]]) -> pa.Table:
        return pa.table({a: columns.get(a, self.truth[a]) for a in self.truth.column_names})


def adult(folder: Path, rows: int | None = None) -> World:
    """Adult, curated: each group has its most frequent value (84 % of marital-status stay, all of education)."""
    frame = pd.read_csv(folder / "adult_full.csv.gz", sep=";", dtype=str)
    if rows is not None:
        frame = frame.sample(rows, random_state=PROVIDER_SEED, ignore_index=True)
    fds = FunctionalDependency.parse_all(ADULT_FDS)
    for fd in fds:
        frame[fd.rhs] = frame.groupby(list(fd.lhs))[fd.rhs].transform(lambda values: values.mode().iloc[0])
    trees = {fd.rhs: read_hierarchy(folder / "hierarchies" / f"adult_full_hierarchy_{fd.rhs}.csv") for fd in fds}
    used = [*dict.fromkeys(a for fd in fds for a in fd.attributes), *ADULT_GROUPS]
    columns = {a: pa.array(frame[a].tolist(), pa.string()) for a in dict.fromkeys(used)}
    return World.of(pa.table(columns), ADULT_FDS, trees, ADULT_GROUPS)


def highest_rise(errors: Sequence[float]) -> float:
    """By how much a budget's error is above that of the budget one step smaller, at most, as a share of the latter."""
    steps = pairwise(errors)
    return max((later - earlier) / earlier if earlier else float(later > 0) for earlier, later in steps)
