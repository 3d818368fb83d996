"""Sealed quotes, the default, in provider.toml: what they read, and what they cannot go with, each in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pacas.cli.main import run
from pacas.formats.provider.provider_file import read_provider_file

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


def test_an_audit_says_what_a_policy_asks_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("provider.toml").write_text(PROVIDER.replace("k = 2", 'criterion = "entropy"\nl = 1.5'))
    assert run(["audit", "provider.toml", "--json"]) == 0
    (policy,) = json.loads(capsys.readouterr().out)["policies"]
    assert policy["criterion"] == {"name": "entropy", "l": 1.5}
    assert policy["margins"] == [{"margin": 0, "groups": 2}]
    assert run(["audit", "provider.toml"]) == 0
    told = capsys.readouterr().out
    assert "policy 1: (X) linked to EDU at level 0 with entropy l = 1.5: holds" in told
    assert "2 groups, 0 of them with too few rows that it holds for" in told


def test_a_prior_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = quoted(PROVIDER, capsys)
    Path("provider.ledger.db").unlink()
    code, told = quoted(PROVIDER + 'prior = "prior.csv"\nspread = "domain"\nreserve = "last"\n', capsys)
    assert code == 0 and told != plain[1]


def test_a_prior_may_follow_from_the_relation_with_noise(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = quoted(PROVIDER + 'spread = "domain"\nprior = { dp_epsilon = 0.1 }\n', capsys)
    assert first[0] == 0 and quoted(PROVIDER + 'spread = "domain"\nprior = { dp_epsilon = 0.1 }\n', capsys) == first
    for outside in ("0", "-0.5", "1e-30", "1000.1"):
        code, told = quoted(PROVIDER + f"prior = {{ dp_epsilon = {outside} }}\n", capsys)
        said = f"pricing.prior: dp_epsilon must be a number from 0.000001 to 1,000, such as 0.1, not {outside.upper()}"
        assert code == 2 and said in told and told.count("\n") == 1


def test_with_a_registry_who_is_in_the_table_has_a_price(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = "".join(f"{i},{'a' if i < 5 else 'b'}\n" for i in (9, 2, 3, 5, 6, 7))
    Path("registry.csv").write_text(f"ID,X\n1,a\n4,b\n{listed}")
    Path("people.csv").write_text("ID,X,EDU,NUM\n1,a,BSc,13\n9,b,MSc,14\n3,a,HS,9\n4,b,BSc,13\n5,b,HS,9\n")
    Path("r.jsonl").write_text("".join(f'{{"tuple": {{"ID": "{i}"}}, "attribute": "EDU"}}\n' for i in range(1, 10)))
    with_registry = PROVIDER + 'members = { registry = "registry.csv" }\n'
    code, told = quoted(with_registry, capsys)
    ladders = [one["levels"] for one in json.loads(told)["quotes"]]
    assert code == 0 and ladders[7][0] == {"refused": "no_match"}  # number 8 is in no list
    priced = [ladder for ladder in ladders if "price" in ladder[2]]
    assert len(priced) == 6 and min(ladder[2]["price"] for ladder in priced) > 0
    refused = [ladder for ladder in ladders if ladder[0] == {"refused": "unsafe"}]
    assert len(refused) == 2 and all(one == {"refused": "unsafe"} for ladder in refused for one in ladder)
    bought = "".join(f'{{"tuple": {{"ID": "{i}"}}, "attribute": "EDU", "level": 2}}\n' for i in range(1, 10))
    Path("b.jsonl").write_text(bought * 2)
    assert run(["buy", "provider.toml", "--requests", "b.jsonl", "--json"]) == 0
    answers = [one.get("answer") for one in json.loads(capsys.readouterr().out)["purchases"]]
    sold = {i: answer for i, answer in enumerate(answers[:9], start=1) if answer is not None}
    assert sold == {i: "*" if i in (1, 9, 3, 4, 5) else "absent" for i in sold} and "absent" in sold.values()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("total = 100.0", 'total = 100.0\nmembers = { registry = "few.csv" }'), "3 rows are not in the registry"),
        (
            ("total = 100.0", 'total = 100.0\nmembers = { registry = "edu.csv" }'),
            "edu.csv has none of the columns that are named here",
        ),
        (("k = 2", 'k = 2\nscope = "row"'), 'with a registry, scope = "row" would sell nothing'),
    ],
)
def test_what_a_registry_cannot_go_with_is_said_in_one_line(
    change: tuple[str, str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("few.csv").write_text("ID,X\n1,a\n2,a\n7,b\n")
    text = PROVIDER.replace(*change)
    code, told = quoted(text if "members" in text else text + 'members = { registry = "people.csv" }\n', capsys)
    assert code == 2 and said in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("criterion", "kept_back"),
    [
        ("k = 2", 1),
        ('criterion = "distinct"\nk = 3', 2),
        ('criterion = "entropy"\nl = 2', 1),
        ('criterion = "entropy"\nl = 2.01', 2),
        ('criterion = "recursive"\nc = 1.1\nl = 2', 1),
        ('criterion = "recursive"\nc = 1\nl = 2', 2),
        ('criterion = "closeness"\nt = 0.5', 1),
        ('criterion = "closeness"\nt = 0.49', 2),
    ],
)
def test_a_row_that_is_kept_back_is_sold_from_the_level_at_which_its_criterion_holds(
    criterion: str, kept_back: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four values alike: at level 1 two are left, whatever the answer; at level 2, the root, all four."""
    asked = "".join(f'{{"tuple": {{"ID": "{i}"}}, "attribute": "EDU"}}\n' for i in range(1, 6))
    Path("r.jsonl").write_text(asked)
    code, told = quoted(PROVIDER.replace("k = 2", criterion), capsys)
    refused = [sum("refused" in level for level in quote["levels"]) for quote in json.loads(told)["quotes"]]
    assert code == 0 and sorted(refused) == [0, 0, 0, kept_back, kept_back]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("k = 2", ""), "policy 1: criterion 'distinct' takes k; k is missing"),
        (("k = 2", "k = 2\nl = 2"), "policy 1: criterion 'distinct' takes k; leave l out"),
        (("k = 2", 'criterion = "entropy"\nk = 2'), "policy 1: criterion 'entropy' takes l; l is missing"),
        (("k = 2", 'criterion = "entropie"'), "policy 1: no criterion 'entropie'; did you mean 'entropy'?"),
        (("k = 2", 'criterion = "closeness"\nt = 2'), "policy 1: t must be between 0 and 1, not 2"),
        (("k = 2", 'criterion = "closeness"\nt = "far"'), "'policy 1.t': give a number, such as 0.5"),
        (("k = 2", 'criterion = "entropy"\nl = 5'), "policy 1 asks for entropy l = 5, which can never hold"),
        (
            ("k = 2", 'criterion = "recursive"\nc = 0.3\nl = 2'),
            "policy 1 asks for recursive c = 0.3, l = 2, which can never hold: level 0 of 'EDU' has 4 values",
        ),
        (
            ('y = ["EDU"]\nk = 2', 'y = ["EDU", "NUM"]\ncriterion = "entropy"\nl = 2'),
            "policy 1: entropy l = 2 judges EDU, NUM together, which no dictionary links; declare a [[dependency]]",
        ),
        (
            (
                'k = 2\nallow_linkage = true\n[pricing]\nquotes = "sealed"',
                'criterion = "entropy"\nl = 2\nallow_linkage = true\n[pricing]\nquotes = "paper"',
            ),
            "policy 1.criterion: only sealed quotes have it",
        ),
    ],
)
def test_a_criterion_that_cannot_be_kept_is_said_in_one_line(
    change: tuple[str, str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert change[0] in PROVIDER
    code, told = quoted(PROVIDER.replace(*change), capsys)
    assert code == 2 and said in told and told.count("\n") == 1


def test_linked_attributes_are_judged_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = PROVIDER.replace('y = ["EDU"]\nk = 2', 'y = ["EDU", "NUM"]\ncriterion = "entropy"\nl = 3')
    code, told = quoted(asked + '[[dependency]]\nfd = "NUM -> EDU"\ndictionary = "pairs.csv"\n', capsys)
    assert code == 0 and '"price"' in told


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("total = 100.0", "total = 100.0\nsupport = { per_cell = 3 }"),
            'pricing.support: only the paper\'s quotes have it; leave it out, or say quotes = "paper"',
        ),
        (("total = 100.0", "total = 100.0\nsupport = {}"), "pricing.support: only the paper's quotes have it"),
        (("total = 100.0", "total = 100.0\nseed = 3"), "pricing.seed: only the paper's quotes have it"),
        (("[relation]", 'history = "per_buyer"\n[relation]'), "history: only the paper's quotes have it"),
        (
            ("total = 100.0", '[[pricing.points]]\nselect = "EDU"\nprice = 1'),
            "pricing.points: only the paper's quotes have it",
        ),
        (
            ('quotes = "sealed"', 'quotes = "paper"\nreserve = "last"'),
            "pricing.reserve: only sealed quotes have it; leave one of them out",
        ),
        (
            ('quotes = "sealed"', 'seed = 3\nprior = "prior.csv"'),
            "pricing.prior: only sealed quotes have it, and pricing.seed asks for the paper's; leave one of them out",
        ),
        (
            ('[pricing]\nquotes = "sealed"', "keep = 2\n[pricing]\nseed = 3"),
            "policy 1.keep: only sealed quotes have it",
        ),
        (
            ('[pricing]\nquotes = "sealed"', '[[dependency]]\nfd = "NUM -> EDU"\n[pricing]\nquotes = "paper"'),
            "dependency: only sealed quotes have it",
        ),
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


def test_a_protected_column_may_not_have_its_domain_from_the_data_either(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("r.jsonl").write_text('{"tuple": {"ID": "1"}, "attribute": "NUM"}\n')
    unsold = PROVIDER.replace('EDU = "ID = ID"\n', "").replace('EDU = "edu.csv"', 'EDU = { build = "prefix" }')
    code, told = quoted(unsold, capsys)
    assert code == 2 and "hierarchies.EDU: it is made from the relation" in told and 'quotes = "paper"' in told
    assert quoted(unsold + "[service]\npublish_built = true\n", capsys)[0] == 0


def test_what_may_be_published_needs_no_hierarchy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published = PROVIDER.replace('EDU = "edu.csv"\n', "") + "[service]\npublish_built = true\n"
    code, told = quoted(published, capsys)
    assert code == 0 and len(json.loads(told)["quotes"][0]["levels"]) == 2, "its values, and the root"
    lines = FILES["people.csv"].splitlines(keepends=True)
    Path("people.csv").write_text("".join([lines[0], *reversed(lines[1:])]))
    assert quoted(published, capsys) == (0, told), "whatever the order of rows is"


DEFAULT = PROVIDER.replace('quotes = "sealed"\n', "")


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        (DEFAULT, "sealed"),
        (DEFAULT.replace("k = 2", "k = 2\nkeep = 2"), "sealed"),
        (DEFAULT + "support = { per_cell = 3 }\n", "paper"),
        (DEFAULT + "[pricing.support]\n", "paper"),
        (DEFAULT + "seed = 3\n", "paper"),
        (DEFAULT + 'quotes = "paper"\n', "paper"),
        (DEFAULT + '[[pricing.points]]\nselect = "EDU"\nprice = 1\n', "paper"),
        ('history = "per_buyer"\n' + DEFAULT, "paper"),
        ('history = "pooled"\n' + DEFAULT, "sealed"),
    ],
)
def test_quotes_are_sealed_unless_the_file_asks_for_what_only_the_papers_have(
    text: str, mode: str, folder: Path
) -> None:
    Path("provider.toml").write_text(text)
    assert read_provider_file(Path("provider.toml")).quotes.value == mode


