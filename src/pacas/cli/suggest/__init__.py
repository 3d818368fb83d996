"""`pacas suggest`."""
