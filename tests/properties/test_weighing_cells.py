"""What a client that weighs does with every cell of a table is what the literal one does, cell by cell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.cleaning import Dependency
from oracles.weighed_cases import CLOSE, Case, cases, near, with_rates, with_strays
from oracles.weighing import NOTHING, Decision

from pacas.client.weighing import decision

SHAPES = [
    [Dependency(("A", "B"), "C")],
    [Dependency(("A",), "C"), Dependency(("B",), "C")],
    [Dependency(("A",), "C"), Dependency(("C",), "D")],
    [Dependency(("A",), "C"), Dependency(("B", "C"), "D"), Dependency(("C", "D"), "B")],
    [Dependency(("A",), "C"), Dependency(("C",), "A")],
    [Dependency(("A", "B"), "C"), Dependency(("D",), "C"), Dependency(("C",), "A")],
]
"""Sides that are shared, that make a chain, and that tell each other."""


def weighed(data: st.DataObject, case: Case) -> Case:
    """Answers are told, and what so few rows do not teach is drawn."""
    case.tell(data.draw, left=True)
    if data.draw(st.booleans()):
        with_rates(data.draw, case)
    return with_strays(data.draw, case)


def assert_same(found: decision.Weighed, at: int, node: object, literal: Decision) -> None:
    if literal.node != NOTHING:
        assert near(found.sure[at], literal.sure)
        assert (node, bool(found.firm[at])) == (literal.node, literal.firm)
    assert near(found.keep[at], literal.keep) and near(found.gain[at], literal.gain)
    assert bool(found.paid[at]) == literal.paid
    assert (bool(found.written[at]), bool(found.in_doubt[at])) == (literal.written, literal.in_doubt)


@examples(240)
@given(cases(SHAPES), st.sampled_from([0.3, 0.5, 0.7, 0.9]), st.data())
def test_every_cell_is_decided_alike(case: Case, careful: float, data: st.DataObject) -> None:
    weighed(data, case)
    decided = decision.decide(case.model, careful)
    literal = case.table(careful, decided).decisions({})
    for name, found in decided.items():
        label = case.model.columns[name].tree.label
        assert found.rows.tolist() == sorted(literal.get(name, {})), name
        for at, (row, node) in enumerate(zip(found.rows.tolist(), found.node.tolist(), strict=True)):
            if literal[name][row].nearest > CLOSE:
                assert_same(found, at, label(node), literal[name][row])
