"""Alg. 2: how many values every X-group still shows once some neighbours are ruled out."""
