"""The support set: neighbours of the relation that stand for what a buyer may believe, and their weights."""
