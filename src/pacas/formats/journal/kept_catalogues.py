"""What several providers offered when a run was begun, as its journal keeps it.

A run that is continued works out again what was bought, and by whose offers: so nobody who is away by then need be
asked. Kept is what that follows from, columns and trees; prices are not, as what was quoted is in the journal anyway.
A tree that several providers sell by is kept once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from pacas.core.hierarchy import Hierarchy
from pacas.errors import FileError, HierarchyError
from pacas.protocol.messages import Offer


class _Kept(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class KeptTree(_Kept):
    """A published hierarchy as a catalogue brings it: its values come first, and its root last."""

    labels: list[str]
    """In the order in which its nodes are numbered."""
    parents: list[int]
    """Per label: its parent's number; the root is its own."""
    tops: list[int]
    """Per label: the highest level that it stands at; its parent stands above."""
    values: int = Field(ge=0)
    """How many labels stand at level 0."""
    numeric: bool = False

    @classmethod
    def of(cls, tree: Hierarchy) -> KeptTree:
        stands = tree.ancestors == np.arange(len(tree))
        return cls(
            labels=[str(label) for label in tree.labels],
            parents=tree.parent.tolist(),
            tops=(tree.height - stands[::-1].argmax(axis=0)).tolist(),
            values=int((tree.level == 0).sum()),
            numeric=tree.numeric,
        )

    def hierarchy(self) -> Hierarchy:
        """The same tree, its nodes numbered alike; one without values is all that a provider tells who keeps them."""
        if not self.values:
            return Hierarchy.flat([], root=self.labels[-1])
        return Hierarchy.from_rows(map(self._row, range(self.values)), numeric=self.numeric)

    def _row(self, node: int) -> list[str]:
        """A value, and what stands for it at each level."""
        row = [self.labels[node]] * (self.tops[node] + 1)
        while len(row) <= self.tops[-1]:
            above = self.parents[node]
            higher = self.tops[above] - self.tops[node]
            if higher <= 0:
                raise HierarchyError("a parent stands no higher than its child")
            row += [self.labels[above]] * higher
            node = above
        return row


class KeptOffer(_Kept):
    """An attribute that is for sale."""

    columns: list[str]
    tree: int
    """Its number among the kept ones."""
    may_be_absent: bool = False
    is_sealed: bool = False


class KeptCatalogues(_Kept):
    """By provider, and by attribute: what was for sale."""

    offers: dict[str, dict[str, KeptOffer]]
    trees: list[KeptTree]

    @classmethod
    def of(cls, catalogues: Mapping[str, Mapping[str, Offer]]) -> KeptCatalogues:
        trees: list[KeptTree] = []
        numbers: dict[str, int] = {}

        def number(tree: Hierarchy) -> int:
            kept = KeptTree.of(tree)
            said = kept.model_dump_json()
            if said not in numbers:
                numbers[said] = len(trees)
                trees.append(kept)
            return numbers[said]

        offers = {
            name: {
                attribute: KeptOffer(
                    columns=list(offer.columns),
                    tree=number(offer.hierarchy),
                    may_be_absent=offer.may_be_absent,
                    is_sealed=offer.is_sealed,
                )
                for attribute, offer in catalogue.items()
            }
            for name, catalogue in catalogues.items()
        }
        return cls(offers=offers, trees=trees)

    def catalogue(self, provider: str, journal: str) -> dict[str, Offer]:
        """What a provider offered; `journal` is named where that cannot be read."""
        try:
            return {
                attribute: Offer(
                    attribute,
                    tuple(kept.columns),
                    self.trees[kept.tree].hierarchy(),
                    kept.may_be_absent,
                    is_sealed=kept.is_sealed,
                )
                for attribute, kept in self.offers[provider].items()
            }
        except (HierarchyError, IndexError):
            raise FileError(
                f"{journal}, line 1 keeps no tree of {provider} that is one: the journal is damaged; restore it, or "
                "remove it to begin anew"
            ) from None
