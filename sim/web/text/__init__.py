"""A text on the page: the small language model, whose steps run on the RTL."""
