"""Alg. 1: which neighbours an answer rules out, and what they weigh together."""
