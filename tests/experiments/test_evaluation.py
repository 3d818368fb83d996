"""An evaluation keeps what it has run, goes on where it was stopped, and says what came of the claims."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pyarrow.parquet
import pytest

from pacas.cli.main import run
from pacas.errors import FileError
from pacas.experiments.evaluation import EvaluationPlan, evaluate
from pacas.experiments.runs.figure import REAL_DATA, SCALES, SYNTHETIC_DATA, Collection, all_settings
from pacas.experiments.runs.figures import FIGURES, find_figures
from pacas.experiments.runs.results import SCHEMA, Results, read_table
from pacas.experiments.runs.running import EvaluationProgress, run_missing
from pacas.experiments.runs.setting import METHODS, SEALED, Setting

MEASURED = ("error", "dirty_error", "spent", "purchases", "declined_2", "full_cost")


def settings(figure: str = "declined") -> tuple[Setting, ...]:
    return all_settings(find_figures(figure), SYNTHETIC_DATA, SCALES["small"])


def measured(results: Results, of: tuple[Setting, ...]) -> list[dict[str, object]]:
    return [{name: line[name] for name in MEASURED} for line in results.table(of).to_pylist()]


@pytest.mark.slow
def test_what_was_run_is_not_run_again_and_what_is_missing_is(tmp_path: Path) -> None:
    some = settings()[:4]
    assert run_missing(some, Results(tmp_path), None) == 4
    whole = measured(Results(tmp_path), some)
    assert run_missing(some, Results(tmp_path), None) == 0
    kept = (tmp_path / "runs.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "runs.jsonl").write_text("".join(kept[:2]) + kept[2][:40], "utf-8")  # a crash in the middle of a line
    steps: list[EvaluationProgress] = []
    assert run_missing(some, Results(tmp_path), None, progress=steps.append) == 2
    assert [(step.done, step.of) for step in steps] == [(3, 4), (4, 4)]
    assert measured(Results(tmp_path), some) == whole


def test_results_of_an_earlier_version_are_runs_at_the_defaults_of_what_it_did_not_know() -> None:
    old = read_table(Path(__file__).parents[2] / "docs" / "evaluation" / "results.parquet").slice(0, 1).to_pylist()[0]
    old.pop("random_rate", None)
    assert Setting.of(old).random_rate == 0


def test_runs_of_an_earlier_version_are_read_back_from_the_table_as_what_they_are(tmp_path: Path) -> None:
    setting = settings()[0]
    known = {name: value for name, value in setting.as_dict().items() if name != "sellers"}
    measured = {"actual_rows": 1, "error": 0.0, "dirty_error": 0.0, "cpu_seconds": 0.0}
    (tmp_path / "runs.jsonl").write_text(json.dumps(known | measured) + "\n", "utf-8")
    (line,) = Results(tmp_path).table([setting]).to_pylist()
    assert Setting.of(line) == setting


@pytest.mark.slow
def test_two_at_a_time_measure_the_same(tmp_path: Path) -> None:
    some = settings()[:4]
    alone, together = tmp_path / "alone", tmp_path / "together"
    for folder, jobs in ((alone, 1), (together, 2)):
        folder.mkdir()
        run_missing(some, Results(folder), None, jobs=jobs)
    assert measured(Results(together), some) == measured(Results(alone), some)


SETTING = json.dumps(Setting(dataset="food").as_dict())


@pytest.mark.parametrize(
    "line",
    [
        b'{"dataset": "food"}',
        b"\xff\xfe",
        b"[]",
        SETTING.encode(),
        SETTING.replace("}", ', "error": "much", "cpu_seconds": 1}').encode(),
    ],
)
def test_a_file_that_is_not_of_runs_is_named(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_bytes(line + b"\n")
    with pytest.raises(FileError, match=r"runs\.jsonl, line 1: not a run of this version"):
        Results(tmp_path)


def test_runs_that_cannot_be_written_are_said_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").mkdir()
    with pytest.raises(FileError, match=r"runs\.jsonl cannot be written \(Is a directory\); give another --output"):
        Results(tmp_path)


@pytest.mark.slow
def test_a_figure_ends_in_a_table_claims_plots_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["experiment", "run", "declined", "--output", str(tmp_path), "--jobs", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["runs"] == len(settings())
    (claim,) = document["claims"]
    assert claim["figure"] == "declined" and claim["agrees"] is True and "by (X,Y,L)" in claim["measured"]
    table = pyarrow.parquet.read_table(document["results"])
    assert table.schema.names == SCHEMA.names and len(table) == len(settings())
    assert (tmp_path / "results.csv").read_text("utf-8").count("\n") == len(settings()) + 1
    assert {Path(path).name for path in document["plots"]} == {"declined.svg", "declined.png"}
    assert "declined" in Path(document["report"]).read_text("utf-8")
    assert run(["experiment", "run", "declined", "--output", str(tmp_path), "--jobs", "1"]) == 0
    said = capsys.readouterr().out
    assert "agrees" in said and "0 runs made" in said


@pytest.mark.slow
def test_a_resumed_evaluation_reports_all_its_runs(tmp_path: Path) -> None:
    run_missing(settings()[:3], Results(tmp_path), None)
    evaluation = evaluate(EvaluationPlan.of("declined", "synthetic", "small", tmp_path))
    assert evaluation.runs == len(settings()) - 3
    assert len(pyarrow.parquet.read_table(evaluation.results)) == len(settings())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["buget"], "no figure 'buget'; did you mean 'budget'"),
        (["budget", "--scale", "medium"], "no scale 'medium'"),
        (["budget", "--quotes", "seald"], "no kind of quotes 'seald'; did you mean 'sealed'?"),
        (["budget", "--data", "nowhere"], "nowhere is not a directory"),
        (["budget", "--jobs", "0"], "--jobs"),
    ],
)
def test_bad_input_is_said_in_one_line(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["experiment", "run", *arguments, "--output", str(tmp_path / "new")]) == 2
    captured = capsys.readouterr()
    assert said in captured.err and captured.err.count("\n") == 1 and not captured.out


def test_an_output_that_cannot_be_made_is_said_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert run(["experiment", "run", "budget", "--output", str(tmp_path / "file" / "new")]) == 2
    assert "cannot be made" in capsys.readouterr().err


# ---- the plan ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("collection", [REAL_DATA, SYNTHETIC_DATA])
@pytest.mark.parametrize("scale", SCALES)
def test_figures_share_runs_and_every_run_is_planned_once(collection: Collection, scale: str) -> None:
    planned = all_settings(tuple(FIGURES.values()), collection, SCALES[scale])
    each = [set(figure.settings(collection, SCALES[scale])) for figure in FIGURES.values()]
    assert len(planned) == len(set(planned)) and set(planned) == set().union(*each)
    assert sum(map(len, each)) > 1.2 * len(planned)


def test_weighing_is_shown_from_no_money_on_and_beside_all_kinds_of_errors() -> None:
    planned = all_settings(find_figures("weighing"), REAL_DATA, SCALES["small"])
    weighed = [setting for setting in planned if setting.method == "weigh"]
    assert {setting.dataset for setting in weighed} == set(REAL_DATA.all)
    for side, rates in {"rhs": 0.1, "lhs": 0.1, "both": 0.1, "overwritten": 1 / 3}.items():
        budgets = {s.budget for s in weighed if s.side == side and s.error_rate == rates}
        assert budgets >= {0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0}, side
        assert {s.error_rate for s in weighed if s.side == side} >= {0.05, 0.1, 0.2, 0.3}
    assert {s.random_rate for s in weighed} == {0.0, 0.02, 0.05, 0.1}
    assert find_figures("weighing", SEALED)[0].varied["quotes"] == (SEALED,)


EVERYWHERE = {"refine", "weigh", "no_purchase", "private_clean"}


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in ("declined", "modules")])
def test_both_strategies_a_vote_and_private_clean_are_in_every_figure_of_errors(name: str) -> None:
    """Wherever there is a data set, a kind of errors and a rate; the dirty table is drawn by what is shown."""
    of_each: dict[tuple[object, ...], set[str]] = {}
    for setting in FIGURES[name].settings(REAL_DATA, SCALES["small"]):
        dirty = (setting.dataset, setting.rows, setting.seed, setting.side, setting.error_rate, setting.random_rate)
        of_each.setdefault(dirty, set()).add(setting.method)
    assert all(found >= EVERYWHERE for found in of_each.values())
    assert ("weigh_further" in set.union(*of_each.values())) is (name in ("unseen", "baselines"))


def test_each_figure_is_in_one_group_but_that_of_sealed_quotes() -> None:
    grouped = [figure.name for name in ("paper", "weighing", "several") for figure in find_figures(name)]
    assert sorted([*grouped, "sealed"]) == sorted(FIGURES)


def test_kinds_rates_budgets_and_seeds_are_crossed_beside_a_vote_and_refine() -> None:
    (crossed,) = find_figures("crossed")
    asked: dict[tuple[object, ...], set[tuple[str, float | None]]] = {}
    for setting in crossed.settings(REAL_DATA, SCALES["small"]):
        at = (setting.dataset, setting.side, setting.error_rate, setting.seed)
        asked.setdefault(at, set()).add((setting.method, setting.budget if setting.buys else None))
    sides, rates = ("rhs", "lhs", "both", "overwritten"), (0.05, 0.1, 0.2, 0.3)
    assert set(asked) == set(product(REAL_DATA.all, sides, rates, crossed.seeds))
    budgets = (0.0, 0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    of_each: set[tuple[str, float | None]] = {("no_purchase", None), ("private_clean", None)}
    of_each |= {*((method, budget) for method in ("refine", "weigh") for budget in budgets)}
    assert all(found == of_each for found in asked.values())


def test_the_papers_parameters_are_varied_as_in_its_table() -> None:
    varied = {
        name: set(FIGURES[name].varied[FIGURES[name].x]) for name in ("support", "k", "level", "errors", "budget")
    }
    assert (
        varied["support"] == {6, 8, 10, 12, 14} and varied["k"] == {1, 2, 3, 4, 5} and varied["level"] == set(range(5))
    )
    assert varied["errors"] == {0.05, 0.1, 0.15, 0.2, 0.25} and varied["budget"] >= {0.2, 0.4, 0.6, 0.8}
    defaults = Setting(dataset="food")
    assert (defaults.budget, defaults.per_cell, defaults.k, defaults.level, defaults.error_rate) == (0.8, 10, 3, 2, 0.1)
    assert {setting.method for setting in FIGURES["baselines"].settings(REAL_DATA, SCALES["full"])} == set(METHODS)
