"""What is traded over the wire: quotes, sales, private offers, price lists, and the lines of a circle."""
