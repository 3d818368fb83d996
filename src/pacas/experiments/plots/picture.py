"""One picture as a file of its own: an SVG, a PNG, or a page of HTML around it."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from pacas.errors import FileError
from pacas.experiments.plots.report import inline_svg
from pacas.experiments.plots.style import house_style, write
from pacas.formats.replacing import check_writable, replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

KINDS = (".svg", ".png", ".html")


def check_picture(path: Path) -> None:
    """Raise if a picture could not be drawn there: to be asked before anything is measured."""
    if path.suffix.lower() not in KINDS:
        raise FileError(f"{path}: a picture is an SVG, a PNG or a page of HTML; give it a name such as {path.stem}.svg")
    check_writable(path)
    with house_style():
        pass


def write_picture(path: Path, draw: Callable[[], Sheet], page: Callable[[], str]) -> None:
    """Draw it as the name of the file says."""
    kind = path.suffix.lower()
    with house_style(), replacing(path) as partial:
        if kind == ".html":
            partial.write_text(page(), "utf-8", newline="\n")
        else:
            write(draw(), partial, kind[1:])


def inside_a_page(drawn: Sheet, name: str, title: str) -> Markup:
    """A drawing as HTML has it."""
    drawing = BytesIO()
    write(drawn, drawing, "svg")
    return inline_svg(drawing.getvalue().decode(), name, title)
