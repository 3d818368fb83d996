"""A client: an insurer's table contradicts itself, and is repaired with values bought from a register of occupations.

Run it: python examples/clean_a_table.py
"""

import pacas

# The insurer's table. Who has the same employer and grade should have the same occupation.
INSURED = {
    "person": ["p1", "p2", "p3", "p4", "p5", "p6", "p7"],
    "employer": ["clinic", "clinic", "clinic", "airline", "airline", "airline", "school"],
    "grade": ["B", "B", "B", "C", "C", "C", "A"],
    "occupation": ["nurse", "nurse", "welder", "pilot", "driver", "surgeon", "teacher"],
}

# The register knows better. It sells an occupation to who names the person, but never so exactly that fewer than three
# occupations stay possible: "health" leaves three, "nurse" would leave one. Its quotes are sealed, and tell nothing:
# every family has three members, so that everybody is sold at the same level for the same price.
REGISTER = {
    "person": ["p1", "p2", "p3", "p4", "p5", "p6", "p7"],
    "occupation": ["nurse", "nurse", "nurse", "pilot", "pilot", "pilot", "teacher"],
}
OCCUPATIONS = pacas.Hierarchy.from_rows(
    [
        ("nurse", "health", "*"),
        ("surgeon", "health", "*"),
        ("pharmacist", "health", "*"),
        ("pilot", "transport", "*"),
        ("driver", "transport", "*"),
        ("dispatcher", "transport", "*"),
        ("welder", "other", "*"),
        ("teacher", "other", "*"),
        ("baker", "other", "*"),
    ]
)


def register() -> pacas.Provider:
    """Somebody else's, in practice; here it runs in the same process."""
    return pacas.Provider(
        REGISTER,
        match={"occupation": "person = person"},
        policies=[pacas.Policy(x=("person",), y=("occupation",), k=3)],
        hierarchies={"occupation": OCCUPATIONS},
        total=7,
    )


def main() -> None:
    cleaner = pacas.SafeClean(["employer, grade -> occupation"], budget=2)
    result = cleaner.clean(INSURED, register())

    print(f"violations: {result.violations_before} before, {result.violations_after} after")
    print(f"spent: {result.spent} of {result.budget} credits\n")

    before = INSURED["occupation"]
    for row, (old, now) in enumerate(zip(before, result.relation.table["occupation"].to_pylist(), strict=True)):
        print(f"{INSURED['person'][row]}  {old}" + (f" -> {now}" if now != old else ""))

    print("\nWhy row 2?")
    print(pacas.explain(result, 2, "occupation"))

    print("\nHow good is it?")
    print(result.score(REGISTER))
    # pacas.write_report("report.html", result) puts it all on a page.


if __name__ == "__main__":
    main()