def test_a_file_that_says_nothing_quotes_as_one_that_says_sealed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert quoted(DEFAULT, capsys) == quoted(PROVIDER, capsys)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ('fd = "NUM -> EDU"', "'NUM' is private; give the dictionary"),
        ('fd = "X -> EDU"', "X -> EDU is declared and does not hold for"),
        ('fd = "X, NUM -> EDU"', "'NUM' is private; give the dictionary"),
        ('fd = "X, NUM -> EDU"\ndictionary = "case.csv"', "rows have values of X that the dictionary does not have"),
        ('fd = "NUM -> EDU"\ndictionary = "two.csv"', "two right sides for one left side; keep one"),
        ('fd = "NUM -> EDU"\ndictionary = "few.csv"', "values of EDU, NUM that no dictionary lists together"),
        ('fd = "NUM -> EDU"\ndictionary = "edu.csv"', "dependency 1: "),
        ('fd = "EDU -> X"', "'X' is neither sold nor protected"),
    ],
)
def test_a_dependency_that_cannot_be_kept_is_said_in_one_line(
    declared: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two.csv").write_text("NUM,EDU\n9,HS\n9,GED\n13,BSc\n14,MSc\n")
    Path("case.csv").write_text("X,NUM,EDU\nnowhere,9,HS\nnowhere,13,BSc\n")
    Path("few.csv").write_text("NUM,EDU\n9,HS\n13,BSc\n")
    code, told = quoted(PROVIDER + f"[[dependency]]\n{declared}\n", capsys)
    assert code == 2 and said in told and told.count("\n") == 1


# ---- what would make a promise untrue is not opened ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('prior = "rare.csv"', ""),
        ('prior = "twice.csv"', "a value of 'EDU' has two lines"),
        (
            'prior = "typo.csv"',
            "prior: 'EDU' can have the ground values of its hierarchy, and 1 in the prior are none of them",
        ),
        ('prior = "strange.csv"', "prior: 'EDDU' is neither sold nor protected; did you mean 'EDU'?"),
        ('prior = "large.csv"', "a count must be a whole number from 0 to"),
        (
            'prior = "rare.csv"\n[[dependency]]\nfd = "NUM -> EDU"\ndictionary = "pairs.csv"',
            "prior: a dictionary says which",
        ),
        (
            '[[dependency]]\nfd = "NUM -> EDU"\ndictionary = "general.csv"',
            "of the 3 values of EDU in its dictionary, 1 are general",
        ),
        ('[[dependency]]\nfd = "X -> EDU"\n[[dependency]]\nfd = "ID -> EDU"', "X is declared to determine EDU, too"),
        ('[[dependency]]\nfd = "SIZE -> EDU"', "SIZE has numbers in two spellings"),
        ('[[dependency]]\nfd = "GONE -> EDU"', "some rows have no GONE"),
        ('members = { registry = "people.csv", share = 1 }', "pricing.members.share: give a number between 0 and 1"),
    ],
)
def test_what_cannot_be_promised_is_said_in_one_line(
    more: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = {
        "rare.csv": "EDU,HS,10\nEDU,BSc,0\n",
        "twice.csv": "EDU,HS,10\nEDU,HS,11\n",
        "typo.csv": "EDU,HSS,10\n",
        "strange.csv": "EDDU,HS,10\n",
        "large.csv": "EDU,HS,99999999999999999999\n",
    }
    for name, lines in written.items():
        Path(name).write_text("attribute,value,count\n" + lines)
    Path("general.csv").write_text("NUM,EDU\n9,HS\n13,BSc\n14,high\n")
    Path("size.csv").write_text("1,*\n2,*\n")
    people = FILES["people.csv"].splitlines()
    sizes = ["SIZE,GONE", "1,a", "1.0,a", "2,", "2,a", "2,a"]
    Path("people.csv").write_text("".join(f"{one},{size}\n" for one, size in zip(people, sizes, strict=True)))
    text = PROVIDER.replace('NUM = "num.csv"', 'NUM = "num.csv"\nSIZE = { build = "intervals", widths = [10] }')
    code, told = quoted(text + more + "\n", capsys)
    assert code == (2 if said else 0), told
    assert said in told and told.count("\n") == 1


def test_what_a_prior_leaves_out_stays_possible(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A family whose values but one are believed never to occur does not hide that one: level 1 is not sold."""
    Path("prior.csv").write_text("attribute,value,count\nEDU,HS,10\nEDU,BSc,5\nEDU,MSc,5\n")
    Path("edu.csv").write_text("BSc,high,*\nMSc,high,*\nHS,school,*\nGED,other,*\n")
    code, told = quoted(PROVIDER.replace("k = 2", 'k = 2\nscope = "row"') + 'prior = "prior.csv"\n', capsys)
    assert code == 0 and json.loads(told)["quotes"][0]["levels"][1] == {"refused": "unsafe"}


def test_a_policy_for_every_row_needs_no_x(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PROVIDER.replace('x = ["X"]\n', "").replace("allow_linkage = true\n", "")
    code, told = quoted(text, capsys)
    assert code == 2 and 'unless scope = "row" protects every row' in told
    code, told = quoted(text.replace("k = 2", 'k = 2\nscope = "row"'), capsys)
    assert code == 0 and json.loads(told)["quotes"][0]["levels"][0] == {"refused": "unsafe"}
    assert run(["audit", "provider.toml", "--json"]) == 0
