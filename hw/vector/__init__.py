"""The transform unit: everything that is not a product, on rows of integers."""
