"""Several providers in one cleaning: what they say together, what it costs, and that nobody ends a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from interrupted_offices import At, Ended
from lanes import share
from panel_shops import FD, JOBS, OTHER_JOBS, JobShop, departments, wrong_cells

import pacas
from pacas.cli.clean.summary import as_json, print_summary
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.explain import as_dict, explain, in_words
from pacas.engine.duck.engine import DuckEngine
from pacas.errors import InputError, KeyReusedError
from pacas.formats.journal.journal import Journal
from pacas.protocol.marketplace import Columns
from pacas.protocol.messages import Answer, Ladders, Reason, Refusal, Request, refused

ENGINE = DuckEngine(threads=1)
STRATEGIES = ("paper", "weigh")


def shops(truth: pa.Table, **last: Any) -> dict[str, JobShop]:
    """Two that know most, and one that is cheap and sometimes wrong."""
    cheap = {"covers": 0.6, "wrong": 0.15, "price": 70} | last
    return {
        "a": JobShop(truth, seed=1, covers=0.6),
        "b": JobShop(truth, seed=2, covers=0.6),
        "c": JobShop(truth, seed=3, **cheap),
    }


def cleaned(
    dirty: pa.Table, markets: Any, budget: str = "0.0001", observer: Journal | None = None, **how: Any
) -> Cleaning:
    cleaner = pacas.SafeClean(FD, budget, **{"strategy": "paper", "hierarchies": {"JOB": JOBS}} | how)
    run = None if observer is None else observer.run
    return cleaner.clean(dirty, markets, run=run, observer=observer, engine=ENGINE)


def told(cleaning: Cleaning) -> dict[str, Any]:
    return {
        "table": cleaning.to_arrow().to_pylist(),
        "purchases": [(p.provider, p.attribute, p.rows.tolist(), p.value, p.price) for p in cleaning.purchases],
        "spent": cleaning.spent_nanocredits,
        "left": [(u.attribute, u.rows.tolist(), u.reason) for u in cleaning.unrepaired],
        "rates": None if cleaning.panel is None else cleaning.panel.reliabilities,
    }


@pytest.mark.parametrize("stale", [0.0, 0.3])
def test_together_they_come_nearer_to_the_truth_than_any_alone(stale: float) -> None:
    truth, dirty = departments(120, seed=1, stale=stale)
    together = wrong_cells(cleaned(dirty, shops(truth)).to_arrow(), truth)
    alone = [wrong_cells(cleaned(dirty, shop, repair="refine").to_arrow(), truth) for shop in shops(truth).values()]
    assert together < min(alone) and together <= wrong_cells(dirty, truth) * (0.2 if stale else 0.1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_together_they_cost_less_than_one_that_knows_all(strategy: str) -> None:
    """Also where a wrong value holds the majority of many classes: what is not weak is asked of nobody else."""
    spent = np.zeros((3, 2))
    for seed in range(3):
        truth, dirty = departments(150, seed=seed + 1, stale=0.3)
        together, one = (cleaned(dirty, markets, strategy=strategy) for markets in (shops(truth), JobShop(truth)))
        spent[seed] = together.spent_nanocredits, one.spent_nanocredits
        assert wrong_cells(together.to_arrow(), truth) <= 0.1 * wrong_cells(dirty, truth)
    of_panel, of_one = spent.sum(axis=0)
    assert of_panel <= 0.9 * of_one


def test_what_stands_in_a_class_is_told_apart_at_the_coarsest_level_that_does() -> None:
    truth, dirty = departments(150, seed=1, stale=0.3)
    held = [set(dirty["JOB"].to_pylist()[place : place + 5]) for place in range(0, 750, 5)]
    asked = cleaned(dirty, shops(truth)).purchases[50:]  # by then it is known that the truth stands there
    coarse = [held[int(p.rows[0]) // 5] for p in asked if p.level == 1]
    assert coarse and all(len({value[0] for value in values}) > 1 for values in coarse)
    fine = [held[int(p.rows[0]) // 5] for p in asked if p.level == 0]
    assert any(len({value[0] for value in values}) == 1 for values in fine)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_money_is_exact_over_providers_and_within_the_one_budget(strategy: str) -> None:
    truth, dirty = departments(40, seed=2, stale=0.3)
    for budget in ("0.0000008", "0.000002", "0.0001"):
        markets = shops(truth)
        cleaning = cleaned(dirty, markets, budget, strategy=strategy)
        assert cleaning.purchases
        assert cleaning.spent_nanocredits == sum(shop.earned for shop in markets.values())
        assert cleaning.spent_nanocredits == sum(p.price for p in cleaning.purchases) <= cleaning.budget_nanocredits
        for name, shop in markets.items():
            assert shop.earned == sum(p.price for p in cleaning.purchases if p.provider == name)


def test_nobody_is_asked_twice_about_a_class_and_four_at_most() -> None:
    truth, dirty = departments(60, seed=3, stale=0.3)
    markets = {f"s{n}": JobShop(truth, seed=n, wrong=0.4) for n in range(6)}
    asked: dict[bytes, list[str | None]] = {}
    for purchase in cleaned(dirty, markets).purchases:
        asked.setdefault(purchase.rows.tobytes(), []).append(purchase.provider)
    assert max(map(len, asked.values())) in (3, 4)
    assert all(len(set(names)) == len(names) for names in asked.values())


def test_who_is_often_wrong_is_found_out() -> None:
    truth, dirty = departments(150, seed=4, rate=0.3)
    rates = cleaned(dirty, shops(truth, wrong=0.5, covers=1.0)).panel.reliabilities["JOB"]  # type: ignore[union-attr]
    assert rates["c"] < 0.7 < 0.9 < min(rates["a"], rates["b"])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_trees_may_differ(strategy: str) -> None:
    truth, dirty = departments(60, seed=5, stale=0.3)
    markets = {"a": JobShop(truth, seed=1), "b": JobShop(truth, seed=2, tree=OTHER_JOBS)}
    assert wrong_cells(cleaned(dirty, markets, strategy=strategy).to_arrow(), truth) == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_dry_run_supposes_what_each_could_answer(strategy: str) -> None:
    """In each one's own tree: nobody is taken to have broken its word by what it was never asked."""
    truth, dirty = departments(60, seed=5, stale=0.3)
    markets = {"a": JobShop(truth, seed=1, covers=0.5), "b": JobShop(truth, seed=2, tree=OTHER_JOBS, covers=0.5)}
    cleaner = pacas.SafeClean(FD, "0.0001", strategy=strategy, hierarchies={"JOB": JOBS})
    plan = cleaner.clean(dirty, markets, dry_run=True, engine=ENGINE)
    assert plan.panel is not None and not plan.panel.away
    assert {p.provider for p in plan.purchases} == {"a", "b"} and not markets["b"].sold


