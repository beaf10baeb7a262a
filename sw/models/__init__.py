"""The graphs of models, and what connects them to the host's part."""
