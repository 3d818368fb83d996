"""Errors put into a clean relation, and the log of what was changed."""
