"""A provider whose relation stays on the engine: rows are looked up as requests need them."""
