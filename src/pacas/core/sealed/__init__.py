"""The arithmetic of sealed quotes: prices and safety that follow from what is public."""
