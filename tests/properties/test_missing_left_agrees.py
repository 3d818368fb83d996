"""A left value that is missing is weighed as if each group were asked how well it explains the row, one by one."""

from __future__ import annotations

from collections import Counter
from math import prod

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighing.missing_left import missing_left_cells
from pacas.client.weighing.model import Model
from pacas.core.dependency import FunctionalDependency
from pacas.engine.codes import coded_texts

RIGHTS = ("N", "C")

Row = dict[str, str | None]


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """Few groups by A and B, with a name and a city each; some cells are missing, some are wrong."""
    rows: list[Row] = []
    for a in range(draw(st.integers(2, 5))):
        named: Row = {"A": f"a{a}", "B": draw(st.sampled_from(["b0", "b1"]))}
        named |= {"N": f"n{draw(st.integers(0, 4))}", "C": f"c{draw(st.integers(0, 1))}"}
        rows += [dict(named) for _ in range(draw(st.integers(1, 5)))]
    for row in rows:
        if (name := draw(st.sampled_from(["A", "B", "N", "C", *[None] * 8]))) is not None:
            row[name] = draw(st.sampled_from([None, None, f"{name.lower()}0"]))
    return rows


def weighed(beliefs: list[Belief], rows: list[Row], lost: Row, name: str) -> dict[str, float]:
    """By value: the chance that it is what is missing."""
    other = {"A": "B", "B": "A"}[name]
    tree = {a: belief.column.tree for belief in beliefs for a in [belief.fd.rhs]}
    stated = [belief for belief in beliefs if lost[belief.fd.rhs] is not None]
    code = {belief.fd.rhs: tree[belief.fd.rhs].code(lost[belief.fd.rhs]) for belief in stated}
    size = Counter((row["A"], row["B"]) for row in rows if row["A"] is not None and row["B"] is not None)
    group_of = {(r["A"], r["B"]): int(beliefs[0].side.group[at]) for at, r in enumerate(rows)}

    def as_error(belief: Belief) -> float:
        return belief.rates.wrong * float(belief.rates.own_confusion[code[belief.fd.rhs]])

    def explains(belief: Belief, group: int) -> float:
        at = [k for k, v in enumerate(belief.candidate[group].tolist()) if v == code[belief.fd.rhs]]
        share = float(belief.column.share[code[belief.fd.rhs]])
        fits = float(belief.weight[group, at[0]]) if at else float(belief.other[group]) * share
        return fits * (1 - belief.rates.wrong) + (1 - fits) * as_error(belief)

    def shared(belief: Belief) -> float:
        """How likely one more group has the value, by absolute discounting."""
        told = [v for v in belief.likeliest.tolist() if v >= 0]
        count = Counter(told)
        once, twice = (sum(n == k for n in count.values()) for k in (1, 2))
        seen = count[code[belief.fd.rhs]]
        return (seen - (once + 1) / (once + 2 * twice + 2) if seen else 1.0) / max(len(told), 1)

    weight = {}
    for key, rows_there in size.items():
        group = group_of[key]
        has = any(b.sure[group] > 0.5 and b.likeliest[group] == code[b.fd.rhs] for b in stated)
        if has and key["AB".index(other)] == lost[other]:
            weight[str(key["AB".index(name)])] = rows_there * prod(explains(b, group) for b in stated)
    elsewhere = len(rows) * prod(as_error(b) for b in stated)
    alone = (1 + sum(n == 1 for n in size.values())) * min(1.0, *(shared(b) for b in stated))
    total = sum(weight.values()) + elsewhere + alone
    return {value: one / total for value, one in weight.items()}


@examples(150)
@given(tables())
def test_what_is_missing_is_weighed_group_by_group(rows: list[Row]) -> None:
    columns = {a: coded_texts(pa.chunked_array([pa.array([row[a] for row in rows], pa.string())])) for a in "ABNC"}
    model = Model(FunctionalDependency.parse_all([f"A, B -> {right}" for right in RIGHTS]), columns, {}, {})
    found = missing_left_cells(model)
    for name, other in ("AB", "BA"):
        told = found.get(name)
        cells = (
            {}
            if told is None
            else dict(zip(told.rows.tolist(), zip(told.meant, told.chance, strict=True), strict=True))
        )
        for at, row in enumerate(rows):
            asked = row[name] is None and row[other] is not None and all(row[right] is not None for right in RIGHTS)
            asked = asked and len(model.beliefs) == 2 and all(belief.rates.holds for belief in model.beliefs)
            chances = weighed(model.beliefs, rows, row, name) if asked else {}
            assert (at in cells) == bool(chances)
            if chances:
                meant, chance = cells[at]
                assert float(chance) == pytest.approx(max(chances.values()))
                assert chances[str(model.columns[name].tree.label(int(meant)))] == pytest.approx(max(chances.values()))
