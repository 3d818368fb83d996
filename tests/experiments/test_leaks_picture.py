"""The picture of a provider's leaks: readable however long names are, red where something is told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pacas.core.dependency import FunctionalDependency
from pacas.experiments.plots.leaks import MeasuredLeaks, draw_leaks
from pacas.experiments.plots.style import GREEN, RED, house_style
from pacas.provider.leak.guessing import GuessedMore
from pacas.provider.leak.meter import AttributeLeak, DependencyLeak
from pacas.provider.lint.dependencies import TellingDependency
from pacas.provider.lint.determination import Determination

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")

pytestmark = pytest.mark.slow

LONG = "the-name-of-a-column-that-somebody-was-proud-of"
NOTHING, MUCH = GuessedMore(0.0, (0.0, 0.0), 0.4), GuessedMore(0.388, (0.38, 0.396), 0.42)
SOME = (AttributeLeak("education", 1, MUCH, 6), AttributeLeak("occupation", 1, NOTHING, 1))


def dependency(left: str, right: str, broken: int | None, *, is_declared: bool = False) -> DependencyLeak:
    fd = FunctionalDependency((left,), right)
    found = TellingDependency(fd, 0, 0, Determination(10, 5, 10, 4), is_declared)
    return DependencyLeak(found, MUCH, 528, broken)


@pytest.fixture(autouse=True)
def in_house_style() -> Iterator[None]:
    with house_style():
        yield


def colour_of(sheet: Sheet, text: str) -> Any:
    (found,) = [t for t in sheet.findobj(matplotlib.text.Text) if t.get_text() == text]
    return found.get_color()


def test_what_is_told_is_red_and_nothing_is_green() -> None:
    told = (dependency("N", "A", 152), dependency("M", "A", 0, is_declared=True))
    sheet = draw_leaks(MeasuredLeaks("provider.toml", SOME, told, "Because."))
    assert colour_of(sheet, "+38.8 points (38.0 to 39.6)") == RED
    assert colour_of(sheet, "0: nothing") == GREEN
    assert colour_of(sheet, "undeclared: 152 of 528 X-groups short") == RED
    assert colour_of(sheet, "declared: 0 of 528 X-groups short") == GREEN


@pytest.mark.parametrize("attributes", [1, 12])
@pytest.mark.parametrize("dependencies", [0, 1, 8])
def test_nothing_is_cut_however_long_the_names_are(attributes: int, dependencies: int) -> None:
    leaks = [AttributeLeak(f"{LONG}-{i}", 1, MUCH, 3) for i in range(attributes)]
    told = [dependency(f"{LONG}-{i}", LONG, None if i % 2 else 1_000) for i in range(dependencies)]
    sheet = draw_leaks(MeasuredLeaks("provider.toml", leaks, told, "Because."))
    sheet.draw_without_rendering()
    pixels = sheet.dpi * sheet.get_figwidth()
    (panel,) = sheet.axes
    box: Any = panel.get_tightbbox()
    assert box.x0 >= -1 and box.x1 <= pixels + 1
    assert panel.get_window_extent().width > pixels / 5
