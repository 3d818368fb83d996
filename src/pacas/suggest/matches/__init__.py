"""By which columns a client's tuple finds the rows that tell it an attribute."""
