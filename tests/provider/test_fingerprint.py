"""What a ledger is known by: policies that it was opened with before there were other criteria keep their digest."""

from __future__ import annotations

import json
from hashlib import sha256

from pacas.core.anonymity import Policy
from pacas.core.criteria.criterion import Criterion
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.criteria.entropy import EntropyDiversity
from pacas.provider.shop.fingerprint import terms_digests
from pacas.provider.terms import Terms


def digest(criterion: Criterion | None, k: int = 2) -> str:
    policy = Policy(("X",), ("A",), {"A": 1}, k, criterion=criterion)
    return terms_digests(Terms(policies=[policy]))["policies"]


def test_a_policy_with_k_values_has_the_digest_that_it_had() -> None:
    before = sha256(json.dumps([[["X"], ["A"], {"A": 1}, 3, False]]).encode()).hexdigest()
    assert digest(None, k=3) == digest(DistinctValues(3)) == before


def test_another_criterion_is_told_apart_by_its_name_and_its_parameters() -> None:
    assert len({digest(None), digest(EntropyDiversity(2)), digest(EntropyDiversity("1.5"))}) == 3
    assert digest(EntropyDiversity("2.50")) == digest(EntropyDiversity(2.5))
