"""A provider whose relation is held as codes in memory."""
