"""What is written: each cell gets the value of least expected δ, if that is clearly below leaving it.

Without a purchase a value is written only if it is right with at least the probability that `careful` asks for. What
stays in doubt is listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from pacas.client.weighed_groups.belief import Belief
from pacas.client.weighed_rows.row_options import fit_here, fit_there
from pacas.client.weighed_rows.side_by_side import side_by_side
from pacas.client.weighing.model import Model
from pacas.client.weighing.rare_values import RareCells
from pacas.client.weighing.risks import Risks, least_risk
from pacas.client.weighing.row_changes import RowChanges, shared
from pacas.core.distance import Floats
from pacas.core.hierarchy import Mask
from pacas.core.histogram import NO_ROWS, Ints

MARGIN = 0.3
"""A repair must lower the expected δ of its cell by this share, if nothing was bought."""

PAID_MARGIN = 0.1
"""And by this one, if something was."""

NOBODY = -1
"""No row: one that is in conflict with nothing."""

MOST_ASTRAY = 0.2
"""Where no errors could be tried out, it is not known how well strays are told from others: so likely a stray stays."""


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """Cells of one attribute that were weighed: what is best for each, and how good that is."""

    rows: Ints
    """Ascending."""
    node: Ints
    """The value of least expected δ."""
    sure: Floats
    """How likely it is right."""
    paid: Mask
    """Was something bought about it?"""
    firm: Mask
    """Would it be likelier right than not, whatever share of the errors is on the left, within reason?"""
    keep: Floats
    """The expected δ if the cell is left."""
    gain: Floats
    """By how much writing lowers it."""
    written: Mask
    doubt: Floats
    """How likely the cell is wrong, or stands in the wrong group."""
    in_doubt: Mask
    """Was it left as it is, for want of better knowledge?"""

    def __getitem__(self, chosen: Mask | Ints) -> Weighed:
        return Weighed(
            self.rows[chosen],
            self.node[chosen],
            self.sure[chosen],
            self.paid[chosen],
            self.firm[chosen],
            self.keep[chosen],
            self.gain[chosen],
            self.written[chosen],
            self.doubt[chosen],
            self.in_doubt[chosen],
        )

    def withheld(self, careful: float) -> Weighed:
        """The cells that would be written if something were bought for them: that helps, and is not sure enough."""
        helps = _helps(self.keep, self.gain, self.paid)
        return self[helps & ~self.written & ~self.paid & self.firm & (self.sure < careful)]

    @property
    def expected(self) -> float:
        """The expected δ of all of them, as decided."""
        return float((self.keep - np.where(self.written, self.gain, 0)).sum())


_NO_FLOATS: Floats = np.empty(0)
_NO_MASK: Mask = np.empty(0, dtype=np.bool_)
NOTHING = Weighed(
    NO_ROWS, NO_ROWS, _NO_FLOATS, _NO_MASK, _NO_MASK, _NO_FLOATS, _NO_FLOATS, _NO_MASK, _NO_FLOATS, _NO_MASK
)


def decide(model: Model, careful: float, rare: Mapping[str, RareCells] | None = None) -> dict[str, Weighed]:
    """Per attribute: what to do with its cells. An attribute on both sides takes the surer of two repairs.

    `rare` are cells that may be slips, where it is looked further than dependencies do.
    """
    found: dict[str, list[Weighed]] = {}
    each = side_by_side(lambda belief: _right_cells(model, belief, careful), model.beliefs, model.rows)
    for belief, right in zip(model.beliefs, each, strict=True):
        found.setdefault(belief.fd.rhs, []).append(right)
    rights = {name: parts[0] if len(parts) == 1 else _agreed(model, name, parts) for name, parts in found.items()}
    rights = {name: _unless_others_object(model, name, right, careful) for name, right in rights.items()}
    lefts = {name: _left_cells(model, i, name, careful) for i, name in enumerate(model.left_attributes)}
    moved = np.concatenate([NO_ROWS, *(left.rows[left.written] for left in lefts.values())])
    decided = {
        name: replace(right, in_doubt=right.in_doubt & ~np.isin(right.rows, moved)) for name, right in rights.items()
    }
    further = {name: _rare_cells(model, name, cells, careful) for name, cells in (rare or {}).items()}
    for name, part in [*lefts.items(), *further.items()]:
        decided[name] = _surer(decided[name], part) if name in decided else part
    for name in dict.fromkeys(attribute for _, attribute in model.answered):
        decided[name] = _with_answered(model, name, decided.get(name, NOTHING), careful)
    return _in_new_groups(model, _one_of_each(model, decided, careful), careful)


def _one_of_each(model: Model, decided: dict[str, Weighed], careful: float) -> dict[str, Weighed]:
    """Where either of two changes of a row would do, one of them at most is made, if it is still sure.

    That is so if something was bought, too: it says what a group should hold, and not which of the two is wrong.
    """
    may_be = {name: _changes(model, name, weighed) for name, weighed in decided.items()}
    found = {}
    for name, weighed in decided.items():
        asked = weighed.written | weighed.firm if model.exchangeable(name) else weighed.written
        at = np.flatnonzero(asked & np.isin(weighed.rows, may_be[name].rows))
        changes = RowChanges(weighed.rows[at], weighed.node[at], weighed.sure[at])
        sure, first, either = shared(model, name, changes, may_be)
        kept = first & ((sure >= careful) | ((sure == weighed.sure[at]) & (either <= 1 - careful)))
        written, firm, in_doubt = weighed.written.copy(), weighed.firm.copy(), weighed.in_doubt.copy()
        in_doubt[at] |= written[at] & ~kept & first
        written[at] &= kept
        firm[at] &= either <= 1 - careful
        found[name] = replace(weighed, written=written, firm=firm, in_doubt=in_doubt)
    return found


def _changes(model: Model, name: str, weighed: Weighed) -> RowChanges:
    """The cells of an attribute that could be written, but for those that were asked about themselves."""
    node, column = np.maximum(weighed.node, 0), model.columns[name]
    other = (weighed.node >= 0) & (node != column.codes[weighed.rows]) & column.known[node]
    answered = [row for row, attribute in model.answered if attribute == name]
    at = np.flatnonzero(other & (weighed.sure > 0) & ~np.isin(weighed.rows, answered))
    return RowChanges(weighed.rows[at], weighed.node[at], weighed.sure[at])


def _in_new_groups(model: Model, decided: dict[str, Weighed], careful: float) -> dict[str, Weighed]:
    """A row whose left side is written comes to another group, and what that one holds is asked of its right side.

    So it goes from dependency to dependency: what is written there may be on the left side of the next.
    """
    found, asked = dict(decided), {belief: np.zeros(model.rows, dtype=np.bool_) for belief in model.beliefs}
    for belief, mask in asked.items():  # what was bought of a cell itself is known
        mask[[row for row, attribute in model.answered if attribute == belief.fd.rhs]] = True
    for _ in model.beliefs:
        some = False
        for belief in model.beliefs:
            name, (rows, there, sure) = belief.fd.rhs, _moved(model, belief, found)
            new = ~asked[belief][rows]
            if not new.any():
                continue
            rows, there, sure, some = rows[new], there[new], sure[new], True
            asked[belief][rows] = True
            cells = _moved_cells(belief, rows, there, sure, careful)
            before = found.get(name, NOTHING)
            cells = _unless_others_object(model, name, cells, careful)
            found[name] = _joined(before[~np.isin(before.rows, rows)], cells)
        if not some:
            break
    return found


def _moved(model: Model, belief: Belief, decided: Mapping[str, Weighed]) -> tuple[Ints, Ints, Floats]:
    """The rows of which the left side is written and the right side is not; the group each comes to, and how surely."""
    side, right = belief.side, decided.get(belief.fd.rhs, NOTHING)
    parts = {a: w[w.written] for a in side.attributes if (w := decided.get(a, NOTHING)).written.any()}
    rows = np.unique(np.concatenate([NO_ROWS, *(part.rows for part in parts.values())]))
    rows = rows[~np.isin(rows, right.rows[right.written])]
    values, sure = {a: model.columns[a].codes[rows] for a in side.attributes}, np.ones(len(rows))
    for name, part in parts.items():
        _, at, of = np.intersect1d(rows, part.rows, assume_unique=True, return_indices=True)
        values[name][at] = part.node[of]
        sure[at] *= part.sure[of]
    there = side.find(values)
    came = (there >= 0) & (there != side.group[rows])
    return rows[came], there[came], sure[came]


def _moved_cells(belief: Belief, rows: Ints, there: Ints, moved: Floats, careful: float) -> Weighed:
    """Right-hand cells of rows that come to other groups, which they do with the chance `moved`."""
    shown, column, one = belief.column.codes[rows], belief.column, belief.one_value[there]
    risks = Risks(belief, np.unique(there))
    place = risks.place(there)
    node = risks.node[place]
    apart = column.distance(np.maximum(node, 0), shown)
    keep = moved * one * belief.distance_to_truth(there, shown)
    write = moved * (one * np.where(node >= 0, risks.risk[place], 0) + (1 - one) * apart) + (1 - moved) * apart
    gain = np.where((node >= 0) & (node != shown) & ~risks.overrules[place], keep - write, 0)
    gain[belief.chance(belief.side.group[rows], shown) >= 0.5] = 0  # it fits where it is: that speaks against both
    sure = moved * one * risks.sure[place]
    doubt = moved * one * (1 - belief.chance(there, shown))
    return _decided(rows, node, sure, belief.asked[there], sure >= 0.5, keep, gain, doubt, careful)


def looked_at(belief: Belief) -> Ints:
    """The groups whose cells may be written: those that violate the dependency, or were asked about."""
    return np.flatnonzero(belief.violated | belief.asked)


def _right_cells(model: Model, belief: Belief, careful: float) -> Weighed:
    risks = Risks(belief, looked_at(belief))
    if not len(risks.pairs):
        return NOTHING
    slot = np.full(len(belief.pair_value), -1)
    slot[risks.pairs] = np.arange(len(risks.pairs))
    at = np.flatnonzero(slot[belief.pair] >= 0)
    rows, of = belief.rows[at], slot[belief.pair[at]]
    stays, pairs = model.misplaced.stays[belief.side], len(risks.pairs)
    own = np.minimum(np.searchsorted(rows, stays.rows), len(rows) - 1)
    own = own[rows[own] == stays.rows]  # those in conflict; all others of a pair are alike
    each = np.append(np.full(pairs, NOBODY), rows[own])
    cells = _cells_of_pairs(model, risks, np.append(np.arange(pairs), of[own]), each, careful)
    of[own] = pairs + np.arange(len(own))
    return replace(cells[of], rows=rows)


def _cells_of_pairs(model: Model, risks: Risks, of: Ints, rows: Ints, careful: float) -> Weighed:
    """Cells of some of the (group, value) pairs, of rows that are in conflict and of nobody's."""
    belief, pair = risks.belief, risks.pairs[of]
    astray = 1 - model.misplaced.stays[belief.side][rows]
    group, shown = belief.pair_group[pair], belief.pair_value[pair]
    place = risks.place(group)
    node = risks.node[place]
    miss = np.maximum(1 - model.misplaced.pair_fits[belief][pair], 1e-9)
    here = np.clip(1 - astray / miss, 0, 1)  # what the left side explains is right as it is
    one = belief.one_value[group]  # and so is a group that is what it is
    keep = one * here * risks.keep[of]
    apart = belief.column.distance(np.maximum(node, 0), shown)
    risk = here * np.where(node >= 0, risks.risk[place], 0) + np.clip(astray, 0, 1) * apart
    write = one * risk + (1 - one) * apart
    gain = np.where((node >= 0) & (node != shown) & ~risks.overrules[place], keep - write, 0)
    sure = one * risks.sure[place] * (1 - astray)
    if model.misplaced.has_tried(belief.side):
        firm = one * risks.sure[place] * (1 - astray * model.misplaced.most[rows]) >= 0.5
    else:
        firm = (astray < MOST_ASTRAY) & (one >= 0.5)
    return _decided(rows, node, sure, belief.asked[group], firm, keep, gain, one * miss, careful)


