"""Record matching: which rows of the provider a client's tuple speaks of.

Paper: §5.1. What each clause of a matching dependency means, exactly:

- `=`: the same text; the same number, where the provider column's hierarchy is numeric.
- `within N`: both are numbers and |client − provider| ≤ N, in exact decimals.
- `edit θ`, `jaro_winkler θ`: rapidfuzz's similarity (of 64-bit floats) is at least θ.
- `qgram θ`: Dice over the multisets of 2-grams of `#text$` is at least θ.
- `compatible`: the provider's value is the client's or lies below it.

A null (an empty text) is like nothing, another null included. The matches are those that comparing all pairs would
find, but no step compares all pairs.
"""

from pacas.provider.matching.matcher import Matcher, Matches, listed_columns

__all__ = ["Matcher", "Matches", "listed_columns"]
