"""Which tests one process gets together, where they run in several, so that nothing dear is made twice.

One process gets all that say `spark` in their names: one Java is enough. A file whose tests share what one of them
makes (a browser, a service, an evaluation) is run by one process. What belongs together is begun first, the most tests
foremost; all else fills the processes up to the end. The mark that is made for this, xdist_group, does nothing with
pytest 9.2 (pytest-xdist's issue 1386).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
SHARED = re.compile(r'(?m)scope="module"|^@cache$')
"""How a file says that its tests share something; a `conftest.py` says so for all files below."""


@cache
def is_shared(file: Path) -> bool:
    return file.is_file() and SHARED.search(file.read_text("utf-8")) is not None


@cache
def is_whole(path: str) -> bool:
    """Whether the tests of a file are run by one process; its path is that of a test's name."""
    file = TESTS.parent / path
    folders = [folder for folder in file.parents if folder.is_relative_to(TESTS)]
    return file.is_relative_to(TESTS) and any(map(is_shared, [file, *(folder / "conftest.py" for folder in folders)]))


def group(nodeid: str) -> str:
    """The name of what a test belongs to; most belong to nothing but themselves."""
    path = nodeid.partition("::")[0]
    return "spark" if "spark" in nodeid else path if is_whole(path) else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class Together(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group(nodeid)

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            super().mark_test_complete(node, item_index, duration)
            done = group(self.registered_collections[node][item_index])
            if all(self.assigned_work[node][done].values()):
                del self.assigned_work[node][done]  # else all that was ever done is counted after every test

    return Together(config, log)
