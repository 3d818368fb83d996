"""Belief, gain, choice, learning and settling of a panel, against the literal oracle, on random trees and opinions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles import panel as oracle

from pacas.client.classes.current_relation import CurrentColumn
from pacas.client.panel.asked_class import AskedClass, own_opinions
from pacas.client.panel.belief import Opinion, belief, expected_gain
from pacas.client.panel.choosing import PanelOffer, choose_offer, priced
from pacas.client.panel.ground_values import OWN, SHOWN, GroundValues
from pacas.client.panel.reliability import OF_OWN, OF_PROVIDERS, Reliabilities
from pacas.client.weighed_groups.source_trust import share_of_worth
from pacas.core.distance import SemanticDistance
from pacas.core.hierarchy import Hierarchy
from pacas.engine.codes import coded_texts

SHOPS = ("a", "b", "c")


@st.composite
def trees(draw: st.DrawFn, prefix: str) -> Hierarchy:
    """Trees over some of the same values; each groups them in its own way."""
    values = draw(st.lists(st.sampled_from("pqrstuvw"), min_size=2, unique=True))
    middle = [draw(st.integers(0, 2)) for _ in values]
    return Hierarchy.from_rows([(v, f"{prefix}{m}", "*") for v, m in zip(values, middle, strict=True)])


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    own = draw(trees("own"))
    shops = {name: draw(trees(name)) for name in SHOPS}
    values = GroundValues(
        SemanticDistance.of(own, draw(st.lists(st.sampled_from(own.ground_labels), min_size=1))), own, shops
    )
    classes = []
    for _ in range(draw(st.integers(1, 4))):
        held = draw(st.lists(st.sampled_from([*own.ground_labels, *own.general_labels[:-1], None]), min_size=1))
        cells = [v for v in held if v is not None]
        said = oracle.own(cells, own, values.labels) if cells else []
        opinions = own_opinions(CurrentColumn(coded_texts(pa.array(held)), own), np.arange(len(held)), values)
        for source, tree in shops.items():
            if not draw(st.booleans()):
                continue
            level = draw(st.integers(0, 2))
            label = str(tree.generalize_value(draw(st.sampled_from(tree.ground_labels)), level))
            said.append(oracle.said(source, tree, label, level))
            opinions.append(Opinion(source, values.base(source, label), values.nodes(source, level)[1]))
        classes.append((said, opinions))
    rates = {source: draw(st.floats(0.05, 0.99)) for source in (OWN, SHOWN, *SHOPS)}
    return {"own": own, "shops": shops, "values": values, "classes": classes, "rates": rates}


@given(worlds())
@examples(150)
def test_a_belief_is_what_its_definition_says(world: dict[str, Any]) -> None:
    values, rates = world["values"], world["rates"]
    for said, opinions in world["classes"]:
        expected = oracle.belief(values.labels, said, rates)
        found = belief(len(values), opinions, [rates[one.source] for one in opinions])
        assert dict(zip(values.labels, found.tolist(), strict=True)) == pytest.approx(expected, abs=1e-9)
        for name, tree in world["shops"].items():
            for level in range(3):
                node, nodes = values.nodes(name, level)
                bits = expected_gain(found, node, nodes, rates[name])
                assert bits == pytest.approx(max(oracle.gain(expected, tree, level, rates[name]), 0), abs=1e-9)


@given(worlds())
@examples(60)
def test_reliabilities_are_learnt_as_its_definition_says(world: dict[str, Any]) -> None:
    values = world["values"]
    heard = [(said, opinions) for said, opinions in world["classes"] if opinions]
    credit: dict[str | None, tuple[float, float]] = {OWN: OF_OWN, SHOWN: OF_OWN}
    credit |= dict.fromkeys(SHOPS, OF_PROVIDERS)
    expected = oracle.learnt([said for said, _ in heard], values.labels, credit)
    found = Reliabilities(SHOPS)
    found.learn([opinions for _, opinions in heard])
    assert {source: found[source] for source in expected} == pytest.approx(expected, abs=1e-7)
    assert found.as_dict().keys() == {OWN, *SHOPS}


@given(worlds(), st.booleans())
@examples(100)
def test_a_class_is_settled_as_its_definition_says(world: dict[str, Any], bought: bool) -> None:
    values = world["values"]
    for said, opinions in world["classes"]:
        reliabilities = Reliabilities(SHOPS)
        asked = AskedClass(0, "A", np.arange(1), values, opinions, 0)
        asked.purchases = [_Bought()] if bought else []  # type: ignore[list-item]
        believed = oracle.belief(
            values.labels, said, {source: reliabilities[source] for source in (OWN, SHOWN, *SHOPS)}
        )
        expected = oracle.settled(believed, values.delta, world["own"], bought)
        found = asked.settled(reliabilities)
        if expected is None:
            assert found is None
            continue
        assert found is not None
        line = [expected, found.value]  # equal chances may be told apart by rounding
        risks = [sum(p * values.delta(node, v) for v, p in believed.items()) for node in line]
        assert risks[0] == pytest.approx(risks[1], abs=1e-6)


@given(st.floats(0.02, 0.998), st.integers(2, 9))
@examples(60)
def test_what_an_answer_is_worth_to_a_client_that_weighs_is_what_its_definition_says(rate: float, nodes: int) -> None:
    found = share_of_worth(np.array([rate]), np.array([nodes]))
    if rate >= 1 / nodes:  # who is wrong oftener than by chance would be believed the other way round
        assert found.tolist() == [pytest.approx([oracle.share(rate, nodes)])]
    else:
        assert found.tolist() == [[0]]


class _Bought:
    value = "nobody's"


OFFERS = st.builds(
    PanelOffer,
    provider=st.sampled_from(SHOPS),
    level=st.integers(0, 3),
    tuple=st.just(0),
    price=st.integers(0, 6),
    gain=st.sampled_from([0.0, 0.3, 0.5, 0.89, 0.91, 1.0, 1.02]),
)


@given(st.lists(OFFERS, max_size=8))
@examples(200)
def test_the_cheapest_that_tells_nearly_as_much_is_chosen(offers: list[PanelOffer]) -> None:
    expected = oracle.choice([oracle.Offered(o.provider, o.level, o.price, o.gain) for o in offers])
    found = choose_offer(offers)
    assert (found and (found.price, found.gain)) == (expected and (expected.price, expected.gain))


def test_what_cannot_be_afforded_or_is_refused_is_no_offer() -> None:
    tree = Hierarchy.from_rows([("p", "m", "*"), ("q", "m", "*"), ("r", "n", "*")])
    values = GroundValues(SemanticDistance.of(tree, ["p"]), tree, {"a": tree})
    ladders = {"a": np.array([[9, 4, -1], [9, 4, 0], [-2, 5, 0]])}
    believed = np.full(3, 1 / 3)
    found = priced(ladders, {"a": range(3)}, 8, values, believed, Reliabilities(["a"]))
    assert [(o.level, o.tuple, o.price) for o in found] == [(1, 1, 4), (2, 2, 0)]
    assert found[1].gain == 0
