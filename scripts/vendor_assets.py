"""Fetch what pages use of others, by `npm pack`, into src/pacas/pages/static: with licences, and no build step.

    python scripts/vendor_assets.py

Versions and digests are written out below: the script takes nothing else, and a test holds the files to them. For a
newer version, change the version, run, and put in the digests that it names.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

STATIC = Path(__file__).parents[1] / "src" / "pacas" / "pages" / "static"


class Vendored(NamedTuple):
    """A file of a package: where it stands there, what it is called here, and its SHA-256."""

    inside: str
    name: str
    digest: str


PACKAGES: Mapping[str, tuple[Vendored, ...]] = {
    "htmx.org@2.0.11": (
        Vendored("dist/htmx.min.js", "htmx.min.js", "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"),
        Vendored("LICENSE", "htmx.LICENSE.txt", "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38"),
    ),
    "uplot@1.6.32": (
        Vendored(
            "dist/uPlot.iife.min.js",
            "uPlot.iife.min.js",
            "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        ),
        Vendored(
            "dist/uPlot.min.css", "uPlot.min.css", "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04"
        ),
        Vendored("LICENSE", "uPlot.LICENSE.txt", "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd"),
    ),
}


def packed(package: str) -> bytes:
    """The package's archive, as the registry that npm is set up for has it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", folder, package], check=True
        )
        (archive,) = Path(folder).iterdir()
        return archive.read_bytes()


def fetched(package: str, files: tuple[Vendored, ...]) -> Iterator[tuple[Vendored, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(packed(package))) as archive:
        for file in files:
            member = archive.extractfile(f"package/{file.inside}")
            if member is None:
                raise SystemExit(f"{package} has no {file.inside}")
            yield file, member.read()


def main() -> None:
    wrong = []
    for package, files in PACKAGES.items():
        for file, content in fetched(package, files):
            found = hashlib.sha256(content).hexdigest()
            if found == file.digest:
                (STATIC / file.name).write_bytes(content)
                print(f"{file.name}: {len(content):,} bytes of {package}")
            else:
                wrong.append(f"{package}, {file.inside}: its SHA-256 is {found}, not the one that is written out here")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
