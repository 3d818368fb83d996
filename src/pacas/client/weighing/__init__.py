"""Weighing what may be wrong: beliefs about groups and rows, from the client's own evidence and its purchases."""
