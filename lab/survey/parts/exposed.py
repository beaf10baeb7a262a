"""What each cycle of a run went to: products hide all other work, but not all of it."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import CONFIG_TRANSFORM, Command, Funct
from celosia.isa.functions.table import FUNCTIONS, Function
from celosia.sim.profile.executed import Executed
from celosia.sim.profile.log import NEVER

__all__ = ["KINDS", "MATMUL", "WAITING", "exposed_cycles"]

MATMUL: Final = "matmul and GELU"
WAITING: Final = "waiting"
_OF_FUNCTIONS: Final[Mapping[str, tuple[Function, ...]]] = {
    MATMUL: (
        Function.REQUANTIZE,
        *(function for function, entry in FUNCTIONS.items() if entry.curve is not None),
    ),
    "softmax": (
        Function.MAXIMUM,
        Function.EXPONENT,
        Function.DITHERED_EXPONENT,
        Function.SUM,
        Function.PROBABILITY,
        Function.CONTEXT,
    ),
    "layernorm": (Function.MOMENTS, Function.LAYERNORM),
    "residual": (Function.RESIDUAL,),
}
"""What the survey calls the work of a transform."""
KINDS: Final = (*_OF_FUNCTIONS, WAITING)


def exposed_cycles(run: Executed) -> dict[str, int]:
    """The cycles of a run by kind of work; they add up to all of them.

    A cycle in which the array is at a product is the product's, whatever else goes on.  Of the
    others, those in which the unit of vectors is at a transform are of the transform's kind; the
    rest waits for memory, or has not begun.
    """
    cycles, queues = run.log.cycles, run.log.queues
    kinds = _kinds(run.commands)
    free = np.ones(cycles, bool)
    products = queues["execute"]
    _mark(free, products.began, products.read, value=False)
    found = dict.fromkeys(KINDS, 0)
    found[MATMUL] = cycles - int(np.count_nonzero(free))
    transforms = queues.get("transform")
    if transforms is not None:
        for kind in _OF_FUNCTIONS:
            own = np.isin(transforms.command, [at for at, name in kinds.items() if name == kind])
            busy = np.zeros(cycles, bool)
            _mark(busy, transforms.started[own], transforms.done[own], value=True)
            found[kind] += int(np.count_nonzero(free & busy))
            free &= ~busy
    found[WAITING] = int(np.count_nonzero(free))
    return found


def _mark(
    cycles: NDArray[np.bool_], starts: NDArray[np.int64], ends: NDArray[np.int64], *, value: bool
) -> None:
    """Set the cycles behind each start up to its end: an event's own cycle is its last."""
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if NEVER not in (start, end):
            cycles[start + 1 : end + 1] = value


def _kinds(commands: Sequence[Command]) -> dict[int, str]:
    """The kind of each transform, by the index of its command."""
    of = {function: kind for kind, all_of in _OF_FUNCTIONS.items() for function in all_of}
    found: dict[int, str] = {}
    function = Function.REQUANTIZE
    for index, command in enumerate(commands):
        if command.funct == Funct.TRANSFORM:
            found[index] = of.get(function, WAITING)
        elif CONFIG_TRANSFORM.matches(command):
            function = Function(CONFIG_TRANSFORM.decode(command)["function"])
    return found
