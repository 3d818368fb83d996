"""Words by which columns are called that hold what others may know of people, and what is nobody's business."""

from __future__ import annotations

from pacas.suggest.mapping.column_names import words_of

KNOWN_TO_OTHERS = frozenset(
    words_of(
        "address age birth birthdate birthplace borough citizenship city country county district education employer "
        "gender household job language location marital married nationality neighborhood neighbourhood occupation "
        "profession region relationship residence school sex state street town workclass zip"
    )
)
SENSITIVE = frozenset(
    words_of(
        "abortion addiction allergy arrest biometric cancer condition conviction credit crime criminal debt depression "
        "diagnosis disability disease disorder dna drug ethnic ethnicity faith genetic hispanic hiv icd illness income "
        "infection loan medical medication mental mortgage offence offense opinion orientation party political "
        "pregnancy pregnant prescription procedure psychiatric race religion religious result salary sentence sexual "
        "surgery symptom therapy treatment union vaccination vote wage welfare"
    )
)
"""What privacy laws name, and what people would not have told."""
