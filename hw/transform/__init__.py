"""TRANSFORM: from operations to rows of results; the arithmetic is in `celosia.hw.vector`."""
