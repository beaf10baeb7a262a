"""The small language model in float32: its weights, its tokens, what it says, how well."""
