"""The means of a figure in figures: as tables, and as they are printed."""

from __future__ import annotations

import pytest
from fabricated_runs import all_runs

from pacas.cli.experiment import show_means
from pacas.experiments.plots.means import means, means_tables
from pacas.experiments.runs.figures import FIGURES


def test_a_table_has_a_column_per_value_in_order_and_who_knows_nothing_of_it_is_the_same_in_each() -> None:
    errors, times, money = means_tables(means(FIGURES["budget"], all_runs("budget")))
    assert [table.column for table in (errors, times, money)] == ["relative_error", "cpu_seconds", "spent_share"]
    assert errors.xs == ("0", "0.1", "0.2", "0.4", "0.6", "0.8", "1")
    assert set(errors.rows["Food", "refine, linked"]) == set(errors.xs[1:])
    assert set(errors.rows["Food", "weigh, guarded"]) == set(errors.xs)
    assert len(set(map(id, (errors.rows["Food", "no purchase"][x] for x in errors.xs)))) == 1


def test_a_table_is_printed_for_each_kind_of_errors(capsys: pytest.CaptureFixture[str]) -> None:
    show_means(means(FIGURES["left"], all_runs("left", keep=lambda s: s.dataset == "food")))
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    heads = [line for line in lines if line[:1] == ["left:"]]
    assert [line[1:3] for line in heads] == [
        ["left:", "repair"],
        ["left:", "spent,"],
        ["both:", "repair"],
        ["both:", "spent,"],
    ]
    assert lines.count(["Food", "weigh", *["0.495"] * 7]) == lines.count(["Food", "PrivateClean", *["19.995"] * 7]) == 2
    assert lines.count(["Food", "weigh", "0.000", "0.100", "0.200", "0.400", "0.600", "0.800", "1.000"]) == 2
    assert ["Food", "no", "purchase", *["0.495"] * 7] in lines
