"""The figures of the evaluation: drawn from whatever was run, readable, and with the right numbers in them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fabricated_runs import SMALL, all_runs, runs_of

from pacas.errors import InputError
from pacas.experiments.plots.draw import check_can_draw, draw, drawn, note
from pacas.experiments.plots.means import means
from pacas.experiments.plots.style import NEAR_TO_FAR, RED, house_style, line_style
from pacas.experiments.runs.figure import REAL_DATA, SYNTHETIC_DATA
from pacas.experiments.runs.figures import FIGURES
from pacas.experiments.runs.results import Runs
from pacas.experiments.runs.setting import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")

pytestmark = pytest.mark.slow

SMALLEST_TEXT = 7
HALF_A_PAGE = 14.8
"""Centimetres."""


@pytest.fixture(autouse=True)
def in_house_style() -> Iterator[None]:
    with house_style():
        yield


def sheet_of(name: str, runs: Runs) -> Sheet:
    return drawn(means(FIGURES[name], runs))


def texts(sheet: Sheet) -> list[Any]:
    return [text for text in sheet.findobj(matplotlib.text.Text) if text.get_text() and text.get_visible()]


def words(sheet: Sheet) -> list[str]:
    return [text.get_text() for text in texts(sheet)]


def named(panel: Axes, label: str) -> Any:
    (found,) = [line for line in panel.get_lines() if line.get_label() == label]
    return found


# ---- drawn from anything, and readable ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_all_its_runs_is_readable_on_half_a_page(name: str) -> None:
    sheet = sheet_of(name, all_runs(name))
    sheet.draw_without_rendering()  # puts everything in its place
    assert sheet.get_figwidth() * 2.54 == pytest.approx(16)
    assert sheet.get_figheight() * 2.54 <= HALF_A_PAGE
    assert min(text.get_size() for text in texts(sheet)) >= SMALLEST_TEXT
    assert FIGURES[name].title in " ".join(words(sheet)).replace("\n", " ")
    assert "no runs" not in words(sheet)
    check_nothing_is_cut_or_covered(sheet)
    check_labels_do_not_touch(sheet)


def check_nothing_is_cut_or_covered(sheet: Sheet) -> None:
    pixels = sheet.dpi * sheet.get_figwidth(), sheet.dpi * sheet.get_figheight()
    panels: list[Any] = [panel.get_tightbbox() for panel in sheet.axes]
    legends = [legend.get_window_extent() for legend in sheet.legends]
    for box in (*panels, *legends):
        assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= pixels[0] + 1 and box.y1 <= pixels[1] + 1
    assert all(legend.y1 <= panel.y0 + 1 for legend in legends for panel in panels)
    labels = [panel.yaxis.label.get_window_extent() for panel in sheet.axes if panel.get_ylabel()]
    assert not any(one.overlaps(other) for one, other in combinations(labels, 2))
    inner = [panel.get_window_extent() for panel in sheet.axes]
    assert not any(one.overlaps(other) for one, other in combinations(inner, 2))


def check_labels_do_not_touch(sheet: Sheet) -> None:
    for panel in sheet.axes:
        for labels in (panel.get_xticklabels(), panel.get_yticklabels()):
            boxes = [label.get_window_extent().padded(1) for label in labels if label.get_text()]
            assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_how_many_runs_are_missing(name: str) -> None:
    def keep(setting: Setting) -> bool:
        return setting.seed < 3 and setting.dataset != "food"

    found = means(FIGURES[name], all_runs(name, keep=keep))
    assert found.missing and found.runs
    said = words(drawn(found))
    assert any(f"{found.missing:,} of {found.missing + found.runs:,} runs missing." in text for text in said)
    assert any("Means of 2 runs" in text for text in said)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_runs_says_so_in_each_panel(name: str) -> None:
    sheet = sheet_of(name, runs_of([]))
    assert words(sheet).count("no runs") == len(sheet.axes)


def test_a_figure_of_the_synthetic_data_names_it() -> None:
    settings = FIGURES["side"].settings(SYNTHETIC_DATA, SMALL)
    assert "Synthetic Census, 2,000 rows" in words(sheet_of("side", runs_of(settings, SYNTHETIC_DATA)))


def test_single_runs_are_not_called_means() -> None:
    assert note(means(FIGURES["k"], all_runs("k", keep=lambda s: s.seed == 1))).startswith("Single runs. ")


# ---- the right numbers -------------------------------------------------------------------------------------------


def test_a_line_goes_through_the_means_and_its_band_from_least_to_greatest() -> None:
    sheet = sheet_of("k", all_runs("k"))
    panel = sheet.axes[1]  # the repair error on the second data set
    line = named(panel, "replace, linked")
    assert line.get_xdata().tolist() == [1, 2, 3, 4, 5]
    assert line.get_ydata().tolist() == pytest.approx([0.515, 0.505, 0.495, 0.485, 0.475])
    band: Any = panel.collections[0].get_paths()[0].vertices
    assert sorted({y for x, y in band.tolist() if x == 3}) == pytest.approx([0.48, 0.51])
    assert named(panel, "the dirty table").get_ydata() == [1, 1]
    assert panel.get_ylim()[0] == 0


def test_each_panel_has_its_own_data_set() -> None:
    runs = all_runs("k", keep=lambda s: s.dataset == "census" or s.k < 3)
    shown = [len(named(panel, "refine, guarded").get_xdata()) for panel in sheet_of("k", runs).axes[:3]]
    assert shown == [2, 5, 2]


def test_what_was_measured_may_stand_on_the_axis() -> None:
    line = named(sheet_of("general", all_runs("general")).axes[0], "replace, linked")
    assert line.get_xdata().tolist() == [52.5, 102.5, 152.5, 202.5, 252.5]


def test_rows_stand_on_a_logarithmic_axis() -> None:
    panel = sheet_of("rows", all_runs("rows")).axes[1]
    assert panel.get_xscale() == "log"
    assert [label.get_text() for label in panel.get_xticklabels()] == ["500", "1,000", "2,000"]


def test_an_axis_is_logarithmic_only_where_methods_are_far_apart() -> None:
    panels = sheet_of("privateclean", all_runs("privateclean")).axes
    assert [panel.get_yscale() for panel in panels] == ["log"] * 3 + ["linear"] * 3
    assert panels[0].get_ylim()[0] > 0


def test_what_the_parameter_does_not_touch_is_level_and_said_where_it_is_above_the_axis() -> None:
    panel = sheet_of("k", all_runs("k")).axes[0]
    vote = named(panel, "no purchase")
    assert vote.get_ydata() == pytest.approx([0.495, 0.495]) and vote.get_xdata() == [0, 1]  # of the axis
    assert panel.get_ylim()[1] < 2 and [text.get_text() for text in panel.texts] == ["PrivateClean 20 ↑"]


def test_who_is_shown_for_comparison_and_lies_far_above_does_not_stretch_the_axis() -> None:
    panel = sheet_of("errors", all_runs("errors")).axes[0]
    above = named(panel, "PrivateClean").get_ydata()
    assert min(above) > panel.get_ylim()[1] and [text.get_text()[:13] for text in panel.texts] == ["PrivateClean "]
    own = sheet_of("privateclean", all_runs("privateclean")).axes[0]
    assert max(named(own, "PrivateClean").get_ydata()) < own.get_ylim()[1]


def test_among_bars_who_buys_nothing_is_level_whoever_sells() -> None:
    panel = sheet_of("panel", all_runs("panel")).axes[0]
    levels = list(named(panel, "no purchase").get_ydata())
    assert levels == pytest.approx([0.495] * len(levels))
    assert [text.get_text() for text in panel.texts] == ["PrivateClean 20 ↑"]


def test_each_kind_of_errors_has_panels_of_its_own() -> None:
    runs = all_runs("left", keep=lambda s: s.side == "lhs" or s.budget < 0.5)
    panels = sheet_of("left", runs).axes
    assert len(panels) == 2 * 2 * 5
    assert [len(named(panels[row], "weigh").get_xdata()) for row in (0, 5, 10, 15)] == [7, 7, 4, 4]
    assert [panels[row].get_ylabel() for row in (0, 15)] == ["left:\nrepair error", "both:\nmoney spent"]


def test_what_no_dependency_sees_and_what_the_dirty_table_had_are_shown() -> None:
    floor = named(sheet_of("overwritten", all_runs("overwritten")).axes[0], "what no dependency sees")
    assert set(floor.get_ydata()) == {0.3}
    sheet = sheet_of("unseen", all_runs("unseen"))
    assert named(sheet.axes[5], "the dirty table").get_ydata() == pytest.approx([2.5, 22.5, 52.5, 102.5])
    dirty = named(sheet_of("errors", all_runs("errors")).axes[0], "the dirty table")
    assert list(dirty.get_ydata()) == pytest.approx([5, 10, 15, 20, 25])


def map_of(change: Callable[[Setting], float | None]) -> tuple[list[str], list[str]]:
    """The numbers and colours in the map of one data set and kind, from below; a change is what weighing leaves."""
    runs = all_runs("crossed", keep=lambda s: s.dataset == "food" and s.side == "lhs")
    for setting, line in runs.lines.items():
        left = change(setting) if setting.method == "weigh" else None
        assert isinstance(line, dict)
        line |= {} if left is None else {"relative_error": left}
    panel = next(panel for panel in sheet_of("crossed", runs).axes if len(panel.texts) == 4 * 8)
    bars: list[Any] = [bar for container in panel.containers for bar in container if bar.get_height() == 1]
    said = sorted(zip((bar.get_y() for bar in bars), (bar.get_x() for bar in bars), panel.texts, bars, strict=True))
    return [text.get_text() for *_, text, _ in said], [
        matplotlib.colors.to_hex(bar.get_facecolor()) for *_, bar in said
    ]


def test_a_map_has_what_weighing_leaves_of_the_most_it_may_and_is_red_beyond() -> None:
    """A vote and refine leave .495 on average: 1.02 times that is .5049."""
    said, colours = map_of(lambda s: None)
    assert said == ["98"] * 32 and set(colours) == {NEAR_TO_FAR[3]}
    said, colours = map_of(lambda s: 0.506 if (s.error_rate, s.budget) == (0.1, 0.02) else 0.0)
    assert said == ["0"] * 9 + ["100"] + ["0"] * 22
    assert [place for place, colour in enumerate(colours) if colour == RED] == [9]


def test_a_map_is_red_where_one_seed_alone_is_worse_than_the_dirty_table_by_more_than_2_percent() -> None:
    def one_seed(worst: float) -> list[str]:
        return map_of(lambda s: worst if s.seed == 4 and s.budget == 1.0 else 0.0)[1]

    assert RED not in one_seed(1.02)
    assert [place for place, colour in enumerate(one_seed(1.03)) if colour == RED] == [7, 15, 23, 31]


def test_stacked_repairs_add_up_to_all() -> None:
    for panel in sheet_of("distance", all_runs("distance")).axes:
        heights = [[bar.get_height() for bar in container] for container in panel.containers]
        assert [parts[0] for parts in heights] == pytest.approx([0.1, 0.2, 0.3, 0.4])
        assert [sum(bar) for bar in zip(*heights, strict=True)] == pytest.approx([1.0] * 7)


def test_stacked_times_add_up_to_the_total_that_is_written_beside() -> None:
    sheet = sheet_of("modules", all_runs("modules"))
    for panel in sheet.axes:
        widths = [[bar.get_width() for bar in container] for container in panel.containers]
        assert [sum(bar) for bar in zip(*widths, strict=True)] == pytest.approx([1.0] * 3)
    assert [text.get_text() for panel in sheet.axes for text in panel.texts] == ["1"] * 12


def ends_of_bars(panel: Axes) -> Iterator[tuple[int, float]]:
    for container in panel.containers:
        for bar in container:
            yield round(bar.get_y() + bar.get_height() / 2), bar.get_x() + bar.get_width()


def test_methods_lie_beside_each_other_and_those_without_a_policy_once() -> None:
    panel = sheet_of("baselines", all_runs("baselines")).axes[0]
    names = [label.get_text() for label in panel.get_yticklabels()]
    assert names[:5] == ["replace, linked", "replace, guarded", "refine, linked", "refine, guarded", "PrivateClean"]
    ends = {names[place]: end for place, end in ends_of_bars(panel)}
    assert len(ends) == len(names) == 12
    assert ends["replace, guarded"] == pytest.approx(0.695)
    assert ends["PrivateClean"] == pytest.approx(19.995)
    assert "20" in [text.get_text() for text in panel.texts]


def test_declined_levels_stand_in_groups() -> None:
    panel = sheet_of("declined", all_runs("declined")).axes[0]
    heights: dict[str, list[float]] = {"l = 0": [], "l = 2": []}
    for container in panel.containers:
        heights[str(container.get_label())] += [bar.get_height() for bar in container]
    assert heights["l = 0"] == pytest.approx([0.4, 0.2, 0.0, 0.0, 0.0])
    assert heights["l = 2"] == pytest.approx([0.6, 0.4, 0.2, 0.0, 0.0])
    assert [text.get_text().lstrip("≈") for text in panel.texts] == ["0"] * 5  # bars that are too low to be seen


@pytest.mark.parametrize("name", ["k", "privateclean", "allocation"])
def test_lines_are_told_apart_without_colour(name: str) -> None:
    figure = FIGURES[name]
    looks = [line_style(point, figure.lines) for point in means(figure, all_runs(name)).asked]
    assert len({(seen.marker, seen.is_hollow, str(seen.dash), seen.colour) for seen in looks}) == len(
        {tuple(getattr(s, column) for column in figure.lines) for s in figure.settings(REAL_DATA, SMALL)}
    )


def test_methods_have_markers_and_policies_fillings_of_their_own() -> None:
    figure = FIGURES["privateclean"]
    looks = {line_style(setting, figure.lines) for setting in figure.settings(REAL_DATA, SMALL)}
    assert len({(seen.marker, seen.is_hollow) for seen in looks}) == len(looks) == 6


# ---- files -------------------------------------------------------------------------------------------------------


def test_the_same_runs_give_the_same_files(tmp_path: Path) -> None:
    runs = all_runs("side")
    written = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        paths = draw(FIGURES["side"], runs, tmp_path / name)
        assert [path.name for path in paths] == ["side.svg", "side.png"]
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]
    assert b"<dc:date>" not in written[0][0] and b"<text" not in written[0][0]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["side.png", "side.svg"]


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'pacas\[experiments\]'"):
        check_can_draw()
    with pytest.raises(InputError, match="matplotlib, which is missing"):
        draw(FIGURES["k"], runs_of([]), tmp_path)
    assert list(tmp_path.iterdir()) == []
