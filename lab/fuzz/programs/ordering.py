"""Which stores of a program must have ended before a later command, and how that is made sure."""

from dataclasses import dataclass, field

from celosia.isa.encoding.tokens import TOKENS, TokenWait
from celosia.isa.operations.operations import Load, LoadParameters, Operation, Store

__all__ = ["Ordering"]


@dataclass
class Ordering:
    """Accesses to memory since the last FENCE, and the stores that loads have waited for.

    Stores end in program order, and loads start in program order: when a load has waited for a
    store, all later loads come after that store and those before it.
    """

    reads: list[tuple[int, int]] = field(default_factory=list)
    """First and last byte of each read."""
    writes: list[tuple[int, int]] = field(default_factory=list)
    signals: list[list[int]] = field(default_factory=lambda: [[] for _ in range(TOKENS)])
    """Indices of the `writes` that add to each token, by the token's number."""
    ended: int = 0
    """How many of `writes`, from the first on, end before later loads start."""

    def fence(self) -> None:
        """Forget all: everything has ended."""
        vars(self).update(vars(Ordering()))

    def count(self, token: int) -> int:
        """Stores that add to `token`."""
        return len(self.signals[token])

    def reached(self, wait: TokenWait | None) -> bool:
        """Whether a load that waits so will ever start."""
        return wait is None or wait.count <= self.count(wait.token)

    def needs_fence(self, operation: Operation, first: int, last: int) -> bool:
        """Whether an access from `first` to `last` must come after what is under way."""
        under_way = self.writes[self._waited(operation) :]
        if isinstance(operation, Store):
            under_way = self.reads
        return any(first <= end and start <= last for start, end in under_way)

    def wait_for(self, operation: Operation, first: int, last: int) -> TokenWait | None:
        """What lets a load from `first` to `last` come after the stores there, if anything can."""
        if isinstance(operation, Store):
            return None
        met = (n for n, (start, end) in enumerate(self.writes) if first <= end and start <= last)
        youngest = max(met, default=0)
        waits = [
            (store, TokenWait(token, before + 1))
            for token, stores in enumerate(self.signals)
            for before, store in enumerate(stores)
            if store >= youngest
        ]
        return min(waits, key=lambda wait: wait[0])[1] if waits else None

    def add(self, operation: Operation, span: tuple[int, int] | None) -> None:
        """Append `operation`, which touches the bytes of `span`."""
        if isinstance(operation, Store):
            assert span is not None
            if operation.signal is not None:
                self.signals[operation.signal].append(len(self.writes))
            self.writes.append(span)
        else:
            self.ended = self._waited(operation)
            self.reads += [span] if span else []

    def _waited(self, operation: Operation) -> int:
        """`ended` when `operation` starts."""
        wait = operation.wait if isinstance(operation, Load | LoadParameters) else None
        if wait is None or not wait.count:
            return self.ended
        return max(self.ended, self.signals[wait.token][wait.count - 1] + 1)
