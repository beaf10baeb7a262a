"""What keeps a model from being a decoder."""

__all__ = ["DecoderProblem"]


class DecoderProblem(ValueError):
    """The message names what is in the way, and why."""
