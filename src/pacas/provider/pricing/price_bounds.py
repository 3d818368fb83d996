"""What one row costs at the paper's quotes, whatever its value: as much as a catalogue may tell of prices.

Prices follow the value there. Its bounds follow from the tree, from how many neighbours a cell has, and from what one
of them weighs, which any quote at level 0 tells: nothing is said of where rows stand.
"""

from __future__ import annotations

import numpy as np

from pacas.engine.grouping import Ints
from pacas.protocol.messages import PriceBounds
from pacas.provider.support.cell_neighbours import candidates_of
from pacas.provider.support.support_set import ONLY_UPDATES, Generated
from pacas.provider.terms import Terms


def price_bounds(terms: Terms, attribute: str, weights: Ints) -> tuple[PriceBounds, ...] | None:
    """At each level the lowest and the highest price for who has bought nothing; None where the data decides them.

    `weights` are the attribute's neighbours', of which only the lowest and the highest count. A row that a policy needs
    more neighbours of (D7) costs more, and several rows together the sum.
    """
    support, tree = terms.support, terms.hierarchies.get(attribute)
    if not isinstance(support, Generated) or support.size is not None or support.mix != ONLY_UPDATES:
        return None
    if tree is None or terms.points or attribute not in terms.simple or not len(weights):
        return None
    candidates, ground = candidates_of(tree), np.flatnonzero(tree.is_ground)
    wanted = np.where(candidates.levels[ground] > 0, np.int32(support.per_cell), np.int32(0))
    shares = np.array([candidates.share(ground, wanted, below) for below in range(1, tree.height + 1)])
    told_apart = [shares[level:].sum(axis=0) for level in range(tree.height)]
    lightest, heaviest = int(weights.min()), int(weights.max())
    below = [PriceBounds(int(n.min()) * lightest, int(n.max()) * heaviest) for n in told_apart]
    return (*below, PriceBounds(0, 0))
