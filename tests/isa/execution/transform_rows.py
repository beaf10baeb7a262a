"""TRANSFORMs of whole matrices on the functional model."""

from pathlib import Path
from typing import Any

import numpy as np

from celosia.isa.encoding import Function
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from tests.support.transforms import (
    accumulator_row,
    blocks_of,
    put_blocks,
    scratchpad_row,
    transform,
)

__all__ = ["CONFIG", "STAGED", "TARGET", "TARGET2", "Rows", "new_device", "vectors"]

VECTORS = Path(__file__).parents[2] / "vectors"
CONFIG = PRESETS["base"].with_values({
    "normalization": True,
    "accumulator_kib": 256,
    "parameter_rows": 1024,
})
SOURCE, TARGET, TARGET2, STAGED = 64, 300, 8000, 12000


def vectors(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a file of vectors, by name."""
    with np.load(VECTORS / f"{name}.npz") as arrays:
        return dict(arrays)


def new_device() -> FunctionalDevice:
    """The functional model of an accelerator with room for whole rows."""
    return FunctionalDevice(CONFIG, memory_bytes=1 << 16)


class Rows:
    """A matrix of int32 in the accumulator, and what TRANSFORMs of it write."""

    def __init__(self, device: FunctionalDevice, x: np.ndarray[Any, Any]):
        self.device, self.x = device, x
        put_blocks(device.machine.accumulator, SOURCE, len(x), x.astype(np.int32))

    def run(self, function: Function, *, first: int = 0, last: int | None = None, **settings: Any):
        """Transform columns `first` to `last`, a multiple of dim."""
        columns = (self.x.shape[1] if last is None else last) - first
        strides = {"source_stride": len(self.x), "target_stride": len(self.x)}
        self.device.run(
            transform(
                function,
                shape=(len(self.x), columns),
                source=accumulator_row(SOURCE + first // CONFIG.dim * len(self.x)),
                target=scratchpad_row(TARGET),
                rows=strides | settings.pop("rows", {}),
                **settings,
            )
        )

    def result(self, kind: Any, columns: int | None = None) -> np.ndarray[Any, Any]:
        """What stands at the target: as many columns as the matrix has, or some of them."""
        shape = (len(self.x), columns or self.x.shape[1])
        return blocks_of(self.device.machine.scratchpad, TARGET, len(self.x), shape, kind)
