"""Commands of a buyer: `pacas quote`, `buy`, `verify`."""
