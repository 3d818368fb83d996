"""The runs as pictures, and a report that shows them."""