def test_a_client_that_weighs_has_them_as_sources_of_its_model() -> None:
    truth, dirty = departments(120, seed=1, stale=0.3)
    cleaning = cleaned(dirty, shops(truth), strategy="weigh")
    assert wrong_cells(cleaning.to_arrow(), truth) <= 0.2 * wrong_cells(dirty, truth)
    assert {p.provider for p in cleaning.purchases} == {"a", "b", "c"} and cleaning.panel is not None
    rates = cleaning.panel.reliabilities["JOB"]
    assert rates["c"] < min(rates["a"], rates["b"])


def test_one_provider_of_a_name_goes_the_way_of_one_without() -> None:
    truth, dirty = departments(30, seed=6)
    one, other = cleaned(dirty, {"a": JobShop(truth)}), cleaned(dirty, JobShop(truth))
    assert told(one) == told(other) and one.panel is None and one.purchases[0].provider is None


def test_it_is_explained_by_provider() -> None:
    truth, dirty = departments(30, seed=7, stale=0.5)
    cleaning = cleaned(dirty, shops(truth, covers=1.0))
    repair = max(cleaning.repairs, key=lambda repair: len(repair.purchases))
    found = explain(cleaning, int(repair.rows[0]), "JOB")
    assert len(repair.purchases) > 1
    for purchase in repair.purchases:
        assert any(line.endswith(f", from {purchase.provider}") for line in in_words(found))
    assert [said["provider"] for said in as_dict(found)["steps"][0]["opinions"]] == [
        purchase.provider for purchase in repair.purchases
    ]


