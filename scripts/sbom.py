"""The software bill of materials, CycloneDX 1.6, of what `requirements/runtime.lock` installs: `make sbom`."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_PINNED = re.compile(r"([A-Za-z0-9._-]+)==([^\s;\\]+)\s*(?:;\s*([^\\\n]+?))?\s*\\?$")
_HASH = re.compile(r"\s+--hash=sha256:([0-9a-f]{64})")


def components(lock: str) -> list[dict[str, Any]]:
    """Each package of a lock: its version, its package URL, the hashes of its files, and where it is needed."""
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        if pinned := _PINNED.match(line):
            name, version, marker = pinned.groups()
            purl = f"pkg:pypi/{name}@{version}"
            found.append({"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl})
            if marker:
                found[-1]["properties"] = [{"name": "pacas:marker", "value": marker.strip()}]
        elif hashed := _HASH.match(line):
            reference = {"alg": "SHA-256", "content": hashed[1]}
            files = found[-1].setdefault("externalReferences", [{"type": "distribution", "url": found[-1]["purl"]}])
            files[0].setdefault("hashes", []).append(reference)
    return found


def document(lock: str, project: dict[str, Any]) -> dict[str, Any]:
    """The bill; the same for the same lock, so that it can be compared."""
    name, version = project["name"], project["version"]
    made = f"pkg:pypi/{name}@{version}"
    listed = components(lock)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": made,
                "name": name,
                "version": version,
                "purl": made,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": listed,
        "dependencies": [{"ref": made, "dependsOn": [one["bom-ref"] for one in listed]}],
    }


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bill = document((ROOT / "requirements" / "runtime.lock").read_text(), project)
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "sbom.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(bill, indent=2) + "\n")
    print(f"{path}: {len(bill['components'])} components")


if __name__ == "__main__":
    main()
