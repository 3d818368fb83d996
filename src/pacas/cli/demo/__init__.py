"""`pacas demo`."""
