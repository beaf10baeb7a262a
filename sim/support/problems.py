"""What can be wrong with what a user gave: the message is all that they see, exit code 2."""

__all__ = ["InputError", "OutputError"]


class InputError(ValueError):
    """An option, a file or a combination of them that cannot be used.

    The message names the value, the rule and the place.
    """


class OutputError(OSError):
    """A file that could not be written; nothing of it was left behind."""
