"""A steward on the journal: what was approved, rejected, pinned and undone is kept, whenever a run ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interrupted_offices import ENGINE, JOBS, PARTS, SHOPS, At, Ended, Watched, dirty, told, truth
from lanes import share

import pacas
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.edits import edited
from pacas.client.outcome.steps import PINNED, REJECTED, BoughtValue, Edit, Order, Relaying, Unrepaired
from pacas.core.histogram import Ints
from pacas.formats.journal.journal import Journal
from pacas.protocol.messages import Quote, Request

CLEANERS: dict[str, Callable[[], pacas.SafeClean]] = {
    "weigh": lambda: pacas.SafeClean("OFFICE -> JOB", 20, strategy="weigh"),
    "paper": lambda: pacas.SafeClean("OFFICE -> JOB", 20, strategy="paper", rounds=2),
}


class Steward(Relaying):
    """Decides by the row that is asked about, and edits as it goes."""

    def __init__(self, journal: Journal, shop: Watched, moment: Callable[[], None]) -> None:
        super().__init__(journal)
        self.journal, self.shop, self.moment = journal, shop, moment

    def approve(self, order: Order, rows: Ints) -> Order | str:
        self.moment()
        known = super().approve(order, rows)
        if isinstance(known, str):
            return known
        kind = order.row % 6
        if kind == 0:
            return REJECTED
        if kind == 1:
            self.journal.edit(Edit(order.attribute, rows, JOBS.ground_labels[order.row % 12]))
            self.moment()
            return PINNED
        if kind == 2:
            self.journal.edit(Edit("JOB", rows[:2], None))
            self.moment()
            self.journal.reject(order.attribute, order.row + 1)
            self.moment()
        if kind == 3:
            dearer = Request(order.request.tuple, order.attribute, max(order.request.level - 1, 0))
            quoted = self.shop.quote(dearer)
            if isinstance(quoted, Quote):
                return order._replace(request=dearer, ceiling=quoted.price)
        return order


def reviewed(path: Path, shop: Watched, moment: Callable[[], None], cleaner: str, *, alone: bool = False) -> Cleaning:
    """A run with a steward, or, `alone`, one as the command line does it; and the edits that were made in it."""
    shop.moment = moment
    journal = Journal(path, PARTS, resume=True)
    for name in ("ordering", "settled"):
        told_ = getattr(journal, name)

        def between(*what: Any, told_: Any = told_) -> None:
            moment()
            told_(*what)
            moment()

        setattr(journal, name, between)
    observer = journal if alone else Steward(journal, shop, moment)
    try:
        found = CLEANERS[cleaner]().clean(dirty(), shop, run=journal.run, observer=observer, engine=ENGINE)
        return edited(found, journal.edits)
    finally:
        journal.close()


def result(cleaning: Cleaning) -> dict[str, Any]:
    whole = told(cleaning) if cleaning.weighing is not None else {}
    return whole | {
        "table": cleaning.relation.table.to_pydict(),
        "purchases": [(p.attribute, p.row, p.level, p.value, p.price, p.key[-3:]) for p in cleaning.purchases],
        "spent": cleaning.spent_nanocredits,
        "violations": cleaning.violations_after,
        "why": [(r.attribute, r.written.tolist(), r.new, r.why) for r in cleaning.repairs],
    }


def keyless(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "purchases"}


@pytest.mark.parametrize("cleaner", CLEANERS)
@pytest.mark.parametrize("name", SHOPS)
def test_a_reviewed_run_that_ends_at_any_moment_is_continued_to_the_same_end(
    tmp_path: Path, name: str, cleaner: str
) -> None:
    path, at = tmp_path / "out.csv.journal", At()
    once = reviewed(path, Watched(name), at, cleaner)
    expected = result(once)
    decided = {repair.why.value for repair in once.repairs} | {left.reason for left in once.unrepaired}
    assert len(once.purchases) > 2 and decided & {"rejected", "pinned", "undone"}
    for fatal in np.unique(np.linspace(1, at.count, share(32)).astype(int)).tolist():
        path.unlink()
        shop = Watched(name)
        with pytest.raises(Ended):
            reviewed(path, shop, At(fatal), cleaner)
        assert keyless(result(reviewed(path, shop, At(), cleaner))) == keyless(expected)


@pytest.mark.parametrize("name", SHOPS)
def test_the_command_line_takes_up_a_reviewed_run_and_the_steward_its_run(tmp_path: Path, name: str) -> None:
    """What was decided stays decided; what was not yet is bought by the one and asked about by the other."""
    path, at = tmp_path / "out.csv.journal", At()
    reviewed(path, Watched(name), at, "weigh")
    for fatal in np.unique(np.linspace(2, at.count - 1, share(16)).astype(int)).tolist():
        path.unlink()
        shop = Watched(name)
        with pytest.raises(Ended):
            reviewed(path, shop, At(fatal), "weigh")
        before = Journal(path, PARTS, resume=True)
        steps, edits = before.steps, before.edits
        ahead = [row for row in range(dirty().num_rows) if before.is_rejected("JOB", row)]
        pending = before.recall(steps)
        decided = [repr(before.recall(step)) for step in range(steps)]
        before.close()
        found = reviewed(path, shop, At(), "weigh", alone=True)
        assert len(found.edits) == len(edits)
        after = Journal(path, PARTS, resume=True)
        assert [repr(after.recall(step)) for step in range(steps)] == decided
        again = [after.recall(step) for step in range(steps, after.steps)]
        after.close()
        assert all(getattr(outcome, "reason", None) != PINNED for outcome in again)
        rejected = [one for one in again if isinstance(one, Unrepaired) and one.reason == REJECTED]
        assert all(np.isin(ahead, one.rows).any() for one in rejected)
        bought = {one.row for one in again if isinstance(one, BoughtValue) and one.attribute == "JOB"}
        assert bought.isdisjoint(ahead) or getattr(pending, "row", None) in ahead
        assert result(reviewed(path, shop, At(), "weigh"))["table"] == result(found)["table"]


@pytest.mark.parametrize("cleaner", CLEANERS)
def test_what_was_rejected_ahead_is_not_bought_by_the_command_line(tmp_path: Path, cleaner: str) -> None:
    path = tmp_path / "out.csv.journal"
    first = reviewed(tmp_path / "first.journal", Watched("falling"), At(), cleaner, alone=True)
    unwanted = [first.purchases[1].row, first.purchases[-1].row]
    journal = Journal(path, PARTS)
    for row in unwanted:
        journal.reject("JOB", row)
        journal.reject("JOB", row)
    journal.close()
    found = reviewed(path, Watched("falling"), At(), cleaner, alone=True)
    assert found.purchases and not {bought.row for bought in found.purchases} & {*unwanted}
    assert REJECTED in {left.reason for left in found.unrepaired}


def test_what_is_approved_beyond_the_budget_is_not_paid(tmp_path: Path) -> None:
    class Generous(Relaying):
        def approve(self, order: Order, rows: Ints) -> Order | str:
            return order._replace(ceiling=10**12)

    shop, journal = Watched("falling"), Journal(tmp_path / "a.journal", PARTS)
    cleaner = pacas.SafeClean("OFFICE -> JOB", 1, strategy="paper")
    found = cleaner.clean(dirty(), shop, run=journal.run, observer=Generous(journal), engine=ENGINE)
    assert not found.purchases and not shop.shop.keys
    assert {left.reason for left in found.unrepaired} == {"too_expensive"}


# ---- what edits come to -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain() -> Cleaning:
    return CLEANERS["weigh"]().clean(dirty(), Watched("falling"), run="r", engine=ENGINE)


def cell(cleaning: Cleaning, row: int) -> str:
    return str(cleaning.relation.table.column("JOB")[row].as_py())


def test_no_edit_changes_nothing(plain: Cleaning) -> None:
    assert edited(plain, []) is plain


def test_an_undone_cell_has_what_was_given_and_its_money_is_gone(plain: Cleaning) -> None:
    row = int(plain.changes["JOB"].rows[0])
    after = edited(plain, [Edit("JOB", np.array([row]), None)])
    assert cell(after, row) == dirty().column("JOB")[row].as_py() != cell(plain, row)
    assert (after.spent, len(after.purchases)) == (plain.spent, len(plain.purchases))
    assert after.written == plain.written - 1
    assert [left.reason for left in after.unrepaired][-1] == "undone"
    assert after.violations_after == after.count_violations() > plain.violations_after
    assert "undone by hand" in str(pacas.explain(after, row, "JOB"))


def test_the_last_edit_of_a_cell_counts(plain: Cleaning) -> None:
    row = int(plain.changes["JOB"].rows[0])
    rows = np.array([row])
    for values, end in {("x0", None): None, (None, "y1"): "y1", ("x0", "z2", "y1"): "y1"}.items():
        after = edited(plain, [Edit("JOB", rows, value) for value in values])
        assert cell(after, row) == (end or dirty().column("JOB")[row].as_py())
        assert sum(repair.why.value == "pinned" for repair in after.repairs) == (end is not None)


def test_all_cells_edited_back_give_the_table_that_was_given(plain: Cleaning) -> None:
    edits = [Edit(name, changes.rows, None) for name, changes in plain.changes.items()]
    after = edited(plain, edits)
    assert after.relation.table.to_pydict() == dirty().to_pydict()
    assert after.violations_after == after.violations_before and not after.changes
    assert after.weighing is not None and (after.weighing.free, after.weighing.paid) == (0, 0)


def test_all_cells_pinned_to_the_truth_give_the_truth(plain: Cleaning) -> None:
    rights = truth().column("JOB").to_pylist()
    edits = [Edit("JOB", np.array([n]), value) for n, value in enumerate(rights)]
    after = edited(plain, edits)
    assert after.relation.table.column("JOB").to_pylist() == rights
    kept = [
        (row, repair.new) for repair in after.repairs if repair.attribute == "JOB" for row in repair.written.tolist()
    ]
    assert all(rights[row] == new for row, new in kept), "what was right by itself is kept, with its price"
    assert {repair.why.value for repair in after.repairs} > {"pinned"}
    assert after.weighing is not None and not [c for c in after.weighing.doubtful if c.attribute == "JOB"]


@pytest.mark.parametrize(
    "edit", [Edit("NOPE", np.array([0]), "x"), Edit("JOB", np.array([10**6]), "x"), Edit("JOB", np.array([0]), "")]
)
def test_what_cannot_be_edited_is_said(plain: Cleaning, edit: Edit) -> None:
    with pytest.raises(pacas.PacasError):
        edited(plain, [edit])


# ---- on disk ------------------------------------------------------------------------------------------------------


def test_edits_are_kept_at_any_time_after_the_end_too(tmp_path: Path) -> None:
    path = tmp_path / "out.csv.journal"
    journal = Journal(path, PARTS)
    first, second = Edit("B", np.array([1, 4]), None), Edit("C", np.array([2]), 'é\n"')
    journal.edit(first)
    journal.end(0, 0)
    journal.edit(second)
    journal.close()
    again = Journal(path, PARTS, resume=True)
    assert again.is_done and repr(again.edits) == repr((first, second))
    again.close()


def test_every_cut_of_an_edit_is_read_up_to_the_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "out.csv.journal"
    journal = Journal(path, PARTS)
    begun = len(path.read_bytes())
    journal.edit(Edit("B", np.array([1]), "x"))
    journal.close()
    whole = path.read_bytes()
    for cut in range(begun, len(whole) + 1):
        path.write_bytes(whole[:cut])
        again = Journal(path, PARTS, resume=True)
        assert len(again.edits) == (cut == len(whole))
        again.close()


def test_rejections_are_kept_and_edits_in_one_go_are_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "out.csv.journal"
    journal = Journal(path, PARTS)
    journal.edit(Edit("B", np.array([1]), "x"), Edit("B", np.array([2]), "y"))
    journal.reject("B", 3)
    journal.edit(Edit("B", np.array([1]), None))
    assert journal.ordered and not journal.may_have_paid
    journal.close()
    again = Journal(path, PARTS, resume=True)
    assert [edit.value for edit in again.edits] == ["x", "y", None]
    assert again.is_rejected("B", 3) and not again.is_rejected("B", 2)
    other = Journal(tmp_path / "other.journal", PARTS)
    other.take_over(again)
    assert repr(other.edits) == repr(again.edits) and other.is_rejected("B", 3)
    again.close()
    other.close()


def test_an_edit_of_a_new_run_takes_the_place_of_the_journal_that_was_done(tmp_path: Path) -> None:
    path = tmp_path / "out.csv.journal"
    Journal(path, PARTS).finish(0, 0)
    fresh = Journal(path, PARTS)
    fresh.edit(Edit("B", np.array([1]), "x"))
    fresh.close()
    again = Journal(path, PARTS, resume=True)
    assert (again.run, len(again.edits), again.is_done) == (fresh.run, 1, False)
    again.close()
