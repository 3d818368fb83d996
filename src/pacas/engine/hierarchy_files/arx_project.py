"""ARX project files (`.deid`): a zip archive whose `hierarchies/*.csv` are the hierarchies of its attributes.

ARX names an entry after its attribute, whatever is in that name, and writes all of them with the separator of the table
that the project began with, which `project.xml` tells.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from pacas.engine.hierarchy_files.arx import SEPARATORS
from pacas.errors import FileError, did_you_mean

SUFFIX = ".deid"
MOST_BYTES = 256 << 20
"""Of one entry: a hierarchy that is larger is none."""
_NOT_WHOLE = (
    zipfile.BadZipFile,
    zlib.error,
    csv.Error,
    NotImplementedError,
    RuntimeError,
    OSError,
    EOFError,
    ValueError,
)
_ENTRY = re.compile(r"(?:[^/]+/)*?hierarchies/(.+)\.csv", re.IGNORECASE | re.DOTALL)


def project_of(path: Path) -> tuple[Path, str | None] | None:
    """The project that a path names, and the entry in it, if it names one: `study.deid/hierarchies/AGE.csv`."""
    for folder in (path, *path.parents):
        if folder.suffix.lower() == SUFFIX and folder.is_file():
            inside = path.relative_to(folder).as_posix()
            return folder, None if inside == "." else inside
    return None


def project_text(path: Path, inside: str | None, attribute: str | None) -> str:
    """The hierarchy of an attribute, as ARX CSV; of a project with one hierarchy, that one."""
    try:
        with zipfile.ZipFile(path) as project:
            entries = _hierarchies(project)
            text = _read(project, _chosen(path, entries, inside, attribute), path)
            return _with_semicolons(text, _separator(project))
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        OSError,
        EOFError,
        ValueError,
        csv.Error,
    ) as error:
        raise FileError(f"{path}: not a whole ARX project ({type(error).__name__}); save it once more") from None


def _chosen(path: Path, entries: Mapping[str, str], inside: str | None, attribute: str | None) -> str:
    if not entries:
        raise FileError(
            f"{path}: no hierarchies in this ARX project; define some there, or is it another kind of file?"
        )
    if inside is not None:
        found = [entry for entry in entries.values() if entry == inside or entry.endswith(f"/{inside}")]
        if not found:
            raise FileError(f"{path}: no entry {inside!r}; {did_you_mean(inside, entries.values())}")
        return found[0]
    if attribute in entries:
        return entries[str(attribute)]
    if attribute is None and len(entries) == 1:
        return next(iter(entries.values()))
    said = "an attribute is to be named" if attribute is None else f"no hierarchy of {attribute!r}"
    one = next(iter(entries.values()))
    raise FileError(f"{path}: {said}; there are {', '.join(entries)}; name one of them as {path.name}/{one}")


def _hierarchies(project: zipfile.ZipFile) -> dict[str, str]:
    """The entry of each attribute's hierarchy; those of the input, if a project has some of its output, too."""
    found = [(match[1], name) for name in project.namelist() if (match := _ENTRY.fullmatch(name))]
    found.sort(key=lambda pair: (not pair[1].startswith("input/"), pair[1]))
    entries, named = [name for _, name in found], dict(reversed(found))
    for definition in (name for name in project.namelist() if PurePosixPath(name).name == "definition.xml"):
        prefix = definition.removesuffix("definition.xml")
        for attribute, entry in _defined(project, definition).items():
            if prefix + entry in entries and not (attribute in named and named[attribute].startswith("input/")):
                named = {name: where for name, where in named.items() if where != prefix + entry}
                named[attribute] = prefix + entry
    return dict(sorted(named.items()))


def _defined(project: zipfile.ZipFile, definition: str) -> dict[str, str]:
    """Attributes and their entries, by a definition: an attribute's name need not be one that a file can have."""
    found = {}
    for element in _elements(project, definition):
        name, reference = element.findtext("name"), element.findtext("ref")
        if name and reference:
            found[name] = reference
    return found


def _separator(project: zipfile.ZipFile) -> str | None:
    """What stands between the cells of all tables of a project, if it says so."""
    if "project.xml" not in project.namelist():
        return None
    said = next((one.text for one in _elements(project, "project.xml") if one.tag == "separator"), None)
    return said if said and len(said) == 1 else None


def _elements(project: zipfile.ZipFile, entry: str) -> list[ElementTree.Element]:
    """All elements of an XML entry; none if it is not one."""
    if project.getinfo(entry).file_size > MOST_BYTES:
        return []
    try:
        return list(ElementTree.fromstring(project.read(entry)).iter())
    except ElementTree.ParseError:
        return []


def _with_semicolons(text: str, separator: str | None) -> str:
    """A hierarchy with a separator that files of hierarchies have; others, as tabs, are of projects alone."""
    if separator is None or separator in SEPARATORS:
        return text
    out = io.StringIO()
    cells = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    csv.writer(out, delimiter=SEPARATORS[0], lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(cells)
    return out.getvalue()


def _read(project: zipfile.ZipFile, entry: str, path: Path) -> str:
    if project.getinfo(entry).file_size > MOST_BYTES:
        raise FileError(f"{path}: {entry} is larger than a hierarchy can be")
    try:
        text = project.read(entry).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"{path}: {entry} is not UTF-8 text; export that hierarchy from ARX as CSV") from None
    if not text.strip():
        raise FileError(f"{path}: {entry} is empty; define that hierarchy in ARX")
    return text
