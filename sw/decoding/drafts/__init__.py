"""What foretells the tokens of a text, so that a step can take several at once."""
