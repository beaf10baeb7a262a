"""Independent operators beside each other: blocks, what they take, and stages as a plan."""
