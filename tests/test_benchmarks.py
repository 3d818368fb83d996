"""The benchmarks' own statistics, and that the chapter on time runs; what it measures is not judged here."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def effects() -> ModuleType:
    spec = spec_from_file_location("effect_of_benchmarks", BENCHMARKS / "effect.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_auc_is_the_share_of_pairs_in_which_the_second_is_longer(effects: ModuleType) -> None:
    first, second = np.array([1.0, 2.0, 3.0, 5.0]), np.array([2.0, 4.0, 6.0])
    pairs = [(b > a) + (a == b) / 2 for a in first for b in second]
    assert effects.auc(first, second) == pytest.approx(sum(pairs) / len(pairs))


def test_an_effect_is_seen_if_there_is_one_and_not_if_there_is_none(effects: ModuleType) -> None:
    rng = np.random.default_rng(7)
    slow = rng.uniform(1, 9, 20)  # whole turns that were held up, which is no effect
    alike = [(s * rng.lognormal(0, 0.1, 300), s * rng.lognormal(0, 0.1, 300)) for s in slow]
    assert not effects.effect(alike).is_seen
    later = effects.effect([(s * rng.lognormal(0, 0.1, 300), s * rng.lognormal(0.1, 0.1, 300)) for s in slow])
    assert later.is_seen and later.d == pytest.approx(1, abs=0.1) and later.auc == pytest.approx(0.76, abs=0.02)


def test_calls_that_take_alike_are_a_coin_toss(effects: ModuleType) -> None:
    found = effects.effect([(np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 2.0]))] * 2)
    assert (found.d, found.auc, found.margin, found.medians, found.is_seen) == (0, 0.5, 0, (2, 2), False)


@pytest.mark.slow
def test_the_chapter_on_time_runs() -> None:
    command = [sys.executable, str(BENCHMARKS / "run.py"), "timing", "--small"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.count("seen |") == 5