def _decided(
    rows: Ints,
    node: Ints,
    sure: Floats,
    paid: Mask,
    firm: Mask,
    keep: Floats,
    gain: Floats,
    doubt: Floats,
    careful: float,
) -> Weighed:
    """What is written must help. If it is free, it must be as sure as `careful` says; if it is paid for, firm."""
    written = _helps(keep, gain, paid) & ((sure >= careful) | (paid & firm))
    in_doubt = ~written & (doubt > min(1 - careful, 0.5))
    return Weighed(rows, node, sure, paid, firm, keep, gain, written, doubt, in_doubt)


def _helps(keep: Floats, gain: Floats, paid: Mask) -> Mask:
    return np.asarray(gain > np.maximum(np.where(paid, PAID_MARGIN, MARGIN) * keep, 1e-9))


def _left_cells(model: Model, number: int, name: str, careful: float) -> Weighed:
    misplaced, column = model.misplaced, model.columns[name]
    mine = np.flatnonzero(misplaced.options.attribute == number)
    if not len(mine):
        return NOTHING
    of, value, chance = misplaced.options.of[mine], misplaced.options.value[mine], misplaced.chance[mine]
    order = np.lexsort((-chance, of))
    of, value, chance = of[order], value[order], chance[order]
    suspects, start = np.unique(of, return_index=True)
    seg = np.repeat(np.arange(len(suspects)), np.diff(np.append(start, len(of))))
    rows = misplaced.suspects[suspects]
    old, new = column.codes[rows], value[start]
    listed = np.bincount(seg, weights=chance, minlength=len(suspects)).astype(np.float64)
    stays = 1 - misplaced.wrong[suspects]
    other = np.maximum(1 - stays - listed, 0)  # it is wrong, and should be something else
    apart = column.distance(new, old)
    keep = np.bincount(seg, weights=chance * column.distance(old[seg], value), minlength=len(suspects)) + other * apart
    write = np.bincount(seg, weights=chance * column.distance(new[seg], value), minlength=len(suspects))
    gain = keep - write - (stays + other) * apart
    paid = np.zeros(len(rows), dtype=np.bool_)
    for belief in model.beliefs:
        if name in belief.side.attributes and model.tells_strays(belief):
            paid |= belief.asked[belief.side.group[rows]] & (belief.side.group[rows] >= 0)
    firm = chance[start] * misplaced.fewest[rows] >= 0.5
    return _decided(rows, new, chance[start], paid, firm, keep, gain, listed, careful)


