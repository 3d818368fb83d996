"""Providers with one tree that are safe alone are safe together, by the literal definition; with others, who knows."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanes import examples
from oracles.bridge import to_hierarchy
from oracles.strategies import tree_rows
from oracles.tree import Tree

import pacas
from pacas.core.hierarchies.composition import compose
from pacas.engine.duck.engine import DuckEngine
from pacas.protocol.messages import Answer, Request
from pacas.provider.quoter.declared import DeclaredDependency, Sealing

ENGINE = DuckEngine(threads=1)
TREES = st.builds(Tree, tree_rows(max_height=3)).filter(lambda tree: len(_ground(tree)) > 2)


def _ground(tree: Tree) -> set[str]:
    return set(tree.base(tree.root))


class Circle(NamedTuple):
    """People with one true value each, members that have some of them, and who buys whom where, at which level."""

    tree: Tree
    truth: dict[str, str]
    members: list[list[str]]
    level: int
    k: int
    sales: list[tuple[int, str, int]]

    def provider(self, member: int, **how: Any) -> pacas.Provider:
        people, hierarchy = self.members[member], to_hierarchy(self.tree)
        table = {"WHO": [*people, "nobody asks"], "MED": [*(self.truth[p] for p in people), min(_ground(self.tree))]}
        policy = pacas.Policy(("WHO",), ("MED",), {"MED": self.level}, k=self.k)
        return pacas.Provider(
            table,
            match={"MED": "WHO = WHO"},
            policies=[policy],
            hierarchies={"MED": hierarchy},
            common_trees={"MED": hierarchy.digest},
            total=1000,
            engine=ENGINE,
            **how,
        )


@st.composite
def circles(draw: st.DrawFn) -> Circle:
    tree = draw(TREES)
    names = [f"p{n}" for n in range(draw(st.integers(1, 4)))]
    truth = {name: draw(st.sampled_from(sorted(_ground(tree)))) for name in names}
    some = st.lists(st.sampled_from(names), min_size=1, unique=True)
    members = draw(st.lists(some, min_size=2, max_size=3))
    level = draw(st.integers(0, tree.height - 1))
    values = len({tree.generalize(v, level) for v in _ground(tree)})
    k = draw(st.integers(1, min(values, 4)))
    sale = st.tuples(st.integers(0, len(members) - 1), st.sampled_from(names), st.integers(0, tree.height))
    return Circle(tree, truth, members, level, k, draw(st.lists(sale, max_size=12)))


@examples(100)
@given(circles(), st.sampled_from(["paper", "sealed"]))
def test_who_is_safe_alone_is_safe_together_with_one_tree(case: Circle, quotes: str) -> None:
    providers = [case.provider(member, quotes=quotes) for member in range(len(case.members))]
    possible = {person: _ground(case.tree) for person in case.truth}
    for number, (member, person, level) in enumerate(case.sales):
        told = providers[member].pay(Request({"WHO": person}, "MED", level), 10**18, str(number))
        if isinstance(told, Answer):
            possible[person] &= set(case.tree.base(told.value))
        left = {case.tree.generalize(value, case.level) for value in possible[person]}
        assert case.truth[person] in possible[person] and len(left) >= case.k


@examples(150)
@given(TREES, TREES, st.integers(1, 4), st.randoms(use_true_random=False))
def test_what_two_trees_tell_is_what_the_finest_answers_have_in_common(
    first: Tree, second: Tree, k: int, chance: Any
) -> None:
    """By the definition: the lowest ancestor with k values below it in each, and what lies below both."""
    names = chance.sample([*sorted(_ground(first)), *(f"w{n}" for n in range(99))], 99)
    renamed = dict(zip(sorted(_ground(second)), names, strict=False))
    rows = [row for row in second.rows if row[0] in renamed]
    other = Tree([[renamed[row[0]], *("=" + label for label in row[1:])] for row in rows])
    common = _ground(first) & _ground(other)
    if not common:
        with pytest.raises(pacas.InputError, match="no ground value in common"):
            compose(to_hierarchy(first), to_hierarchy(other), k)
        return

    def below(tree: Tree, value: str) -> set[str]:
        found = (set(tree.base(node)) for node in tree.ancestors(value))
        return next((base for base in found if len(base) >= k), _ground(tree))

    left = [len(below(first, value) & below(other, value)) for value in common]
    told = compose(to_hierarchy(first), to_hierarchy(other), k)
    assert (told.values, told.fewer, told.pinned) == (len(common), sum(n < k for n in left), left.count(1))
    assert (told.only_first, told.only_second) == tuple(len(_ground(tree) - common) for tree in (first, other))
    assert compose(to_hierarchy(first), to_hierarchy(first), min(k, len(_ground(first)))).fewer == 0


@examples(60)
@given(TREES, st.randoms(use_true_random=False))
def test_one_tree_has_one_digest_however_it_is_written(tree: Tree, chance: Any) -> None:
    digest = to_hierarchy(tree).digest
    assert pacas.Hierarchy.from_rows(chance.sample(tree.rows, len(tree.rows))).digest == digest
    moved = [[*row[:-1], "another root"] for row in tree.rows]
    assert pacas.Hierarchy.from_rows(moved).digest != digest
    assert pacas.Hierarchy.from_rows(tree.rows, numeric=True).digest != digest


TREE = pacas.Hierarchy.from_rows([("a", "A", "*"), ("b", "A", "*"), ("c", "C", "*"), ("d", "C", "*")])
LINKED = DeclaredDependency(pacas.FunctionalDependency(("N",), "M"), tuple({"N": v, "M": v} for v in "abcd"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"common_trees": {"N": TREE.digest}}, "'N': it is not for sale; there is M"),
        ({"hierarchies": {}}, "it has no hierarchy here"),
        ({"common_trees": {"M": "0" * 64}}, f"the hierarchy here is another one, {TREE.digest}; take the common one"),
        ({"match": {"M": "WHO ~ WHO normalized"}}, "match by equality"),
        ({"policies": [pacas.Policy(("WHO",), ("M",), k=2, allow_linkage=True)]}, "policy 1 has allow_linkage"),
        ({"policies": [pacas.Policy(("WHO",), ("M", "N"), k=2)]}, "policy 1 is over several attributes"),
        ({"sealing": Sealing([LINKED]), "quotes": "sealed"}, "a dictionary lets other attributes tell of it"),
    ],
)
def test_what_would_break_the_promise_does_not_load(change: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {
        "match": {"M": "WHO = WHO"},
        "policies": [pacas.Policy(("WHO",), ("M",), k=2)],
        "hierarchies": {"M": TREE, "N": TREE},
        "common_trees": {"M": TREE.digest},
        "quotes": "paper",
        "total": 1000,
    }
    table = {"WHO": ["p", "q"], "M": ["a", "c"], "N": ["a", "c"]}
    pacas.Provider(table, **given)
    with pytest.raises(pacas.InputError, match="the circle's tree of ") as error:
        pacas.Provider(table, **given | change)
    assert said in str(error.value)
