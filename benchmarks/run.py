"""`make bench`: measure, and write the figures to RESULTS.md. Ratios are taken in one run.

python benchmarks/run.py            everything (some minutes)
python benchmarks/run.py core       one chapter
python benchmarks/run.py --small    a quick look, written nowhere
"""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

import budget
import circle
import clean
import commits
import core
import experiments
import lint
import load
import log
import measure
import opening
import provider
import review
import runs
import scale
import sealed
import service
import start
import suggest
import timing

FOLDER = Path(__file__).parent
CHAPTERS = {
    "core": core.chapter,
    "provider": provider.chapter,
    "opening": opening.chapter,
    "sealed": sealed.chapter,
    "sealed-large": sealed.larger,
    "clean": clean.chapter,
    "budget": budget.chapter,
    "service": service.chapter,
    "load": load.chapter,
    "runs": runs.chapter,
    "commits": commits.chapter,
    "log": log.chapter,
    "circle": circle.chapter,
    "timing": timing.chapter,
    "experiments": experiments.chapter,
    "scale": scale.chapter,
    "scale-fixed": scale.fixed_cost,
    "scale-weighed": scale.weighing,
    "review": review.chapter,
    "review-large": review.larger,
    "suggest": suggest.chapter,
    "lint": lint.chapter,
    "start": start.chapter,
}
LIBRARIES = ("duckdb", "numpy", "pyarrow", "scipy")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure PACAS.")
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help=", ".join(CHAPTERS))
    parser.add_argument("--small", action="store_true", help="small tables, and nothing written")
    chosen = parser.parse_args()
    if unknown := set(chosen.chapters) - set(CHAPTERS):
        parser.error(f"no chapter {unknown.pop()!r}; there is {', '.join(CHAPTERS)}")
    for name in chosen.chapters or CHAPTERS:
        text = CHAPTERS[name](FOLDER / ".data", small=chosen.small)
        print(text)
        if not chosen.small:
            write(name, text)


def write(name: str, text: str) -> None:
    """Put a chapter in its place in RESULTS.md, between its markers."""
    results = FOLDER / "RESULTS.md"
    document = results.read_text("utf-8") if results.exists() else "# What `make bench` measured\n"
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    libraries = ", ".join(f"{library} {version(library)}" for library in LIBRARIES)
    block = f"{begin}\n{text.strip()}\n\nMachine: {measure.machine()}; {libraries}.\n{end}"
    if begin in document:
        head, rest = document.split(begin, 1)
        document = head + block + rest.split(end, 1)[1]
    else:
        document = document.rstrip() + "\n\n" + block + "\n"
    results.write_text(document, "utf-8")
    print(
        f"written to {results.relative_to(Path.cwd()) if results.is_relative_to(Path.cwd()) else results.name}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
