"""The client that weighs, on arrays and logarithms, believes what the literal one does, explanation by explanation."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lanes import examples
from oracles.cleaning import Dependency
from oracles.tree import Value
from oracles.weighed_cases import NEAR, Case, Draw, cases, least_of, near, one_value, told, with_rates
from oracles.weighing import (
    OTHER,
    Column,
    Least,
    beside_others,
    calibrated,
    decide,
    fit,
    lean_likelihoods,
    left_options,
    option_odds,
)

from pacas.client.weighed_groups.block_lean import lean_likelihood
from pacas.client.weighed_rows import row_options
from pacas.client.weighed_rows.calibration import SHARES, side_evidence
from pacas.client.weighed_rows.tried_errors import TriedErrors
from pacas.client.weighing import decision
from pacas.client.weighing.model import Model
from pacas.client.weighing.risks import Risks
from pacas.client.weighing.row_changes import RowChanges, shared
from pacas.client.weighing.worth import worth_of_groups
from pacas.core.histogram import Ints

# ---- beliefs --------------------------------------------------------------------------------------------------------


@examples(160)
@given(cases(), st.data())
def test_a_groups_posterior_is_that_of_its_explanations(case: Case, data: st.DataObject) -> None:
    told(data.draw, case)
    for number, belief in enumerate(case.model.beliefs):
        label = belief.column.tree.label
        for group, posterior in case.posteriors(number).items():
            codes = belief.candidate[group]
            assert [label(int(c)) for c in codes[codes >= 0]] == posterior.candidates
            weight = dict(zip(posterior.candidates, belief.weight[group].tolist(), strict=False))
            assert all(near(weight[v], posterior.weight[v]) for v in posterior.candidates)
            assert near(belief.other[group], posterior.weight[OTHER])
            assert bool(belief.violated[group]) == case.groups[number].is_violated(posterior.key)
            likeliest = label(int(belief.likeliest[group]))
            assert near(belief.sure[group], max(posterior.weight[v] for v in posterior.candidates))
            assert near(belief.sure[group], posterior.weight[likeliest])
            for place, value in enumerate(posterior.candidates):
                assert near(belief.block[group, place], posterior.block(likeliest, value))
            for value in [label(code) for code in range(len(belief.column))]:
                chance = belief.chance(np.array([group]), np.array([belief.column.tree.code(value)]))[0]
                assert near(chance, posterior.chance(value))


@examples(80)
@given(cases(), st.data())
def test_which_camp_was_overwritten_is_learnt_from_groups_where_one_knows(case: Case, data: st.DataObject) -> None:
    told(data.draw, case)
    for number, belief in enumerate(case.model.beliefs):
        seen = [p for p in case.posteriors(number).values() if case.groups[number].is_violated(p.key)]
        for posterior in seen:
            best = sorted((posterior.weight[v] for v in posterior.candidates), reverse=True)
            assume(len(best) < 2 or best[0] - best[1] > NEAR)
        found = lean_likelihood(belief.camps(), belief.rates.lean)
        assert all(near(one, Fraction(other)) for one, other in zip(found, lean_likelihoods(seen), strict=True))


@examples(80)
@given(cases(), st.data())
def test_a_group_is_judged_by_what_others_are_sure_to_have(case: Case, data: st.DataObject) -> None:
    told(data.draw, case)
    for number, belief in enumerate(case.model.beliefs):
        label, groups = belief.column.tree.label, case.groups[number]
        order = {label(code): code for code in range(len(belief.column))}
        posteriors = case.posteriors(number)
        belief.expect_what_is_believed()
        for group, posterior in posteriors.items():
            sure = [v for v in posterior.candidates if posterior.weight[v] > Fraction(0.9)]
            assume(all(abs(posterior.weight[v] - Fraction(0.9)) > NEAR for v in posterior.candidates))
            expected = sure[0] if sure else groups.most_frequent(posterior.key, order)
            expected = expected if not sure or posterior.column.is_known(expected) else None
            code = int(belief.prior.told[group])
            assert (label(code) if code >= 0 else None) == expected


@examples(60)
@given(cases())
def test_what_is_learnt_moves_as_far_as_what_was_bought_moves_it(case: Case) -> None:
    """Rounds end before nothing moves any more. Who then weighs again and has bought nothing has learnt nothing."""
    before = [belief.rates for belief in case.model.beliefs]
    case.fit_again()
    for belief, rates in zip(case.model.beliefs, before, strict=True):
        for name in ("wrong", "unlike", "overwritten", "lean", "mixed", "confusion", "own_confusion"):
            assert getattr(belief.rates, name) == pytest.approx(getattr(rates, name))


@examples(60)
@given(cases())
def test_the_part_of_a_left_side_that_tells_most_is_found(case: Case) -> None:
    for belief, groups in zip(case.model.beliefs, case.groups, strict=True):
        tree = belief.column.tree
        scores = groups.part_scores({tree.label(code): code for code in range(len(tree))})
        assert scores[belief.prior.part] >= max(scores.values()) - NEAR


# ---- expected error -------------------------------------------------------------------------------------------------


@examples(120)
@given(cases(), st.data())
def test_the_expected_error_of_writing_and_of_leaving(case: Case, data: st.DataObject) -> None:
    told(data.draw, case)
    for number, belief in enumerate(case.model.beliefs):
        label = belief.column.tree.label
        risks = Risks(belief, np.arange(belief.side.count))
        posteriors = case.posteriors(number)
        for part in risks.parts:
            for at, group in enumerate(part.groups.tolist()):
                for place, value in enumerate(posteriors[group].candidates):
                    written = part.write[at, place]
                    ground = posteriors[group].column.ties(value)
                    assert near(written, posteriors[group].expected(value)) if ground else np.isinf(written)
        for pair, keep in zip(risks.pairs.tolist(), risks.keep.tolist(), strict=True):
            posterior = posteriors[int(belief.pair_group[pair])]
            assert near(keep, posterior.expected(label(int(belief.pair_value[pair]))))
        for group, posterior in posteriors.items():
            least_of(risks, belief, group, posterior)


# ---- decisions ------------------------------------------------------------------------------------------------------

ONE_OPINION = [
    [Dependency(("A", "B"), "C")],
    [Dependency(("A",), "C")],
    [Dependency(("A",), "B"), Dependency(("A",), "C")],
]
"""No attribute is on both sides, or right of two: what a dependency says of a cell is what is done."""


@examples(160)
@given(cases(ONE_OPINION), st.sampled_from([0.0, 0.5, 0.8, 0.9, 0.99, 1.0]), st.data())
def test_right_hand_cells_are_decided_alike(case: Case, careful: float, data: st.DataObject) -> None:
    told(data.draw, case)
    if data.draw(st.booleans()):
        with_rates(data.draw, case)
    model = case.model
    decided = decision.decide(model, careful)
    moved = {row for name in model.left_attributes for row in decided[name].rows[decided[name].written].tolist()}
    for number, belief in enumerate(model.beliefs):
        posteriors, name = case.posteriors(number), belief.fd.rhs
        lefts = [decided[a] for a in belief.side.attributes if a in decided]
        elsewhere = {row for left in lefts for row in left.rows[left.written].tolist()}  # judged where they come to
        looked = set(decision.looked_at(belief).tolist())
        assert looked == {g for g, p in posteriors.items() if p.answers or case.groups[number].is_violated(p.key)}
        risks = Risks(belief, np.array(sorted(looked), dtype=np.int64))
        found = decided[name]
        answered = {row for row, attribute in model.answered if attribute == name}
        places = {row: at for at, row in enumerate(found.rows.tolist())}
        here = {row for g in looked for row in posteriors[g].rows}
        assert here - answered <= set(places) - answered <= (here | elsewhere) - answered
        for group in looked:
            posterior = posteriors[group]
            least = least_of(risks, belief, group, posterior)
            assert near(belief.one_value[group], posterior.one_value)
            for row in set(posterior.rows) - answered - elsewhere:
                fits = Fraction(float(model.misplaced.fits(belief, np.array([row]))[0]))
                stays = Fraction(float(model.misplaced.stays[belief.side][row]))
                at = places[row]
                most = Fraction(float(model.misplaced.most[row])) if model.misplaced.has_tried(belief.side) else None
                literal = decide(posterior, row, least, fits, stays, careful, most)
                assert near(found.keep[at], literal.keep)
                assert least is None or near(found.sure[at], literal.sure)
                if literal.nearest > NEAR:
                    assert near(found.gain[at], literal.gain)
                    assert bool(found.written[at]) == literal.written
                    assert bool(found.in_doubt[at]) == (literal.in_doubt and row not in moved)


@examples(120)
@given(cases([[Dependency(("A",), "C"), Dependency(("C",), "D")]]), st.sampled_from([0.5, 0.9]), st.data())
def test_no_cell_is_written_that_the_rest_of_its_row_speaks_for(
    case: Case, careful: float, data: st.DataObject
) -> None:
    told(data.draw, case)
    assume(len(case.model.beliefs) == 2 and case.model.beliefs[1].rates.holds)
    label = case.model.columns["C"].tree.label
    found, by_key = decision.decide(case.model, careful)["C"], {p.key: p for p in case.posteriors(1).values()}
    answered = {row for row, attribute in case.model.answered if attribute == "C"}
    for row, node, sure in zip(
        *(part[found.written].tolist() for part in (found.rows, found.node, found.sure)), strict=True
    ):
        here, there = (by_key.get((value,)) for value in (case.rows[row]["C"], label(node)))
        if row in answered or here is None or there is None:
            continue
        shown = here.column.cells[row]
        belief = case.model.beliefs[1]
        code = int(belief.column.codes[row])
        as_error = here.rates.wrong * Fraction(float(belief.rates.own_confusion[code]))
        group, value = belief.side.group[[row]], np.array([code])
        outvoted = belief.rates.blocks_are_rare and bool(belief.is_outvoted(group, value)[0])
        now = as_error if outvoted or here.chance(shown) < Fraction(0.95) else 1 - here.rates.wrong
        then = there.chance(shown) * (1 - there.rates.wrong) + (1 - there.chance(shown)) * as_error
        odds = float(then / now) * sure / max(1 - sure, 1e-9)
        assert then >= now * (1 - Fraction(NEAR)) or odds / (1 + odds) >= careful - NEAR


CYCLES = [
    [Dependency(("A",), "C"), Dependency(("C",), "A")],
    [Dependency(("A",), "C"), Dependency(("C",), "D")],
    [Dependency(("A",), "C"), Dependency(("C",), "A"), Dependency(("A", "D"), "B")],
]


@examples(120)
@given(cases(CYCLES), st.data())
def test_changes_of_a_row_that_would_each_do_share_what_is_believed(case: Case, data: st.DataObject) -> None:
    model, names = case.model, sorted(case.model.columns)
    changes = {name: _drawn_changes(data.draw, model, name) for name in names}
    for name, mine in changes.items():
        found = shared(model, name, mine, changes)
        for at, (row, node, sure) in enumerate(zip(*(part.tolist() for part in mine), strict=True)):
            others = []
            for other, instead in changes.items():
                together = any({name, other} <= set(fd.attributes) for fd in _fds(model))
                if other != name and together and row in instead.rows:
                    place = int(np.searchsorted(instead.rows, row))
                    ratio = _likelier(case, row, name, node, {other: int(instead.node[place])})
                    assume(not near(float(ratio), Fraction(1)))
                    others += [Fraction(float(instead.sure[place]))] if ratio < 1 else []
            assert near(found.sure[at], beside_others(Fraction(sure), others))
            assert bool(found.first[at]) == all(sure >= one for one in others)


def _fds(model: Model) -> list[Any]:
    return [belief.fd for belief in model.beliefs]


def _drawn_changes(draw: Draw, model: Model, name: str) -> RowChanges:
    """Some rows get some known values; how sure that is are eighths, which add up exactly."""
    known = np.flatnonzero(model.columns[name].known).tolist()
    rows = sorted(draw(st.sets(st.integers(0, model.rows - 1)))) if known else []
    nodes = [draw(st.sampled_from(known)) for _ in rows]
    sure = [draw(st.integers(1, 7)) / 8 for _ in rows]
    return RowChanges(np.array(rows, dtype=np.int64), np.array(nodes, dtype=np.int64), np.array(sure))


def _likelier(case: Case, row: int, name: str, node: int, made: Mapping[str, int]) -> Fraction:
    """How much likelier a row is with one more change, one more error that it takes included."""
    model, ratio = case.model, Fraction(1)
    told = [(i, b) for i, b in enumerate(model.beliefs) if name in b.fd.attributes and b.rates.holds]
    own = Column(name, case.rows, case.trees)
    rate = max((b.rates.unlike for _, b in told), default=1.0)
    ratio *= Fraction(rate) * max(Fraction(own.count[own.cells[row]]), Fraction(1, 2)) / len(case.rows)
    for number, belief in told:
        by_key, lhs = {p.key: p for p in case.posteriors(number).values()}, case.groups[number].lhs
        for power, change in ((1, {**made, name: node}), (-1, made)):
            held = {a: int(change.get(a, column.codes[row])) for a, column in model.columns.items()}
            labels = {a: model.columns[a].tree.label(code) for a, code in held.items()}
            shown, right = held[belief.fd.rhs], Column(belief.fd.rhs, case.rows, case.trees)
            confused = Fraction(float(belief.rates.own_confusion[shown]))
            group = by_key.get(tuple(labels[a] for a in lhs))
            ratio *= fit(group, right, labels[belief.fd.rhs], Fraction(belief.rates.wrong), confused) ** power
    return ratio


@examples(80)
@given(cases())
def test_a_row_fits_its_group_as_the_groups_explanations_say(case: Case) -> None:
    for number, belief in enumerate(case.model.beliefs):
        for posterior in case.posteriors(number).values():
            found = case.model.misplaced.fits(belief, np.array(posterior.rows))
            for row, fits in zip(posterior.rows, found.tolist(), strict=True):
                assert near(fits, posterior.chance(posterior.column.cells[row]))


@examples(100)
@given(cases(), st.sampled_from([0.0, 0.5, 0.9]), st.data())
def test_nothing_is_written_that_is_expected_to_be_worse(case: Case, careful: float, data: st.DataObject) -> None:
    told(data.draw, case)
    for found in decision.decide(case.model, careful).values():
        assert (found.gain[found.written] >= 0).all() and (found.gain <= found.keep + NEAR).all()
        assert (found.sure[found.written & ~found.paid] >= careful).all()
        assert (np.diff(found.rows) > 0).all(), "a cell is decided once"


# ---- rows in the wrong group ----------------------------------------------------------------------------------------


@examples(120)
@given(cases([[Dependency(("A", "B"), "C")], [Dependency(("A",), "C")]]), st.data())
def test_options_are_scored_by_what_they_explain(case: Case, data: st.DataObject) -> None:
    told(data.draw, case)
    assume(case.model.beliefs and case.model.beliefs[0].rates.holds)
    belief, groups, posteriors = case.model.beliefs[0], case.groups[0], case.posteriors(0)
    finder, column = case.model.misplaced.finder, belief.column
    rows = np.flatnonzero((belief.side.group >= 0) & column.known[column.codes])
    finder.index()
    options = finder.options(finder.suppose(rows), {belief: np.arange(len(rows))})
    label, order = column.tree.label, {column.tree.label(code): code for code in range(len(column))}
    own = {label(code): Fraction(q) for code, q in enumerate(belief.rates.own_confusion.tolist())}
    by_key = {posterior.key: posterior for posterior in posteriors.values()}
    parts = (options.of, options.attribute, options.value, options.score)
    for of, number, value, score in zip(*(part.tolist() for part in parts), strict=True):
        row, name = int(rows[of]), finder.attributes[number]
        here = posteriors[int(belief.side.group[row])]
        new = case.model.columns[name].tree.label(value)
        key = tuple(new if a == name else k for a, k in zip(groups.lhs, here.key, strict=True))
        shown = here.column.cells[row]
        assume(abs(here.chance(shown) - Fraction(0.95)) > NEAR)
        outvoted = groups.is_violated(here.key) and groups.most_frequent(here.key, order) not in (shown, None)
        unlike = here.chance(shown) < Fraction(0.95) or (outvoted and belief.rates.overwritten < 0.05)
        share = Fraction(finder.share[name])
        odds = option_odds(here, by_key[key], row, Column(name, case.rows, case.trees), share, own, unlike=unlike)
        assert near(float(np.exp(score)), odds)


SCORES = st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=40)


@examples(120)
@given(
    SCORES, SCORES, st.lists(st.tuples(st.integers(-12, 12).map(float), st.sampled_from([0.0, 0.5, 1.0]))), st.data()
)
def test_scores_are_calibrated_by_errors_that_were_tried_out(
    left: list[float], right: list[float], rows: list[tuple[float, float]], data: st.DataObject
) -> None:
    elsewhere = data.draw(st.lists(st.floats(-5, 5), min_size=len(SHARES), max_size=len(SHARES)))
    tried = TriedErrors(np.array(left), np.array(right), np.empty(0), np.empty(0, dtype=np.bool_))
    scores, weights = (np.array([row[i] for row in rows]) for i in (0, 1))
    found = side_evidence(tried, scores, weights).calibrated(np.array(elsewhere))
    cuts = sorted(set(np.quantile([*left, *right], np.linspace(0, 1, 25)[1:-1]).tolist()))
    share, odds = calibrated(cuts, left, right, rows, elsewhere)
    assert found.share == pytest.approx(share) and found.log_odds.tolist() == pytest.approx(odds)


# ---- worth and purchases --------------------------------------------------------------------------------------------


@examples(120)
@given(cases(), st.sampled_from([0.0, 0.9, 1.0]), st.data())
def test_an_answer_is_worth_what_it_may_be(case: Case, careful: float, data: st.DataObject) -> None:
    told(data.draw, case)
    for number, belief in enumerate(case.model.beliefs):
        found = worth_of_groups(belief, np.arange(belief.side.count), careful)
        risks = Risks(belief, np.arange(belief.side.count))
        posteriors, stays = case.posteriors(number), case.stays(number)
        for group, worths in zip(found.groups.tolist(), found.worth.tolist(), strict=True):
            least = least_of(risks, belief, group, posteriors[group])
            one = one_value(belief, group, posteriors[group])
            if least is not None and _is_near_a_threshold(least, one, careful):
                continue
            assert len(worths) == posteriors[group].column.tree.height + 1
            for level, worth in enumerate(worths):
                assert near(worth, posteriors[group].worth(level, Fraction(careful), stays, least, one))


def _is_near_a_threshold(least: Least, one: Fraction, careful: float) -> bool:
    return min(abs(float(one * least.sure) - careful), abs(float(least.sure) - 0.995)) <= NEAR


# ---- where else a row may belong ------------------------------------------------------------------------------------


@examples(120)
@given(cases(), st.sampled_from([1, 2, 6]))
def test_a_row_may_belong_to_the_largest_groups_one_attribute_away(case: Case, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_options, "MOST", most)
        case.__post_init__()
    model = case.model
    label = {a: column.tree.label for a, column in model.columns.items()}
    expected: set[tuple[int, str, Value]] = set()
    for number in range(len(model.beliefs)):
        posteriors = case.posteriors(number)
        believed = {}
        for posterior in posteriors.values():
            value = max(posterior.candidates, key=lambda v: posterior.weight[v])
            assume(abs(posterior.weight[value] - Fraction(1, 2)) > NEAR)
            if posterior.weight[value] > Fraction(1, 2):
                believed[posterior.key] = value
        for posterior in posteriors.values():
            for row in posterior.rows:
                shown = posterior.column.cells[row]
                fits = posterior.chance(shown)
                assume(abs(fits - Fraction(0.95)) > NEAR)
                if fits < Fraction(0.95) and posterior.column.is_known(shown):
                    options = left_options(case.groups[number], row, believed, most)
                    expected |= {(row, attribute, value) for attribute, value in options}
    listed = model.misplaced.options
    names = [model.left_attributes[at] for at in listed.attribute.tolist()]
    rows: Ints = model.misplaced.suspects[listed.of]
    found = zip(rows.tolist(), names, listed.value.tolist(), strict=True)
    assert {(row, name, label[name](value)) for row, name, value in found} == expected
