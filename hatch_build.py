"""What a wheel says of the tree that it is built from: its commit, which `pacas --version` tells."""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NotedCommit(BuildHookInterface[Any]):
    """Notes the commit in the metadata. An editable install runs in its tree, which may be at another one by then."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        told = runpy.run_path(str(Path(self.root, "src/pacas/cli/version.py")))
        commit = told["commit_of"](Path(self.root))
        if version == "standard" and commit:
            self._folder = tempfile.TemporaryDirectory()
            noted = Path(self._folder.name, told["NOTED"])
            noted.write_text(commit)
            build_data["extra_metadata"] = {str(noted): noted.name}