def _rare_cells(model: Model, name: str, cells: RareCells, careful: float) -> Weighed:
    column, chance = model.columns[name], cells.chance
    apart = column.distance(cells.meant, column.codes[cells.rows])
    free = np.zeros(len(cells.rows), dtype=np.bool_)
    return _decided(
        cells.rows, cells.meant, chance, free, free, chance * apart, (2 * chance - 1) * apart, chance, careful
    )


def _with_answered(model: Model, name: str, weighed: Weighed, careful: float) -> Weighed:
    """Cells that were asked about themselves: one that fits its answer is right, another one is not.

    Where the answer is general, something else that fits it may be written by what the group holds.
    """
    column = model.columns[name]
    answered = sorted((row, node) for (row, attribute), node in model.answered.items() if attribute == name)
    rows = np.array([row for row, _ in answered], dtype=np.int64)
    nodes = np.array([node for _, node in answered], dtype=np.int64)
    shown = column.codes[rows]
    wrong = ~column.tree.precedes(shown.astype(np.int32), nodes.astype(np.int32))
    best = [_below(model, name, row, node) for row, node in answered]
    new = np.where(wrong, [code for code, _ in best], shown)
    sure = np.where(wrong, [sure for _, sure in best], 1.0)
    gain = np.where(wrong, column.distance(new, shown), 0.0)
    never = np.zeros(len(rows), dtype=np.bool_)
    _, of, at = np.intersect1d(weighed.rows, rows, assume_unique=True, return_indices=True)
    fits = column.tree.precedes(np.maximum(weighed.node[of], 0).astype(np.int32), nodes[at].astype(np.int32))
    general = ~column.tree.is_ground[nodes[at]] & ~wrong[at]
    still = weighed[of[weighed.written[of] & fits & general]]
    sold = Weighed(rows, new, sure, ~never, ~never, gain, gain, wrong, np.zeros(len(rows)), never)
    sold = _joined(still, sold[~np.isin(rows, still.rows)])
    return _joined(weighed[~np.isin(weighed.rows, rows)], sold)


