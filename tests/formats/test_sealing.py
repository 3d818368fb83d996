"""`quotes = "sealed"` in provider.toml: what it reads, and what it cannot go with, each in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pacas.cli.main import run

FILES = {
    "people.csv": "ID,X,EDU,NUM\n1,a,BSc,13\n2,a,MSc,14\n3,a,HS,9\n4,b,BSc,13\n5,b,HS,9\n",
    "edu.csv": "BSc,high,*\nMSc,high,*\nHS,low,*\nGED,low,*\n",
    "num.csv": "9,school,*\n13,college,*\n14,college,*\n",
    "pairs.csv": "NUM,EDU\n9,HS\n13,BSc\n14,MSc\n",
    "prior.csv": "attribute,value,count\nEDU,BSc,30\nEDU,HS,10\nEDU,MSc,5\nEDU,GED,1\n",
    "r.jsonl": '{"tuple": {"ID": "1"}, "attribute": "EDU"}\n{"tuple": {"ID": "9"}, "attribute": "EDU"}\n',
}
PROVIDER = """
[relation]
data = "people.csv"
[hierarchies]
EDU = "edu.csv"
NUM = "num.csv"
[match]
EDU = "ID = ID"
NUM = "ID = ID"
[[policy]]
x = ["X"]
y = ["EDU"]
k = 2
allow_linkage = true
[pricing]
quotes = "sealed"
total = 100.0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def quoted(text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    Path("provider.toml").write_text(text)
    code = run(["quote", "provider.toml", "--requests", "r.jsonl", "--json"])
    told = capsys.readouterr()
    return code, told.out or told.err


def test_a_sealed_provider_quotes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = quoted(PROVIDER, capsys)
    assert code == 0
    assert '"no_match"' in told and '"price"' in told


def test_exchanged_values_change_no_byte(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = quoted(PROVIDER, capsys)
    lines = ["ID,X,EDU,NUM", "5,b,GED,14", "3,a,MSc,13", "1,a,GED,9", "4,b,MSc,9", "2,a,MSc,9"]
    Path("people.csv").write_text("\n".join(lines) + "\n")
    Path("provider.ledger.db").unlink()
    assert quoted(PROVIDER, capsys) == before


def test_what_a_dictionary_implies_is_protected_with_its_left_side(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """NUM determines EDU: without the dictionary a NUM is sold that tells the EDU of everybody."""
    Path("r.jsonl").write_text("".join(f'{{"tuple": {{"ID": "{i}"}}, "attribute": "NUM"}}\n' for i in range(1, 6)))
    _, loose = quoted(PROVIDER, capsys)
    assert "unsafe" not in loose
    Path("provider.ledger.db").unlink()
    code, tied = quoted(PROVIDER + '[[dependency]]\nfd = "NUM -> EDU"\ndictionary = "pairs.csv"\n', capsys)
    assert code == 0 and tied.count("unsafe") >= 2


def test_an_audit_counts_what_the_levels_sold_have_left(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("provider.toml").write_text(PROVIDER)
    Path("b.jsonl").write_text(
        "".join(f'{{"tuple": {{"ID": "{i}"}}, "attribute": "EDU", "level": 0}}\n' for i in range(1, 6))
    )
    assert run(["buy", "provider.toml", "--requests", "b.jsonl", "--as", "ann", "--json"]) == 0
    bought = json.loads(capsys.readouterr().out)["purchases"]
    assert sum("answer" in one for one in bought) == 3  # one of each group is kept back
    assert run(["audit", "provider.toml", "--json"]) == 0
    audit = json.loads(capsys.readouterr().out)
    (policy,) = audit["policies"]
    assert (audit["holds"], policy["groups"], policy["holds"]) == (True, 2, True)
    assert (
        audit["buyers"][0]["spent"]
        == audit["buyers"][0]["due"]
        == pytest.approx(sum(one.get("price", 0) for one in bought))
    )


def test_a_prior_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = quoted(PROVIDER, capsys)
    Path("provider.ledger.db").unlink()
    code, told = quoted(PROVIDER + 'prior = "prior.csv"\nspread = "domain"\nreserve = "last"\n', capsys)
    assert code == 0 and told != plain[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("total = 100.0", "total = 100.0\nsupport = { per_cell = 3 }"),
            "pricing.support: sealed quotes need no support",
        ),
        (("total = 100.0", "total = 100.0\nseed = 3"), "pricing.seed: sealed quotes have no secret"),
        (('quotes = "sealed"', 'reserve = "last"'), "pricing.reserve: it is for sealed quotes"),
        (('EDU = "edu.csv"', 'EDU = { build = "prefix" }'), "hierarchies.EDU: it is made from the relation"),
        (('EDU = "edu.csv"\n', ""), "'EDU' has no hierarchy"),
        (('x = ["X"]', 'x = ["X", "NUM"]'), "'NUM' is sold or protected, and public as well"),
        (("total = 100.0", 'total = 100.0\nprior = "edu.csv"'), "pricing.prior: it has no column 'attribute'"),
        (('quotes = "sealed"', 'quotes = "seald"'), "pricing.quotes"),
        (("total = 100.0", "total = 0.0000001"), "a total of 0.0000001 credits is too small"),
    ],
)
def test_what_cannot_be_sealed_is_said_in_one_line(
    change: tuple[str, str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert change[0] in PROVIDER
    code, told = quoted(PROVIDER.replace(*change), capsys)
    assert code == 2 and said in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ('fd = "NUM -> EDU"', "its left side is private; give the dictionary"),
        ('fd = "X -> EDU"', "rows do not have the one EDU that X is declared to determine"),
        ('fd = "X, NUM -> EDU"', "its left side is in part public"),
        ('fd = "NUM -> EDU"\ndictionary = "two.csv"', "two right sides for one left side"),
        ('fd = "NUM -> EDU"\ndictionary = "few.csv"', "rows have values of EDU, NUM that no dictionary lists together"),
        ('fd = "NUM -> EDU"\ndictionary = "edu.csv"', "dependency 1: "),
        ('fd = "EDU -> X"', "'X' is neither sold nor protected"),
    ],
)
def test_a_dependency_that_cannot_be_kept_is_said_in_one_line(
    declared: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two.csv").write_text("NUM,EDU\n9,HS\n9,GED\n13,BSc\n14,MSc\n")
    Path("few.csv").write_text("NUM,EDU\n9,HS\n13,BSc\n")
    code, told = quoted(PROVIDER + f"[[dependency]]\n{declared}\n", capsys)
    assert code == 2 and said in told and told.count("\n") == 1
