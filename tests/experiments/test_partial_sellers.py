"""Providers of the evaluation that know parts of the truth, and tables in which a wrong value holds the majority."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from panel_shops import JOBS, JobShop, departments

from pacas.core.relation import Relation
from pacas.experiments.errors.error_generator import ErrorGenerator
from pacas.experiments.runs.partial_sellers import Part, PartialSeller
from pacas.protocol.messages import Answer, Quote, Reason, Refusal, Request


def test_a_part_is_known_a_share_of_it_wrongly_at_a_share_of_the_price() -> None:
    truth, _ = departments(400)
    shop = JobShop(truth)
    seller = PartialSeller(shop, Part("seed", 0.6, 0.15, 0.7))
    depts = sorted(shop.job)
    ladders = seller.quote_batch("JOB", {"DEPT": depts}).prices.tolist()
    known = [dept for dept, ladder in zip(depts, ladders, strict=True) if ladder[0] >= 0]
    assert 0.5 < len(known) / len(depts) < 0.7
    wrong = 0
    for dept, ladder in zip(depts, ladders, strict=True):
        request = Request({"DEPT": dept}, "JOB", 0)
        if dept not in known:
            assert seller.quote(request) == seller.pay(request, 100, dept) == Refusal(Reason.NO_MATCH)
            continue
        assert seller.quote(request) == Quote(ladder[0]) == Quote(70)
        assert seller.pay(request, 69, f"{dept} for less") == Refusal(Reason.CEILING)
        answer = seller.pay(request, 70, dept)
        assert isinstance(answer, Answer) and answer == seller.pay(request, 70, dept) and answer.value in JOBS
        wrong += answer.value != shop.job[dept]
    assert 0.08 < wrong / len(known) < 0.22
    assert len(shop.sold) == len(known)


def test_stale_groups_have_a_wrong_majority_and_not_only_that() -> None:
    truth, _ = departments(100)
    dirty = ErrorGenerator("DEPT -> JOB", stale=0.3, hierarchies={"JOB": JOBS}, seed=1).dirty(Relation(truth))
    given: dict[str, list[str]] = {}
    for row in dirty.relation.table.cast(pa.schema({"DEPT": pa.string(), "JOB": pa.string()})).to_pylist():
        given.setdefault(row["DEPT"], []).append(row["JOB"])
    right = dict(zip(truth["DEPT"].to_pylist(), truth["JOB"].to_pylist(), strict=True))
    stale = {dept for dept, jobs in given.items() if set(jobs) != {right[dept]}}
    assert len(stale) == 30
    for dept in stale:
        (_, most), *others = Counter(given[dept]).most_common()
        assert len(others) == 1 and most > 2 and Counter(given[dept]).most_common()[0][0] != right[dept]
