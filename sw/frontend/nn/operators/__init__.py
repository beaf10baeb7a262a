"""The operators of the float graph, and what each means in NumPy."""
