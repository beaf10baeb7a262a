"""Whether a program stores to memory of its own only what nobody waits for any more."""

from collections.abc import Mapping, Sequence

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Tensor
from celosia.sw.ir.program import Op
from celosia.sw.scheduling.memory.order import before, loads_over, stored_and_loaded
from celosia.sw.scheduling.stored import Stored

__all__ = ["check_scratch"]


def check_scratch(
    ops: Sequence[Op], tensors: Mapping[str, Tensor], config: AcceleratorConfig
) -> None:
    """Check that loads of scratch tensors are over when a store of what is there begins.

    Raises `ValueError` that names the store, for one that may overtake such a load.
    """
    scratch = {name for name, tensor in tensors.items() if tensor.scratch}
    if not scratch:
        return
    over, loaded = loads_over(ops, before(ops, config)), Stored()
    for access in stored_and_loaded(ops):
        view, number = access.view, access.number
        if view.tensor not in scratch:
            continue
        if not access.stores:
            loaded.add(view, number)
        elif any(load > over[number - 1] for load in loaded.numbers(view)):
            place = f"op {access.index}: {ops[access.index]}"
            raise ValueError(f"{place}: overwrites {view}, which may not be loaded yet")
