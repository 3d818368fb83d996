"""`pacas clean`."""
