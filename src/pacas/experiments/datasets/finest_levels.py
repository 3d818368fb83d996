"""What can be bought of a data set: the finest level at which random requests have a price, or why they have none.

`python -m pacas.experiments.datasets.finest_levels [DIRECTORY] [NAME …]` prints, for all or the named data sets, what
curation changed and what is sold at the paper's defaults: the figures of `docs/reference/datasets.md`. Real ones need
their directory.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from pacas.experiments.datasets.load import REAL, SYNTHETIC, Dataset, load
from pacas.protocol.messages import REASONS
from pacas.provider.provider import Provider

REQUESTS = 1_000


def finest_levels(
    dataset: Dataset, provider: Provider, attribute: str, *, requests: int = REQUESTS, seed: int = 0
) -> Mapping[int | str, int]:
    """How many tuples of the relation, drawn at random, find a price at which finest level below the root.

    A tuple that finds none is counted under the reason of its refusal at the highest level below the root.
    """
    chosen = np.random.default_rng(seed).integers(0, len(dataset.truth), requests)
    columns = [clause.client for clause in dataset.match[attribute].clauses]
    rows = dataset.truth.table.select(columns).take(pa.array(chosen))
    asked = {column: rows[column].to_pylist() for column in columns}
    prices = provider.quote_batch(attribute, asked).prices[:, :-1]
    found: Counter[int | str] = Counter()
    for line in prices.tolist():
        priced = [level for level, price in enumerate(line) if price >= 0]
        found[priced[0] if priced else REASONS[-1 - line[-1]].value] += 1
    return dict(sorted(found.items(), key=lambda item: (isinstance(item[0], str), str(item[0]))))


def _tables(dataset: Dataset) -> Iterator[str]:
    yield f"{dataset}\n"
    yield "| curation | attribute | cells changed | rows left out |"
    yield "| --- | --- | --- | --- |"
    for step in dataset.curation.steps:
        yield f"| {step.what} | {step.attribute or ''} | {step.cells:,} | {step.rows:,} |"
    yield "\n| sold | values per level | guarded | linked |"
    yield "| --- | --- | --- | --- |"
    guarded, linked = dataset.provider(), dataset.provider(linked=True)
    for attribute in dataset.sold:
        hierarchy = dataset.hierarchies[attribute]
        widths = " / ".join(f"{len(hierarchy.at_level(level)):,}" for level in range(hierarchy.height + 1))
        cells = (_line(finest_levels(dataset, provider, attribute)) for provider in (guarded, linked))
        yield f"| {attribute} | {widths} | {' | '.join(cells)} |"
    yield ""


def _line(found: Mapping[int | str, int]) -> str:
    return ", ".join(f"{level if isinstance(level, str) else f'level {level}'}: {n:,}" for level, n in found.items())


def main(arguments: Sequence[str]) -> None:
    """The figures of the named data sets, or of all that there are."""
    data = next((Path(argument) for argument in arguments if argument not in (*REAL, *SYNTHETIC)), None)
    named = [argument for argument in arguments if argument in (*REAL, *SYNTHETIC)]
    for name in named or (*(REAL if data else ()), *SYNTHETIC):
        for line in _tables(load(name, data)):
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
