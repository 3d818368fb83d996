"""A provider: a register of occupations is sold value by value, and nobody's occupation becomes known by it.

Run it: python examples/sell_values.py
"""

import pacas

REGISTER = {
    "name": ["Ada", "Ben", "Cleo", "Dan", "Eve"],
    "born": ["1960", "1971", "1971", "1985", "1990"],
    "occupation": ["nurse", "surgeon", "pilot", "midwife", "welder"],
}
OCCUPATIONS = pacas.Hierarchy.from_rows(
    [
        ("nurse", "health", "services", "*"),
        ("surgeon", "health", "services", "*"),
        ("midwife", "health", "services", "*"),
        ("pilot", "transport", "services", "*"),
        ("driver", "transport", "services", "*"),
        ("dispatcher", "transport", "services", "*"),
        ("welder", "metal", "industry", "*"),
        ("smith", "metal", "industry", "*"),
        ("founder", "metal", "industry", "*"),
    ]
)
CREDIT = 1_000_000_000  # prices are in nanocredits


def in_words(told: pacas.Quote | pacas.Refusal | pacas.Answer) -> str:
    match told:
        case pacas.Quote(price):
            return f"{price / CREDIT:.2f}"
        case pacas.Refusal(reason):
            return reason.value
        case pacas.Answer(value, _, price):
            return f"{value!r} for {price / CREDIT:.2f}"


def main() -> None:
    provider = pacas.Provider(
        REGISTER,
        # What is sold, and what a buyer must know of a person to ask about them.
        match={"occupation": "name = name, born = born"},
        # Whoever knows name and year of birth must still find three occupations possible.
        policies=[pacas.Policy(x=("name", "born"), y=("occupation",), k=3)],
        hierarchies={"occupation": OCCUPATIONS},
        total=5,  # what everything costs together, in credits
    )
    print(provider)

    print("\nQuotes, from the occupation itself to nothing at all:")
    people = [*zip(REGISTER["name"], REGISTER["born"], strict=True), ("Zoe", "2000")]
    columns = {"name": [name for name, _ in people], "born": [born for _, born in people]}
    ladders = provider.quote_batch("occupation", columns)
    for number, (name, _) in enumerate(people):
        print(f"{name:5}" + "".join(f"{in_words(quote):>10}" for quote in ladders[number]))

    print("\nEvery family of occupations has three members, so quotes are the same for all, and tell nothing. Ada's:")
    ada = pacas.Request({"name": "Ada", "born": "1960"}, "occupation", level=1)
    ann, bob = provider.as_buyer("ann"), provider.as_buyer("bob")
    print("ann buys:", in_words(ann.pay(ada, ceiling=CREDIT, key="order-1")))
    print("ann asks again:", in_words(ann.quote(ada)))
    print("bob asks:", in_words(bob.quote(ada)))
    exactly = pacas.Request(ada.tuple, "occupation", level=0)
    print("bob asks for the occupation itself:", in_words(bob.quote(exactly)))


if __name__ == "__main__":
    main()
