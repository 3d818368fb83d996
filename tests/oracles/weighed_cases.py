"""Tiny tables with models of them, and what the literal client that weighs is given of what a model has learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from oracles.bridge import to_fds, to_hierarchies
from oracles.cleaning import Dependency
from oracles.strategies import relations, trees, values_of
from oracles.tree import Tree, Value, as_number
from oracles.weighing import Answer, Groups, Least, Posterior, Rates
from oracles.weighing_rows import Option, Suspect, Table, Weighed
from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_groups.few_rows import FewRows
from pacas.client.weighed_rows.row_options import LeftOptions
from pacas.client.weighed_rows.tried_errors import TriedErrors
from pacas.client.weighing import decision
from pacas.client.weighing.model import Model
from pacas.client.weighing.risks import Risks
from pacas.engine.codes import coded_texts
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Ladders

NEAR = 1e-9
CLOSE = 1e-10
"""So near to a threshold a float may be on its other side."""
Rows = list[dict[str, Value]]
Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def nearly_right(draw: st.DrawFn, lhs: str = "AB", rhs: str = "C") -> tuple[Rows, dict[str, Tree]]:
    """Groups that mostly agree: some right sides are wrong, some rows stand in another group."""
    found = {rhs: draw(trees())} if draw(st.booleans()) else {}
    ground = [v for v in sorted(found[rhs].known) if found[rhs].is_ground(v)] if found else []
    values: list[Value] = [*(ground or ["x", "y", "z"])]
    strange = values_of(found[rhs]) if found else st.sampled_from(["x", "y", "w", "*", None])
    keys = draw(st.lists(st.tuples(*(st.sampled_from("pqr") for _ in lhs)), min_size=1, max_size=4, unique=True))
    rows: Rows = []
    for key in keys:
        right = draw(st.sampled_from(values))
        for _ in range(draw(st.integers(1, 7))):
            row: dict[str, Value] = {**dict(zip(lhs, key, strict=True)), rhs: right, "D": draw(st.sampled_from("mn"))}
            match draw(st.sampled_from(["fine", "fine", "fine", "right", "left"])):
                case "right":
                    row[rhs] = draw(strange | st.sampled_from(values))
                case "left":
                    row[draw(st.sampled_from(lhs))] = draw(st.sampled_from(["p", "q", "r", "t", None]))
            rows.append(row)
    return rows, found


SHAPES = [
    [Dependency(("A", "B"), "C")],
    [Dependency(("A",), "C")],
    [Dependency(("A",), "C"), Dependency(("B",), "C")],
    [Dependency(("A", "B"), "C"), Dependency(("C",), "D")],
    [Dependency(("A",), "B"), Dependency(("A", "B"), "C"), Dependency(("A", "B"), "D")],
]


@st.composite
def cases(draw: st.DrawFn, shapes: list[list[Dependency]] = SHAPES) -> Case:
    rows, found = draw(nearly_right() | relations(max_rows=9))
    fds = draw(st.sampled_from(shapes))
    by = draw(st.sampled_from([("A",), ("D",), ("A", "D"), ("B",)]))
    return Case(rows, found, fds, {fd.rhs: by for fd in fds if fd.rhs not in by})


@dataclass
class Case:
    """A table, and a model of it that remembers by what it last weighed its groups."""

    rows: Rows
    trees: dict[str, Tree]
    fds: list[Dependency]
    match_columns: Mapping[str, tuple[str, ...]]
    cells: Mapping[str, list[int]] = field(default_factory=dict)
    """What somebody else has named."""

    def __post_init__(self) -> None:
        self.given: dict[int, tuple[FewRows, FewRows]] = {}
        with pytest.MonkeyPatch.context() as patch:
            self._watch(patch)
            names = list(self.rows[0])
            columns = {
                a: coded_texts(pa.chunked_array([pa.array([r[a] for r in self.rows], pa.string())])) for a in names
            }
            cells = {name: np.array(rows, dtype=np.int64) for name, rows in self.cells.items()}
            self.model = Model(to_fds(self.fds), columns, to_hierarchies(self.trees), self.match_columns, cells)
        all_ = [Groups(self.rows, fd, self.trees) for fd in self.fds]
        self.groups = [groups for groups in all_ if groups.members]

    def _watch(self, patch: pytest.MonkeyPatch) -> None:
        weigh = Belief.weigh

        def watched(belief: Belief, stays: FewRows, elsewhere: FewRows) -> None:
            self.given[id(belief)] = stays, elsewhere
            weigh(belief, stays, elsewhere)

        patch.setattr(Belief, "weigh", watched)

    def fit_again(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            self._watch(patch)
            self.model.fit_again()

    def tell(self, draw: Draw, *, left: bool = False) -> None:
        """Some answers about right sides, or any."""
        for _ in range(draw(st.integers(0, 2))):
            name = draw(st.sampled_from([a for fd in self.fds for a in (fd.rhs, *(fd.lhs if left else ()))]))
            tree = self.model.columns[name].tree
            ground = [code for code in range(len(tree)) if tree.is_ground[code] and tree.label(code) is not None]
            if draw(st.booleans()):
                ground = [code for code in ground if self.model.columns[name].frequency[code]]
            if ground:
                level = draw(st.integers(0, tree.height - 1))
                node = int(tree.ancestors[level][draw(st.sampled_from(ground))])
                self.model.tell(name, draw(st.integers(0, len(self.rows) - 1)), node)

    # ---- the literal side -----------------------------------------------------------------------------------------

    def posteriors(self, number: int) -> dict[int, Posterior]:
        """What the literal client believes of each group of a dependency."""
        belief, groups = self.model.beliefs[number], self.groups[number]
        column = belief.column
        label = column.tree.label
        order = {label(code): code for code in range(len(column))}
        rates = Rates(
            Fraction(belief.rates.wrong),
            Fraction(belief.rates.overwritten),
            {label(code): Fraction(q) for code, q in enumerate(belief.rates.confusion.tolist())},
            Fraction(belief.rates.lean),
            Fraction(belief.rates.mixed),
        )
        came = self.given[id(belief)][1]
        elsewhere = dict(enumerate(map(Fraction, np.exp(came[np.arange(len(self.rows))]).tolist())))
        assert sorted(map(sorted, groups.members.values())) == sorted(map(sorted, _members(belief))), "the same groups"
        told = {
            key: None if (code := int(belief.prior.told[belief.side.group[rows[0]]])) < 0 else label(code)
            for key, rows in groups.members.items()
        }
        found = {}
        for key, rows in groups.members.items():
            group = int(belief.side.group[rows[0]])
            answers = [
                Answer(label(a.node), label(a.shown), Fraction(a.stray), a.of_group)
                for a in belief.answers.get(group, ())
            ]
            found[group] = Posterior(groups, key, rates, elsewhere, answers, belief.prior.part, told, order)
        return found

    def stays(self, number: int) -> dict[int, Fraction]:
        """As they were when the groups were weighed."""
        stays, _ = self.given[id(self.model.beliefs[number])]
        return dict(enumerate(map(Fraction, stays[np.arange(len(self.rows))].tolist())))

    def weighed(self, number: int) -> Weighed:
        """A dependency, as the literal client believes in it."""
        belief, groups, misplaced = self.model.beliefs[number], self.groups[number], self.model.misplaced
        label = belief.column.tree.label
        order = {label(code): code for code in range(len(belief.column))}
        risks = Risks(belief, np.arange(belief.side.count))
        posteriors = self.posteriors(number)
        keys = {group: posterior.key for group, posterior in posteriors.items()}
        return Weighed(
            groups,
            {keys[g]: posterior for g, posterior in posteriors.items()},
            {keys[g]: least_of(risks, belief, g, posterior) for g, posterior in posteriors.items()},
            {keys[g]: label(int(belief.likeliest[g])) for g in posteriors},
            Fraction(belief.rates.unlike),
            {label(code): Fraction(q) for code, q in enumerate(belief.rates.own_confusion.tolist())},
            [Fraction(s) for s in misplaced.stays[belief.side][np.arange(len(self.rows))].tolist()],
            [Fraction(f) for f in misplaced.fits(belief, np.arange(len(self.rows))).tolist()],
            self.stays(number),
            Fraction(misplaced.share.get(belief.side, 0.0)),
            misplaced.has_tried(belief.side),
            {key: groups.most_frequent(key, order) for key in keys.values() if groups.is_violated(key)},
        )

    def suspects(self) -> dict[int, Suspect]:
        misplaced = self.model.misplaced
        options: dict[int, list[Option]] = {}
        listed = misplaced.options
        for of, number, value, hit in zip(
            *(part.tolist() for part in (listed.of, listed.attribute, listed.value, misplaced.hit)), strict=True
        ):
            name = self.model.left_attributes[number]
            option = Option(name, self.model.columns[name].tree.label(value), Fraction(hit))
            options.setdefault(of, []).append(option)
        return {
            row: Suspect(
                Fraction(float(misplaced.wrong[of])),
                options.get(of, []),
                Fraction(float(misplaced.fewest[row])),
                Fraction(float(misplaced.most[row])),
                Fraction(float(misplaced.if_unlike[row])),
                row in misplaced.told,
                frozenset(name for asked, name in misplaced.bought if asked == row),
            )
            for of, row in enumerate(misplaced.suspects.tolist())
        }

    def table(self, careful: float, decided: Mapping[str, decision.Weighed]) -> Table:
        """All of it; of values that are as good as each other the one that was decided is taken."""
        label = {name: column.tree.label for name, column in self.model.columns.items()}
        nodes = {
            (row, name): label[name](node)
            for name, cells in decided.items()
            for row, node in zip(cells.rows.tolist(), cells.node.tolist(), strict=True)
            if node >= 0
        }
        answered = {(row, name): label[name](node) for (row, name), node in self.model.answered.items()}
        weighed = [self.weighed(number) for number in range(len(self.model.beliefs))]
        return Table(self.rows, self.trees, weighed, self.suspects(), answered, careful, nodes)


def _members(belief: Belief) -> list[list[int]]:
    return [belief.side.members.one(group).tolist() for group in range(belief.side.count)]


def near(one: float, other: Fraction) -> bool:
    return abs(one - float(other)) <= NEAR * max(1.0, abs(float(other)))


def with_rates(draw: Draw, case: Case) -> Case:
    """Errors are rarer, or commoner, than so few rows could tell."""
    for belief in case.model.beliefs:
        wrong, overwritten = draw(st.sampled_from([(0.001, 0.04), (0.03, 0.04), (0.04, 0.001), (0.01, 0.2)]))
        belief.rates = replace(belief.rates, wrong=wrong, overwritten=overwritten)
        belief.weigh(*case.given[id(belief)])
    return case


def with_strays(draw: Draw, case: Case) -> Case:
    """More is known of rows in the wrong group than so few rows could tell: all that is learnt of them is drawn."""
    model, rng = case.model, np.random.default_rng(draw(st.integers(0, 10**6)))
    misplaced, count = model.misplaced, len(case.rows)
    asked = [row for row, _ in misplaced.bought]
    misplaced.suspects = np.unique([*np.flatnonzero(rng.random(count) < 0.7).tolist(), *asked]).astype(np.int64)
    misplaced.wrong = rng.beta(0.6, 0.4, len(misplaced.suspects))
    options: list[tuple[int, int, int]] = []
    for of, row in enumerate(misplaced.suspects.tolist()):
        for number, name in enumerate(model.left_attributes):
            column = model.columns[name]
            others = np.flatnonzero(column.groups & (np.arange(len(column)) != column.codes[row]))
            some = rng.choice(others, min(int(rng.choice([0, 1, 1, 2])), len(others)), replace=False)
            options += [(of, number, value) for value in sorted(some.tolist())]
    of_, number_, value_ = (np.array([option[i] for option in options], dtype=np.int64) for i in range(3))
    hit = rng.gamma(0.3, size=len(options)) + 1e-3
    misplaced.hit = hit / np.bincount(of_, weights=hit, minlength=1)[of_] * rng.choice([0.7, 0.98], len(hit))
    misplaced.options = LeftOptions(of_, number_, value_, np.zeros(len(options)))
    misplaced.chance = misplaced.wrong[of_] * misplaced.hit
    misplaced.fewest, misplaced.most, misplaced.if_unlike = (
        FewRows(misplaced.suspects, rng.uniform(*between, len(misplaced.suspects)), others)
        for between, others in (((0.6, 1.0), 1.0), ((1.0, 1.5), 1.0), ((0.0, 1.0), 0.0))
    )
    misplaced.told = {row: True for row in misplaced.suspects.tolist() if rng.random() < 0.2}
    for side in misplaced.stays:
        misplaced.stays[side] = FewRows(np.arange(count), np.clip(1 - rng.beta(0.3, 1.5, count), 0.001, 1), 1.0)
        misplaced._tried[side] = TRIED if rng.random() < 0.7 else None
    return case


TRIED = TriedErrors(np.zeros(1), np.zeros(1), np.empty(0), np.empty(0, dtype=np.bool_))


def told(draw: Draw, case: Case) -> Case:
    case.tell(draw)
    if draw(st.booleans()):
        case.fit_again()
    return case


def one_value(belief: Belief, group: int, posterior: Posterior) -> Fraction:
    """How likely a group should have one value: the same by both."""
    assert near(belief.one_value[group], posterior.one_value)
    return posterior.one_value


def least_of(risks: Risks, belief: Belief, group: int, posterior: Posterior) -> Least | None:
    """The literal client's value of least risk that is the fast one's; there must be one."""
    (place,) = risks.place(np.array([group])).tolist()
    code = int(risks.node[place])
    least = posterior.least()
    if code < 0:
        assert not least
        return None
    node = belief.column.tree.label(code)
    mine = [one for one in least if one.node == node and near(risks.risk[place], one.risk)]
    assert mine and near(risks.sure[place], mine[0].sure), (node, least)
    return mine[0]


class DrawnQuotes:
    """A market that quotes what is drawn, and sells nothing."""

    def __init__(self, seed: int, heights: Mapping[str, int]) -> None:
        self.seed, self.heights = seed, heights

    @cache  # noqa: B019
    def ladder(self, attribute: str, *values: Value) -> tuple[int, ...]:
        said = [attribute, *(as_number(str(value)) for value in values)]
        rng = np.random.default_rng([self.seed, *(len(v) * 1000 + sum(map(ord, v)) for v in said)])
        return tuple(rng.choice([-1, 0, 1, 10, 25, 40], self.heights[attribute] + 1).tolist())

    def quote_batch(self, attribute: str, tuples: Columns) -> Ladders:
        return Ladders(np.array([self.ladder(attribute, *of) for of in zip(*tuples.values(), strict=True)]))
