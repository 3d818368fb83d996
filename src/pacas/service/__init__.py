"""The wire between the two parties: the provider as a server, and the client's view of it."""
