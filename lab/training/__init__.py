"""Training of the small language model: its text, its tokenizer, its weights."""
