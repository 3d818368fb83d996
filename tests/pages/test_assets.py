"""What pages load is ours or pinned, with its licence; every page looks alike and reads well in both schemes."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from loaded_script import script

from pacas.pages.assets import MEDIA_TYPES, STYLESHEET, assets

OWN = {STYLESHEET, "charts.js", "notices.js"}
ROOT = Path(__file__).parents[2]
VENDORED = [file for files in script("vendor_assets").PACKAGES.values() for file in files]


@pytest.mark.parametrize("file", VENDORED, ids=lambda file: file.name)
def test_a_file_of_others_is_the_one_that_was_vendored(file) -> None:
    assert sha256(assets()[file.name].content).hexdigest() == file.digest == assets()[file.name].digest


def test_every_file_is_ours_or_pinned_and_has_its_licence() -> None:
    assert set(assets()) == OWN | {file.name for file in VENDORED}
    for package, files in script("vendor_assets").PACKAGES.items():
        licences = [file.name for file in files if "LICENSE" in file.name]
        assert licences, package
        assert all("Permission" in assets()[name].text for name in licences)


def test_a_static_file_has_a_media_type_that_says_its_characters() -> None:
    assert assets()["htmx.min.js"].media_type == "text/javascript; charset=utf-8"
    assert all("charset=utf-8" in MEDIA_TYPES[kind] for kind in (".css", ".js", ".txt"))


@pytest.mark.slow
def test_the_wheel_has_templates_and_static_files(tmp_path: Path) -> None:
    pytest.importorskip("hatchling.build", reason="hatchling is not installed")
    build = f"from hatchling.build import build_wheel; build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    shared = [*source.rglob("templates/*.html"), *source.rglob("static/*.*")]
    assert len(shared) > 10
    assert {path.relative_to(source).as_posix() for path in shared} <= held


# ---- no page has a script or a style in it -------------------------------------------------------------------------

TEMPLATES = sorted((ROOT / "src" / "pacas").rglob("templates/*.html"))
INLINE = re.compile(r"\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\bsrc=)|javascript:|hx-on|\|\s*safe\b", re.IGNORECASE)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: f"{path.parents[1].name}/{path.name}")
def test_no_template_has_a_script_or_a_style_in_it_or_leaves_text_unescaped(template: Path) -> None:
    if template.name == "standalone.html":
        return  # it holds the stylesheet, and one script that its policy names by its hash
    assert INLINE.findall(template.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "text", ['<p style="x">', "<b onclick=f()>", "<script>x</script>", "{{ x | safe }}", '<a hx-on:click="x">']
)
def test_what_is_inline_is_found(text: str) -> None:
    assert INLINE.search(text)


# ---- contrast --------------------------------------------------------------------------------------------------------

TEXT, OTHER = 4.5, 3.0
"""WCAG 2, AA: text, and what else has to be seen, such as the edge of a field."""

ON = {
    "ink": ("page", "card", "raised", *(f"class-{n}" for n in range(1, 9))),
    "soft": ("page", "card", "raised"),
    "accent": ("page", "card", "raised", "tint"),
    "accent-ink": ("accent",),
    "warn": ("card", "warn-tint"),
    "bad": ("card", "raised", "bad-tint"),
    "ok": ("card", "ok-tint"),
}
"""Colours of text, and what they stand on."""
SEEN = {"edge": ("card", "page"), "accent": ("card",), **{f"chart-{n}": ("card",) for n in range(1, 6)}}


def schemes() -> dict[str, dict[str, str]]:
    """The colours by their names, light and dark."""
    light, dark = re.findall(r":root \{(.*?)\}", assets()[STYLESHEET].text, re.DOTALL)[:2]
    named = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in (light, dark)]
    return {"light": named[0], "dark": named[1]}


def lightness(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((lightness(one), lightness(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_what_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(scheme: str) -> None:
    colours = schemes()[scheme]
    pale = [
        (text, behind, round(contrast(colours[text], colours[behind]), 2))
        for pairs, least in ((ON, TEXT), (SEEN, OTHER))
        for text, places in pairs.items()
        for behind in places
        if contrast(colours[text], colours[behind]) < least
    ]
    assert pale == []


def test_both_schemes_have_the_same_colours() -> None:
    assert schemes()["light"].keys() == schemes()["dark"].keys()


def test_every_colour_of_text_on_a_colour_is_among_those_that_are_measured() -> None:
    for rule in re.findall(r"\{([^{}]*)\}", assets()[STYLESHEET].text):
        text, behind = (re.search(rf"(?<![\w-]){name}: var\(--([\w-]+)\)", rule) for name in ("color", "background"))
        if text and behind:
            assert behind[1] in ON[text[1]], rule
