"""Several providers in one cleaning: what they and the client's own table say together, whom to ask, what to write."""
