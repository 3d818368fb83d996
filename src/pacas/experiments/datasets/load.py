"""The data sets of the evaluation by name: real stand-ins, read from a directory, and synthetic ones.

Paper: §7. `docs/reference/datasets.md` says where each comes from, what its curation changed, and what is sold of it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pacas.errors import FileError, InputError
from pacas.experiments.datasets.census import load_adult, load_census
from pacas.experiments.datasets.clinical import load_clinical
from pacas.experiments.datasets.curation import Curation
from pacas.experiments.datasets.dataset import Dataset
from pacas.experiments.datasets.discharges import load_discharges
from pacas.experiments.datasets.food import load_food
from pacas.experiments.datasets.synthetic import SHAPES, load_synthetic

__all__ = ["REAL", "SYNTHETIC", "Curation", "Dataset", "load"]

_LOADERS: dict[str, Callable[[Path, int | None, int], Dataset]] = {
    "clinical": load_clinical,
    "discharges": load_discharges,
    "census": load_census,
    "adult": load_adult,
    "food": load_food,
}
REAL = tuple(_LOADERS)
SYNTHETIC = tuple(f"synthetic-{shape}" for shape in SHAPES)


def load(name: str, data: Path | None = None, *, rows: int | None = None, seed: int = 0) -> Dataset:
    """A data set, whole or as many of its rows as asked for; `data` is where the real ones lie."""
    if name not in (*REAL, *SYNTHETIC):
        raise InputError.unknown("data set", name, (*REAL, *SYNTHETIC))
    if rows is not None and rows < 1:
        raise InputError(f"a data set needs at least one row, not {rows}")
    if name in SYNTHETIC:
        return load_synthetic(name.removeprefix("synthetic-"), rows, seed)
    if data is None:
        raise InputError(f"{name} is read from files; give their directory, or take synthetic-{SHAPES_LIKE[name]}")
    check_directory(data)
    return _LOADERS[name](data, rows, seed)


def check_directory(data: Path) -> None:
    """Raise if no data sets can lie there."""
    if not data.is_dir():
        raise FileError(f"{data} is not a directory; give the one that holds the data sets, or take synthetic ones")


SHAPES_LIKE = {"clinical": "clinical", "discharges": "clinical", "census": "census", "adult": "census", "food": "food"}
"""The synthetic shape that resembles each real data set."""
