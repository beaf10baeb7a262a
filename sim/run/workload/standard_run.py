"""The program whose run is the profile that simulators are compiled with: a process of its own.

``python -m celosia.sim.run.workload.standard_run LIBRARY KEY=VALUE...`` runs a layer of an encoder
on the simulator `LIBRARY`, of the configuration that the values make of `base`; where the layer
does not compile, as without lanes, a product.  The layer wakes all units, and keeps the array as
busy as larger ones do.
"""

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.run.graph_run import needed_memory
from celosia.sim.run.measure import measure_product
from celosia.sim.workloads.details import Matmul
from celosia.sim.workloads.product_workloads import device_bytes, matmul
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.models.cases import encoder_layer_case, random_quantized_encoder
from celosia.sw.reference.encoder import EncoderShape

__all__ = ["standard_run"]

_TIMING: Final = MemoryTiming()
_HEADS: Final = 4
_TILES: Final = 16
"""The width of the layer, in sides of the array."""
_BLOCKS: Final = 4
"""Its rows in sides of the array, and its hidden width in widths."""


def standard_run(config: AcceleratorConfig, library: Path) -> int:
    """Run the program on `library`, which simulates `config`; the cycles that it takes."""
    rows, width = _BLOCKS * config.dim, _TILES * config.dim
    shape = EncoderShape(layers=2, width=width, heads=_HEADS, hidden=_BLOCKS * width)
    case = encoder_layer_case(random_quantized_encoder(shape, 0), [rows], 0)

    def opened(size: int) -> VerilatorDevice:
        return VerilatorDevice(config, _TIMING, size, library=library)

    try:
        compiled = compile_graph(case.graph, config, timing=_TIMING)
    except ValueError:
        (product,) = matmul(Matmul(shape=f"{width}x{width}x{width}"), 0)
        with closing(opened(device_bytes([product]))) as device:
            return measure_product(device, product, _TIMING)[0].cycles or 0
    with closing(opened(needed_memory(compiled))) as device:
        run = GraphRun(device, compiled)
        run.load(case.inputs)
        return run.run().cycles or 0


def _main(arguments: Sequence[str]) -> int:
    library, *values = arguments
    standard_run(resolve_config("base", values), Path(library))
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
