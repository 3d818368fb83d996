"""What is asked of hierarchies: what is wrong with one, whether its families are large, what two of them tell."""
