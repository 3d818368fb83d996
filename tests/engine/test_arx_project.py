"""Hierarchies in ARX project files, laid out as ARX lays them out, and bad twins."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from pacas import read_hierarchy
from pacas.engine.hierarchy_files import as_hierarchies
from pacas.errors import FileError, PacasError

MED = "ibuprofen;NSAID;*\nnaproxen;NSAID;*\ndolex;analgesic;*\n"
AGE = "51;[50,59];*\n67;[60,69];*\n"
DEFINITION = (
    "<definition><assigment><name>A/GE</name><ref>hierarchies/A_GE.csv</ref></assigment>"
    "<assigment><name>GEN</name></assigment></definition>"
)
ENTRIES = {
    "metadata.xml": "<metadata><version>3.9.0</version></metadata>",
    "project.dat": "\0",
    "input/definition.xml": DEFINITION,
    "input/hierarchies/MED.csv": MED,
    "input/hierarchies/A_GE.csv": AGE,
    "output/hierarchies/MED.csv": "other;*\n",
    "data/input.csv": "MED\nibuprofen\n",
}


def project(path: Path, entries: dict[str, str] = ENTRIES) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", ["study.zip", "tree.xlsx"])
def test_an_archive_of_another_name_is_said_to_be_one(tmp_path: Path, name: str) -> None:
    for whole in (True, False):
        path = project(tmp_path / name)
        path.write_bytes(path.read_bytes() if whole else path.read_bytes()[:40])
        with pytest.raises(FileError, match=rf"{name}: an archive; end the name of an ARX project in \.deid"):
            read_hierarchy(path)


def test_each_attribute_has_its_hierarchy(tmp_path: Path) -> None:
    path = project(tmp_path / "study.deid")
    read = as_hierarchies({"MED": path, "A/GE": path})
    assert set(read["MED"].at_level(1)) == {"NSAID", "analgesic"}
    assert next(iter(read["A/GE"].rows())) == ("51", "[50,59]", "*")
    assert list(read_hierarchy(path / "input/hierarchies/A_GE.csv").rows()) == list(read["A/GE"].rows())
    alone = project(tmp_path / "one.deid", {"hierarchies/MED.csv": MED})
    assert read_hierarchy(alone).height == 2


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_as_arx_writes_it(tmp_path: Path, separator: str) -> None:
    """Entries have their attributes' names as they are, and the separator of the table that was imported."""
    said = separator.join(["51", '"[50,59]"', "*"]) + "\n" + separator.join(["67", '"[60;69]"', "*"]) + "\n"
    entries = {
        "project.xml": f"<project>\n\t<name>Study &amp; co</name>\n\t<separator>{separator}</separator>\n</project>\n",
        "input/config.dat": "\0",
        "input/definition.xml": "<definition><assigment><name>A/GE</name><ref>hierarchies/A/GE.csv</ref></assigment>",
        "input/hierarchies/A/GE.csv": said,
        "output/hierarchies/A/GE.csv": said,
    }
    for told in (entries, {**entries, "input/definition.xml": entries["input/definition.xml"] + "</definition>"}):
        read = read_hierarchy(project(tmp_path / "study.deid", told), attribute="A/GE")
        assert list(read.rows()) == [("51", "[50,59]", "*"), ("67", "[60;69]", "*")]
    assert read_hierarchy(tmp_path / "study.deid/input/hierarchies/A/GE.csv").height == 2


@pytest.mark.parametrize(
    ("entries", "attribute", "said"),
    [
        (ENTRIES, None, "an attribute is to be named; there are A/GE, MED; name one of them as study.deid/input"),
        (ENTRIES, "GEN", "no hierarchy of 'GEN'; there are A/GE, MED"),
        ({"data/input.csv": "x"}, "MED", "no hierarchies in this ARX project"),
        ({"hierarchies/MED.csv": ""}, "MED", "hierarchies/MED.csv is empty"),
        ({"hierarchies/MED.csv": "a;b;*\na;c;*\n"}, "MED", "study.deid, line"),
        ({"input/definition.xml": "<def", "input/hierarchies/MED.csv": MED}, "AGE", "no hierarchy of 'AGE'"),
    ],
)
def test_bad_projects(tmp_path: Path, entries: dict[str, str], attribute: str | None, said: str) -> None:
    path = project(tmp_path / "study.deid", entries)
    with pytest.raises(PacasError) as error:
        read_hierarchy(path, attribute=attribute)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_damaged_projects(tmp_path: Path) -> None:
    path = project(tmp_path / "study.deid")
    with pytest.raises(FileError, match=r"no entry 'hierarchies/AGE\.csv'"):
        read_hierarchy(path / "hierarchies/AGE.csv")
    whole = path.read_bytes()
    for damaged in (b"", whole[:100], whole[:-30], b"PK\x03\x04" + b"\0" * 50):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match="not a whole ARX project"):
            read_hierarchy(path, attribute="MED")
    path.write_bytes(whole)
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("input/hierarchies/MED.csv")
    start = entry.header_offset + 30 + len(entry.filename)
    path.write_bytes(whole[:start] + b"\xff" * entry.compress_size + whole[start + entry.compress_size :])
    with pytest.raises(FileError, match="not a whole ARX project"):
        read_hierarchy(path, attribute="MED")
