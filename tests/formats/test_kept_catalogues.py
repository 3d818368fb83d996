"""What a journal keeps of providers' catalogues is what they were."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pacas.core.hierarchy import Hierarchy
from pacas.errors import FileError, HierarchyError
from pacas.formats.journal.kept_catalogues import KeptCatalogues
from pacas.formats.journal.run_parts import offers_digest
from pacas.protocol.messages import Offer

LABELS = [f"n{number}" for number in range(6)] + ["1.0", "02"]


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """Also such in which a label stands on several levels, and general ones at level 0."""
    height = draw(st.integers(1, 4))
    path = st.lists(st.sampled_from(LABELS), min_size=height, max_size=height)
    rows = draw(st.lists(path, min_size=1, max_size=5))
    rows = [[*sorted(row, reverse=draw(st.booleans())), "*"] for row in rows]
    try:
        return Hierarchy.from_rows(rows, numeric=draw(st.booleans()))
    except HierarchyError:
        assume(False)
        raise


def read_again(kept: KeptCatalogues) -> KeptCatalogues:
    return KeptCatalogues.model_validate_json(kept.model_dump_json())


@given(st.lists(trees(), min_size=1, max_size=3), st.booleans())
def test_a_catalogue_comes_back_with_its_nodes_numbered_alike(found: list[Hierarchy], absent: bool) -> None:
    offers = {f"A{n}": Offer(f"A{n}", ("K", "L"), tree, absent, is_sealed=absent) for n, tree in enumerate(found)}
    kept = read_again(KeptCatalogues.of({"x": offers, "y": offers})).catalogue("y", "j")
    assert offers_digest(kept) == offers_digest(offers)
    for name, offer in offers.items():
        assert (kept[name].attribute, kept[name].columns) == (offer.attribute, offer.columns)
        assert kept[name].may_be_absent == kept[name].is_sealed == absent
        assert kept[name].hierarchy.parent.tolist() == offer.hierarchy.parent.tolist()
        assert kept[name].hierarchy.level.tolist() == offer.hierarchy.level.tolist()


def test_one_that_tells_no_values_comes_back_and_a_tree_is_kept_once() -> None:
    tree = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*")])
    offers = {"A": Offer("A", ("K",), Hierarchy.flat([])), "B": Offer("B", ("K",), tree)}
    kept = read_again(KeptCatalogues.of({name: offers for name in "xyz"}))
    assert len(kept.trees) == 2
    assert offers_digest(kept.catalogue("z", "j")) == offers_digest(offers)


@pytest.mark.parametrize("parents", [[1, 0, 2, 2], [2, 2, 9, 3], [0, 1, 2, 3]])
def test_what_is_no_tree_is_said_to_be_damaged(parents: list[int]) -> None:
    tree = Hierarchy.from_rows([("a", "g", "*"), ("b", "g", "*")])
    kept = KeptCatalogues.of({"x": {"A": Offer("A", ("K",), tree)}})
    broken = kept.model_copy(update={"trees": [kept.trees[0].model_copy(update={"parents": parents})]})
    with pytest.raises(FileError, match="line 1 keeps no tree of x that is one: the journal is damaged"):
        broken.catalogue("x", "j")
