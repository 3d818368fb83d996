"""Policies that leave most sales possible: what k and a level cost, told from a tree and counts alone."""
