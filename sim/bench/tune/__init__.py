"""Plans of a product by search, with the timeline or the RTL as the judge."""
