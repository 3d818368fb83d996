"""What a provider asks of whatever holds its relation, and the rules that all of them share."""
