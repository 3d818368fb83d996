"""The paper's way to spend a budget: the class with most errors first, each for its share of the money."""
