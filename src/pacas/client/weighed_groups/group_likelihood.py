"""How well each value explains the cells of a group: single cells that are wrong, or a block that was overwritten.

The truth of a group is one value v. Each of its cells shows v, or is wrong by itself, at a rate, and shows some other
value as errors do. Or else, rarely, one value w was written over a share u of the group: then the cells that show w are
no errors of their own. The density of u is linear, so that its integral is Euler's beta function times a factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pacas.client.weighed_groups.block_lean import density
from pacas.client.weighed_groups.rates import Rates
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import Ints

NEVER = -1e30
"""The logarithm of a chance that there is not."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What is seen of m groups, for up to K candidates each."""

    value: Ints
    """[m, K] the candidates' codes, −1 where there are fewer."""
    count: Floats
    """[m, K] how many cells show each."""
    as_errors: Floats
    """[m, K] the log chance of these cells if each of them is wrong."""
    all_as_errors: Floats
    """[m] the same of all cells of the group."""
    stated: Mask
    """[m, K] is it a value at all? What is missing is no block."""

    @property
    def present(self) -> Mask:
        return np.asarray(self.value >= 0)


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The posterior of m groups."""

    value: Floats
    """[m, K] of each candidate."""
    other: Floats
    """[m] of any other value."""
    block: Floats
    """[m, K, K] given the candidate, that the cells of another one are a block."""


class LogFactorials:
    """log n! up to some n, for whole n."""

    def __init__(self, most: int) -> None:
        self._table = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 2)))])

    def __call__(self, n: Floats) -> Floats:
        return np.asarray(self._table[n.astype(np.int64)])


def weigh_groups(
    cells: Cells, log_prior: Floats, log_other: Floats, rates: Rates, factorials: LogFactorials
) -> Weights:
    """How likely each candidate is the truth; `log_prior` is [m, K], `log_other` [m] that of all other values."""
    here = cells.present
    code = np.maximum(cells.value, 0)
    log_q = rates.log_confusion[code]
    right, single, blocked = np.log1p(-rates.wrong), np.log1p(-rates.overwritten), np.log(rates.overwritten)
    n = cells.count
    elsewhere = np.log(np.maximum(1 - np.where(here, rates.confusion[code], 0).sum(1), 1e-9))

    def block(over: Floats, under: Floats) -> Floats:
        """log ∫ uʷ (1 − u)ᵛ ρ(u) du."""
        beta = factorials(over) + factorials(under) - factorials(over + under + 1)
        return np.asarray(np.log(density(rates.lean, over, under)) + beta)

    v, w = n[:, :, None], n[:, None, :]
    v, w = np.broadcast_arrays(v, w)
    by = log_q[:, None, :] - cells.as_errors[:, None, :] + block(w, v) + (v + w) * right
    blocks = here & (n > 0) & cells.stated
    may_be = blocks[:, None, :] & ~np.eye(n.shape[1], dtype=np.bool_)[None]
    by = np.where(may_be, by, NEVER)
    unseen = elsewhere[:, None] + block(np.zeros_like(n), n) + n * right
    of_block = blocked + log_sum(np.concatenate([by, unseen[:, :, None]], axis=2))
    explained = np.logaddexp(single + n * right, of_block)
    joint = np.where(here, log_prior + cells.all_as_errors[:, None] - cells.as_errors + explained, NEVER)
    none = np.where(blocks, log_q - cells.as_errors + block(n, np.zeros_like(n)) + n * right, NEVER)
    no_cells = np.zeros_like(elsewhere)
    alone = elsewhere + block(no_cells, no_cells)
    of_other = np.logaddexp(single, blocked + log_sum(np.concatenate([none, alone[:, None]], axis=1)))
    joint = np.concatenate([joint, (log_other + cells.all_as_errors + of_other)[:, None]], axis=1)
    posterior = np.exp(joint - log_sum(joint)[:, None])
    return Weights(posterior[:, :-1], posterior[:, -1], np.exp(blocked + by - explained[:, :, None]))


def log_sum(logs: Floats) -> Floats:
    """The logarithm of the sum, over the last axis."""
    most = logs.max(axis=-1, keepdims=True)
    return np.asarray((most + np.log(np.exp(logs - most).sum(axis=-1, keepdims=True))).squeeze(-1))
