"""Handlers by the operators that they know."""

from collections import UserDict
from collections.abc import Callable

from celosia.sw.frontend.importer.source.call import Call, Result

__all__ = ["Handler", "Handlers"]

Handler = Callable[[Call], Result]
"""Makes the tensors of a node.  Raises `Refusal`, or `GraphError` of the float graph."""


class Handlers(UserDict[str, Handler]):
    """The handlers of a family of operators, by their names."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: dict[str, str] = {}
        """The forms of an operator that its handler refuses, for the page that lists them."""

    def of(self, *operators: str, but: str = "") -> Callable[[Handler], Handler]:
        """Let a function handle these operators, `but` for some forms of theirs."""

        def register(handler: Handler) -> Handler:
            for operator in operators:
                assert operator not in self, operator
                self[operator] = handler
                if but:
                    self.limits[operator] = but
            return handler

        return register
