"""Independent operators beside each other: which of them, in stages found by search."""
