"""What can be wrong with a model that somebody else wrote."""

__all__ = ["ImportProblem", "Inner", "Lost", "Refusal"]


class ImportProblem(ValueError):
    """A model that cannot be imported; the message names the place and the reason."""


class Refusal(ValueError):
    """The reason why one node has no meaning in the float graph; its place is known elsewhere."""


class Lost(Refusal):
    """A node that would have a meaning if another one had."""


class Inner(Refusal):
    """The reason of a node inside of a function or a branch, whose place it names."""