def _below(model: Model, name: str, row: int, node: int) -> tuple[int, float]:
    """The value of least expected δ for a cell that lies at or below a node, and how likely it is right."""
    column = model.columns[name]
    for belief in model.beliefs:
        if belief.fd.rhs != name or (group := int(belief.side.group[row])) < 0:
            continue
        codes = belief.candidate[group][belief.candidate[group] >= 0]
        codes = codes[column.tree.precedes(codes.astype(np.int32), node) & column.known[codes]]
        if len(codes):
            weight = belief.chance(np.full(len(codes), group), codes)
            total = float(weight.sum()) + UNLISTED
            best = int(codes[weight.argmax()])
            found = least_risk(column, codes, weight / total, UNLISTED / total, node, best)
            return found.node, found.sure
    return node, 1.0


UNLISTED = 0.05
"""The weight of values that a row's group does not show, once an answer has ruled others out."""


# ---- one cell, several opinions --------------------------------------------------------------------------------


def _agreed(model: Model, name: str, found: list[Weighed]) -> Weighed:
    """Of several dependencies for one cell the one that gains most decides, unless another knows better."""
    best = found[0]
    for other in found[1:]:
        best = _surer(best, other)
    veto = np.zeros(len(best.rows), dtype=np.bool_)
    codes = model.columns[name].codes[best.rows]
    for belief in model.beliefs:
        if belief.fd.rhs != name or not belief.rates.holds:
            continue
        group = belief.side.group[best.rows]
        there = (group >= 0) & (belief.side.size[np.maximum(group, 0)] > 1)
        against = belief.chance(group, np.maximum(best.node, 0)) < belief.chance(group, codes)
        veto |= there & against & (model.misplaced.stays[belief.side][best.rows] >= 0.5)
    return replace(best, written=best.written & ~veto, in_doubt=best.in_doubt | (best.written & veto))


