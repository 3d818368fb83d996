"""What terms bring, on small made markets, and what the commands write of markets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from loaded_script import script

from pacas.cli.main import run
from pacas.core.rates.schedule import Schedule
from pacas.experiments.markets.surplus import KINDS, TwoSteps, bargain, drawn_account

read_lines = script("evaluation_page").read_lines


@pytest.mark.parametrize("rates", [TwoSteps(0.8, 5.0, 0.6), TwoSteps(0.5, 0.0, 0.5), TwoSteps(1.0, 20.0, 0.2)])
def test_rates_cost_what_a_schedule_says_and_buyers_take_what_leaves_them_most(rates: TwoSteps) -> None:
    steps = [[0, rates.first * 100], [rates.above, rates.second * 100]] if rates.above else [[0, rates.second * 100]]
    schedule = Schedule.of(steps)
    buyer, _ = drawn_account(np.random.default_rng(3), *KINDS[1])
    for listed in (0.5, 4.0, 7.25, 30.0):
        cost = float(rates.cost(np.array([listed]))[0])
        assert schedule.paid(round(listed * 10**9)) / 10**9 == pytest.approx(cost, abs=1e-8)
    paid, left = buyer.taken(rates)
    literal = [(w - float(rates.cost(np.array([x]))[0])) for x, w in zip(buyer.listed, buyer.worth, strict=True)]
    assert left == pytest.approx(max(literal)) and left >= 0 and paid >= 0


def test_terms_that_were_agreed_leave_both_better_off_by_what_was_known() -> None:
    rng, posted = np.random.default_rng(4), TwoSteps(0.6, 0.0, 0.6)
    for kind in KINDS:
        buyer, _ = drawn_account(rng, *kind)
        before, after = buyer.taken(posted), buyer.taken(bargain(buyer, posted))
        assert after == before or (after[0] > before[0] and after[1] > before[1])


@pytest.mark.slow
def test_the_commands_write_what_the_page_is_made_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["experiment", "surplus", "--seeds", "1", "--output", str(tmp_path)]) == 0
    lines = read_lines(tmp_path / "surplus.csv")
    assert [one["way"] for one in lines] == ["best posted rate", "one schedule", "offers by account"]
    assert float(lines[2]["revenue_gain"]) > 0 and float(lines[2]["surplus_gain"]) > 0
    given = ["--rows", "300", "--people", "20", "--output", str(tmp_path)]
    assert run(["experiment", "composition", *given]) == 0
    assert "broken" in capsys.readouterr().out
    assert {one["house"] for one in read_lines(tmp_path / "pairs.csv")} == {"True", "False"}
    assert read_lines(tmp_path / "composition.csv")
