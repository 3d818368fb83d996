"""Errors that were found elsewhere: cells that another tool has named."""