# ---- faults -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_that_is_away_from_the_start_costs_a_line(strategy: str) -> None:
    truth, dirty = departments(30, seed=8, stale=0.3)
    markets = shops(truth)
    markets["b"].fails = lambda what: True
    cleaning = cleaned(dirty, markets, strategy=strategy)
    assert cleaning.panel is not None and "does not answer" in cleaning.panel.away["b"]
    assert {p.provider for p in cleaning.purchases} == {"a", "c"}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("what", ["quote", "pay"])
def test_one_that_goes_away_costs_a_line(what: str, strategy: str) -> None:
    truth, dirty = departments(60, seed=9, stale=0.3)
    markets = shops(truth)
    markets["a"].fails = lambda asked: asked == what and markets["a"].asked.count(what) > 3
    cleaning = cleaned(dirty, markets, strategy=strategy)
    assert cleaning.panel is not None and [*cleaning.panel.away] == ["a"]
    assert markets["a"].asked.count(what) <= 5  # it is called back once, at the end
    known = sum(p.price for p in cleaning.purchases)
    assert cleaning.spent_nanocredits == known <= sum(s.earned for s in markets.values())
    assert sum(s.earned for s in markets.values()) <= known + cleaning.panel.open_nanocredits
    assert bool(cleaning.panel.open_nanocredits) == (what == "pay")


def test_what_others_refuse_while_one_is_away_is_left_as_it_is_because_of_who_is_away() -> None:
    truth, dirty = departments(60, seed=9, stale=0.3)
    markets = shops(truth)
    markets["a"].fails = lambda asked: asked == "quote" and markets["a"].asked.count("quote") > 3
    left = cleaned(dirty, markets, strategy="paper").unrepaired
    depts = dirty["DEPT"].to_pylist()
    assert {one.reason for one in left} == {"away"}
    assert not any(depts[one.rows[0]] in shop.job for one in left for shop in (markets["b"], markets["c"]))
    assert any(depts[one.rows[0]] in markets["a"].job for one in left)
    markets["a"].fails = lambda asked: False
    assert {one.reason for one in cleaned(dirty, markets, strategy="paper").unrepaired} == {"no_match"}


