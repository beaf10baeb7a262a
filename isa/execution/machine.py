"""Executes operations on the memories of an accelerator, one at a time."""

from celosia.isa.config import AcceleratorConfig
from celosia.isa.execution.memories import LocalMemories
from celosia.isa.execution.products import execute_product
from celosia.isa.execution.transfers import DeviceMemory, Transfers
from celosia.isa.execution.transform import execute_transform
from celosia.isa.operations.operations import Load, LoadParameters, Operation, Product, Store
from celosia.isa.operations.transforms import Transform

__all__ = ["Machine"]


class Machine(LocalMemories):
    """An accelerator's memories, which begin as garbage made from `seed`, beside `memory`.

    The operations must be legal (`celosia.isa.operations.semantics`).  Rows of one operation that
    meet each other are written one after the other, in order: the last one stays, or all add up.
    """

    def __init__(self, config: AcceleratorConfig, memory: DeviceMemory, seed: int):
        super().__init__(config, seed=seed)
        self._transfers = Transfers(config, memory, self)

    def execute(self, operation: Operation) -> None:
        """Do `operation`, or let an exception of the memory pass and do nothing.

        Raises `LongScaleError` as `execute_transform` does.
        """
        match operation:
            case Load():
                self._transfers.load(operation)
            case LoadParameters():
                self._transfers.load_parameters(operation)
            case Store():
                self._transfers.store(operation)
            case Product():
                execute_product(operation, self)
            case Transform():
                execute_transform(operation, self)
