"""What compares the steps of a session with the integer graph: all that they leave in memory.

So the caches' guard rows are, too, which nobody may write.
"""

import numpy as np

from celosia.sw.decoding.steps import SegmentRun, blank_cache
from celosia.sw.ir.graph_interpret import Array, interpret

__all__ = ["Comparison", "DifferenceError"]


class DifferenceError(RuntimeError):
    """A device left something else in memory than the integer graph."""


class Comparison:
    """Follows all steps of one session, from the first on, by the integer graph.

    Every tensor in memory is compared; with `outputs`, only what the host reads.
    """

    def __init__(self, *, outputs: bool = False):
        self.outputs = outputs
        self.elements = 0
        """Elements that were compared so far."""
        self._caches: dict[str, Array] = {}
        """What caches hold, by the input that they are."""

    def __call__(self, ran: SegmentRun) -> None:
        """Compare a segment.  Raises `DifferenceError` that names the tensor."""
        caches, held = ran.segment.caches, self._caches
        for name, source in caches.items():
            if source not in held:
                held[source] = blank_cache(ran.run.compiled, name)
        for name, first, rows in ran.rows:
            held[caches[name]][first : first + len(rows)] = rows
        given = {**ran.inputs, **{name: held[source] for name, source in caches.items()}}
        expected = interpret(ran.bucket.graph(ran.places), given)
        held |= {source: expected[name] for name, source in caches.items()}
        for name in ran.segment.outputs if self.outputs else ran.run.written:
            found = ran.run.read(name)
            if differing := int(np.count_nonzero(found != expected[name])):
                behind = ", ".join(str(place.context) for place in ran.places)
                raise DifferenceError(
                    f"{caches.get(name, name)}: {differing:,} of {found.size:,} elements in memory "
                    f"are not those of the integer graph, behind {behind} tokens"
                )
            self.elements += found.size
