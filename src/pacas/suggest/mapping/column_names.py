"""How alike the names of two columns are: their words, short forms written out, in any order."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz.distance import JaroWinkler

_WORDS = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

LONG_FORMS = {
    "acct": "account",
    "act": "actual",
    "addr": "address",
    "amt": "amount",
    "arr": "arrival",
    "avg": "average",
    "boro": "borough",
    "cat": "category",
    "cd": "code",
    "cnt": "count",
    "ctry": "country",
    "dep": "departure",
    "dept": "department",
    "desc": "description",
    "diag": "diagnosis",
    "dob": "birthdate",
    "drug": "medication",
    "edu": "education",
    "gen": "sex",
    "gender": "sex",
    "hosp": "hospital",
    "id": "number",
    "identifier": "number",
    "job": "occupation",
    "med": "medication",
    "medicine": "medication",
    "mobile": "phone",
    "nm": "name",
    "no": "number",
    "nr": "number",
    "num": "number",
    "occ": "occupation",
    "postal": "zip",
    "postcode": "zip",
    "prov": "provider",
    "province": "state",
    "qty": "quantity",
    "restaurant": "business",
    "salary": "income",
    "sched": "scheduled",
    "st": "street",
    "tel": "phone",
    "telephone": "phone",
    "town": "city",
    "yr": "year",
    "zipcode": "zip",
}
"""Short forms and synonyms of words that columns are often named by."""

SAID = {("zip", "code"): "zip", ("date", "of", "birth"): "birthdate", ("birth", "date"): "birthdate"}
"""Several words for one."""

STARTS, ALIKE, JOINED = 0.9, 0.8, 0.7
"""What a word counts that another begins with; from where on two words, and two whole names, are alike at all."""
NOT_THE_SAME = 0.99


def words_of(name: str) -> tuple[str, ...]:
    """The words of a column's name.

    >>> words_of("ProvZipCode"), words_of("date_of_birth"), words_of("tel. no")
    (('provider', 'zip'), ('birthdate',), ('phone', 'number'))
    """
    words = [LONG_FORMS.get(word, word) for word in _WORDS.findall(_HUMP.sub(" ", name).casefold())]
    for said, one in SAID.items():
        for at in range(len(words) - len(said), -1, -1):
            if tuple(words[at : at + len(said)]) == said:
                words[at : at + len(said)] = [one]
    return tuple(words)


def name_similarity(a: str, b: str) -> float:
    """From 0, nothing in common, to 1, the same name; other names of the same words come right below."""
    x, y = words_of(a), words_of(b)
    if a == b or not x or not y:
        return float(a == b)
    there, back = _covered(x, y), _covered(y, x)
    by_words = 2 * there * back / (there + back) if there + back else 0.0
    as_one = _above(JaroWinkler.similarity("".join(x), "".join(y)), JOINED)
    return NOT_THE_SAME * max(by_words, STARTS * as_one)


def _covered(words: Sequence[str], by: Sequence[str]) -> float:
    """How well the words of one name are found in another."""
    return sum(max(_word_similarity(word, other) for other in by) for word in words) / len(words)


def _word_similarity(a: str, b: str) -> float:
    if a == b:
        return 1.0
    if min(len(a), len(b)) >= 3 and (a.startswith(b) or b.startswith(a)):
        return STARTS
    return 0.6 * _above(JaroWinkler.similarity(a, b), ALIKE)


def _above(similarity: float, least: float) -> float:
    """A similarity from `least` to 1, from 0 to 1."""
    return max(0.0, (similarity - least) / (1 - least))
