"""What a table says of itself: dependencies, hierarchies, roles and matches that its owner may want to declare."""