def test_of_several_refusals_the_one_nearest_to_a_sale_is_told() -> None:
    """One has nobody of a department, another has and may not tell: not that nobody is there."""
    truth, dirty = departments(12, seed=3, stale=0.5)
    knows_nobody, may_not = JobShop(truth, covers=0.0), JobShop(truth)

    def unsafe(attribute: str, tuples: Columns) -> Ladders:
        return Ladders(np.full((len(tuples["DEPT"]), 3), refused(Reason.UNSAFE)))

    may_not.quote_batch = unsafe  # type: ignore[method-assign]
    left = cleaned(dirty, {"a": knows_nobody, "b": may_not}, strategy="paper").unrepaired
    assert left and {one.reason for one in left} == {"unsafe"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_that_comes_back_is_asked_again_and_an_open_order_is_paid_once(strategy: str) -> None:
    truth, dirty = departments(60, seed=10, stale=0.3)
    markets = shops(truth)
    shop, real = markets["a"], JobShop.pay

    def lost(request: Request, ceiling: int, key: str) -> Answer | Refusal:
        """The payment arrives, and its answer is lost, once."""
        answer = real(shop, request, ceiling, key)
        if len(shop.sold) == 3 and shop.asked.count("lost") == 0:
            shop.asked.append("lost")
            raise pacas.PacasError("the connection broke")
        return answer

    shop.pay = lost  # type: ignore[method-assign]
    cleaning = cleaned(dirty, markets, strategy=strategy)
    assert cleaning.panel is not None and not cleaning.panel.away and not cleaning.panel.open_nanocredits
    assert cleaning.spent_nanocredits == sum(s.earned for s in markets.values())
    assert sum(p.provider == "a" for p in cleaning.purchases) == len(shop.sold) > 3


LIES: dict[str, Callable[[Answer], Answer]] = {
    "more than quoted": lambda answer: Answer(answer.value, answer.level, answer.price + 1),
    "another level": lambda answer: Answer("*", 2, answer.price),
    "no value of its tree": lambda answer: Answer("nothing like it", answer.level, answer.price),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("lie", LIES)
def test_one_that_breaks_its_word_is_struck_off(lie: str, strategy: str, capsys: pytest.CaptureFixture[str]) -> None:
    truth, dirty = departments(40, seed=11, stale=0.3)
    markets = shops(truth)
    shop, real = markets["a"], JobShop.pay

    def lying(request: Request, ceiling: int, key: str) -> Answer | Refusal:
        answer = real(shop, request, ceiling, key)
        return LIES[lie](answer) if isinstance(answer, Answer) else answer

    shop.pay = lying  # type: ignore[method-assign]
    cleaning = cleaned(dirty, markets, strategy=strategy)
    assert cleaning.panel is not None and "a" in cleaning.panel.away
    assert len(shop.sold) == 1 and {p.provider for p in cleaning.purchases} == {"b", "c"}
    assert cleaning.spent_nanocredits == sum(s.earned for s in markets.values()) <= cleaning.budget_nanocredits
    assert cleaning.panel.paid == {name: s.earned for name, s in markets.items()}
    told = as_json(cleaning)
    assert [one["spent"] for one in told["providers"]] == [s.earned / 10**9 for s in markets.values()]
    if lie == "more than quoted":
        assert cleaning.panel.overcharged == {"a": 1} and told["overcharged"] == 1e-9
        assert "charged" in cleaning.panel.away["a"] and "was agreed to" in cleaning.panel.away["a"]
        assert "a says that it took 0.000000001 credits more than it was allowed to" in _said(capsys, cleaning)
    else:
        assert not cleaning.panel.overcharged and told["overcharged"] == 0
        assert cleaning.panel.away["a"] == "it answered with what it does not sell"


def _said(capsys: pytest.CaptureFixture[str], cleaning: Any) -> str:
    print_summary(cleaning)
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_whoever_says_that_it_took_everything_ends_no_run(strategy: str) -> None:
    """It could say any sum: what others are paid from is what it was allowed to take."""
    truth, dirty = departments(40, seed=11, stale=0.3)
    markets = shops(truth)
    shop, real = markets["a"], JobShop.pay

    def taking(request: Request, ceiling: int, key: str) -> Answer | Refusal:
        answer = real(shop, request, ceiling, key)
        return Answer(answer.value, answer.level, 10**18) if isinstance(answer, Answer) else answer

    shop.pay = taking  # type: ignore[method-assign]
    cleaning = cleaned(dirty, markets, strategy=strategy)
    assert cleaning.panel is not None and {p.provider for p in cleaning.purchases} == {"b", "c"}
    assert cleaning.panel.overcharged == {"a": 10**18 - cleaning.panel.paid["a"]}
    assert cleaning.spent_nanocredits == sum(cleaning.panel.paid.values()) <= cleaning.budget_nanocredits


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_that_sold_something_else_under_a_key_has_not_broken_its_word(strategy: str) -> None:
    """So it is where a journal was put back from an older copy: nothing is sold, nothing paid, and that is said."""
    truth, dirty = departments(40, seed=11, stale=0.3)
    markets = shops(truth)

    def used(request: Request, ceiling: int, key: str) -> Answer | Refusal:
        raise KeyReusedError.at(7)

    markets["a"].pay = used  # type: ignore[method-assign]
    cleaning = cleaned(dirty, markets, strategy=strategy)
    assert cleaning.panel is not None and "this journal is an older copy" in cleaning.panel.away["a"]
    assert cleaning.spent_nanocredits == markets["b"].earned + markets["c"].earned
    assert not cleaning.panel.overcharged and not cleaning.panel.open_nanocredits


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_quotes_of_another_shape_and_prices_that_change_end_nothing(strategy: str) -> None:
    truth, dirty = departments(40, seed=12, stale=0.3)
    markets = shops(truth)
    markets["a"].quote_batch = lambda *_: Ladders(np.zeros((1, 9), dtype=np.int64))  # type: ignore[method-assign]
    shop, real = markets["b"], JobShop.pay

    def dearer(request: Request, ceiling: int, key: str) -> Answer | Refusal:
        shop.price += 7  # what was quoted is never enough
        return real(shop, request, ceiling, key)

    shop.pay = dearer  # type: ignore[method-assign]
    cleaning = cleaned(dirty, markets, strategy=strategy)
    assert {p.provider for p in cleaning.purchases} == {"c"} and cleaning.panel is not None
    assert [*cleaning.panel.away] == ["a"]


def test_if_nobody_is_there_it_is_said() -> None:
    truth, dirty = departments(10, seed=13)
    markets = shops(truth)
    for shop in markets.values():
        shop.fails = lambda what: True
    with pytest.raises(InputError, match="none of the 3 providers"):
        cleaned(dirty, markets)


def test_a_provider_without_a_name_is_refused() -> None:
    truth, dirty = departments(10, seed=13)
    with pytest.raises(InputError, match="needs a name"):
        cleaned(dirty, {"a": JobShop(truth), "": JobShop(truth)})


# ---- the journal ------------------------------------------------------------------------------------------------


def journalled(
    path: Path, dirty: pa.Table, markets: Mapping[str, JobShop], moment: Callable[[], None], strategy: str = "paper"
) -> Cleaning:
    for shop in markets.values():
        shop.moment = moment
    journal = Journal(path, {"data": "d"}, resume=True)
    for name in ("ordering", "settled", "quoted"):
        real = getattr(journal, name)

        def between(*what: Any, real: Any = real) -> None:
            moment()
            real(*what)
            moment()

        setattr(journal, name, between)
    try:
        return cleaned(dirty, markets, observer=journal, strategy=strategy)
    finally:
        journal.close()


def test_a_run_that_ends_at_any_moment_is_continued_to_the_same_end(tmp_path: Path) -> None:
    truth, dirty = departments(14, seed=20, stale=0.3)
    path, at = tmp_path / "journal", At()

    def some() -> dict[str, JobShop]:
        """One of them is away for a while, between its n-th and m-th time."""
        markets = shops(truth, wrong=0.4)
        shop = markets["c"]
        shop.fails = lambda what: what == "pay" and len(shop.sold) == 2 and shop.asked.count("pay") < 4
        return markets

    markets = some()
    expected = told(journalled(path, dirty, markets, at))
    assert markets["c"].asked.count("pay") == len(markets["c"].sold) + 1, "it was away, and came back"
    assert len(expected["purchases"]) > 10 and len({p[0] for p in expected["purchases"]}) == 3
    for fatal in np.unique(np.linspace(1, at.count, share(60)).astype(int)).tolist():
        path.unlink()
        markets = some()
        with pytest.raises(Ended):
            journalled(path, dirty, markets, At(fatal))
        found = journalled(path, dirty, markets, At())
        assert found.spent_nanocredits == sum(shop.earned for shop in markets.values())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_without_faults_it_is_the_same_end_to_the_cell(tmp_path: Path, strategy: str) -> None:
    truth, dirty = departments(14, seed=15, stale=0.5)
    path, at = tmp_path / "journal", At()
    expected = told(journalled(path, dirty, shops(truth, wrong=0.4), at, strategy))
    assert len(expected["purchases"]) > 10
    for fatal in np.unique(np.linspace(1, at.count, share(60)).astype(int)).tolist():
        path.unlink()
        markets = shops(truth, wrong=0.4)
        with pytest.raises(Ended):
            journalled(path, dirty, markets, At(fatal), strategy)
        assert told(journalled(path, dirty, markets, At(), strategy)) == expected


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_with_one_that_goes_away_for_good_too(tmp_path: Path, strategy: str) -> None:
    """It sells nothing more after its second sale; what it sold it tells again."""
    truth, dirty = departments(14, seed=20, stale=0.3)
    path, at = tmp_path / "journal", At()

    def some() -> dict[str, JobShop]:
        markets = shops(truth, wrong=0.4)
        shop, real = markets["c"], markets["c"].pay
        shop.fails = lambda what: what == "pay" and len(shop.sold) == 2
        shop.pay = lambda request, ceiling, key: shop.sold.get(key) or real(request, ceiling, key)  # type: ignore[method-assign]
        return markets

    markets = some()
    expected = told(journalled(path, dirty, markets, at, strategy))
    assert markets["c"].asked.count("pay") == 4, "two sales, an order that stays open, and the call at the end"
    for fatal in np.unique(np.linspace(1, at.count, share(30)).astype(int)).tolist():
        path.unlink()
        markets = some()
        with pytest.raises(Ended):
            journalled(path, dirty, markets, At(fatal), strategy)
        assert told(journalled(path, dirty, markets, At(), strategy)) == expected


def test_a_run_that_is_done_is_looked_at_again_without_a_question(tmp_path: Path) -> None:
    truth, dirty = departments(14, seed=16)
    path, markets = tmp_path / "journal", shops(truth)
    expected = told(journalled(path, dirty, markets, At()))
    for shop in markets.values():
        shop.fails = lambda what: what != "catalogue"
    assert told(journalled(path, dirty, markets, At())) == expected
    lines = path.read_text().splitlines()
    assert all('"provider":"' in line for line in lines if '"ordering"' in line)


class CoarselyCheap(JobShop):
    """Families cost next to nothing, and jobs what they cost elsewhere."""

    def _price(self, level: int) -> int:
        return (self.price, 1, 0)[level]


def test_who_has_told_a_family_may_be_asked_for_the_job() -> None:
    """What one of several says at a finer level counts in the place of what it said before, and costs the rest."""
    truth, dirty = departments(60, seed=9, stale=0.3)
    markets = {"a": CoarselyCheap(truth, seed=1), "b": CoarselyCheap(truth, seed=2, covers=0.3)}
    cleaning = cleaned(dirty, markets, strategy="weigh")
    asked = [(p.provider, int(p.row) // 5, p.level) for p in cleaning.purchases]
    assert len({*asked}) == len(asked), "nobody says the same twice"
    both = {one[:2] for one in asked if one[2] == 1} & {one[:2] for one in asked if one[2] == 0}
    assert len(both) > 3 and all(asked.index((*one, 1)) < asked.index((*one, 0)) for one in both)
    assert wrong_cells(cleaning.to_arrow(), truth) == 0
    assert cleaning.panel is not None and cleaning.panel.reliabilities["JOB"]["a"] > 0.8


def test_who_is_not_believed_about_a_family_is_not_asked_for_the_job() -> None:
    """It would say more of the same: somebody else is asked."""
    further = []
    for seed in range(1, 5):
        truth, dirty = departments(80, seed=seed, stale=0.3)
        jobs = dict(zip(truth["DEPT"].to_pylist(), truth["JOB"].to_pylist(), strict=True))
        markets = {"a": JobShop(truth, seed=1), "c": CoarselyCheap(truth, seed=3, wrong=0.3, price=70)}
        cleaning = cleaned(dirty, markets, strategy="weigh")
        named = [(p, jobs[dirty["DEPT"][int(p.row)].as_py()]) for p in cleaning.purchases if p.provider == "c"]
        wrong = {int(p.row) // 5 for p, job in named if p.level == 1 and JOBS.generalize_value(job, 1) != p.value}
        assert len(wrong) > 2
        further += [int(p.row) for p, _ in named if p.level == 0 and int(p.row) // 5 in wrong]
    assert not further
