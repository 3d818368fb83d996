"""`pacas init`."""
