"""`pacas suggest`: what a table says of itself."""
