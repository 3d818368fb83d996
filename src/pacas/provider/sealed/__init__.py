"""A provider whose quotes are sealed: a quoter for all that is free, and the private columns for what is paid."""