def _unless_others_object(model: Model, name: str, weighed: Weighed, careful: float) -> Weighed:
    """A cell on the left side of another dependency: what the row shows there must not speak for the cell as it is."""
    at = np.flatnonzero(weighed.written)
    rows, node = weighed.rows[at], weighed.node[at]
    odds = np.zeros(len(at))
    for belief in model.beliefs:
        side = belief.side
        if name in side.attributes and len(at):
            there = side.find({a: node if a == name else model.columns[a].codes[rows] for a in side.attributes})
            here, shown = side.group[rows], belief.column.codes[rows]
            odds += np.where(
                (here >= 0) & (there >= 0), fit_there(belief, shown, there) - fit_here(belief, shown, here), 0.0
            )
    sure = np.clip(weighed.sure[at], 1e-9, 1 - 1e-9)
    still = 1 / (1 + (1 - sure) / sure * np.exp(-odds))
    veto = np.zeros(len(weighed.rows), dtype=np.bool_)
    veto[at] = (odds < 0) & (still < careful)
    return replace(weighed, written=weighed.written & ~veto, in_doubt=weighed.in_doubt | veto)


def _surer(one: Weighed, other: Weighed) -> Weighed:
    """Per cell: what is written rather than left, and of two that are the one that gains more."""
    together = _joined(one, other, sort=False)
    order = np.lexsort((-together.gain, ~together.written, together.rows))
    first = order[np.flatnonzero(np.diff(together.rows[order], prepend=-1))]
    return together[first]


def _joined(one: Weighed, other: Weighed, *, sort: bool = True) -> Weighed:
    both = Weighed(
        np.concatenate([one.rows, other.rows]),
        np.concatenate([one.node, other.node]),
        np.concatenate([one.sure, other.sure]),
        np.concatenate([one.paid, other.paid]),
        np.concatenate([one.firm, other.firm]),
        np.concatenate([one.keep, other.keep]),
        np.concatenate([one.gain, other.gain]),
        np.concatenate([one.written, other.written]),
        np.concatenate([one.doubt, other.doubt]),
        np.concatenate([one.in_doubt, other.in_doubt]),
    )
    return both[np.argsort(both.rows, kind="stable")] if sort else both
