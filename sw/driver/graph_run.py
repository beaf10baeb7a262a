"""A compiled graph on a device: its tensors in memory, its run, and what it leaves behind.

compiled = compile_graph(graph, device.config)
run = GraphRun(device, compiled)
run.load({"embedding": embedding})
result = run.run()
output = run.read("output")
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from celosia.isa.memory import MEMORY_BASE
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.driver.buffers import POISON
from celosia.sw.driver.device import Device, Issue, RunResult
from celosia.sw.ir.graph_interpret import Array, checked_inputs
from celosia.sw.ir.packing import packed

__all__ = ["GraphRun"]


class GraphRun:
    """`compiled` on `device`.  Raises `ValueError` if its tensors do not fit into the memory."""

    def __init__(self, device: Device, compiled: CompiledGraph):
        if compiled.end > MEMORY_BASE + device.memory_bytes:
            needed = compiled.end - MEMORY_BASE
            raise ValueError(
                f"graph {compiled.graph.name}: its tensors are {needed:,} bytes, more than the "
                f"{device.memory_bytes:,} of the device's memory"
            )
        self.device = device
        self.compiled = compiled

    @property
    def written(self) -> Iterator[str]:
        """The tensors that operators write to memory, caches among them.

        Those whose bytes belong to others when the program ends are left out, and those that the
        program alone knows.
        """
        memory = self.compiled.memory
        gone = frozenset[str]() if memory is None else memory.gone
        scratch = {name for name, tensor in self.compiled.graph.tensors.items() if tensor.scratch}
        return (name for name in self._computed if name not in gone | scratch)

    @property
    def _computed(self) -> Iterator[str]:
        graph = self.compiled.graph
        for name in self.compiled.addresses:
            given = name in graph.constants or name in graph.inputs
            if not given or graph.tensors[name].cache:
                yield name

    def load(self, inputs: Mapping[str, Array]) -> None:
        """Copy constants and inputs into device memory, and poison everything else.

        Raises `ValueError` for an input that is missing, or of another type or shape.
        """
        values = checked_inputs(self.compiled.graph, inputs)
        self._poison(name for name in self._computed if name not in values)
        self.load_constants()
        self._write(values)

    def load_constants(self) -> None:
        """Copy the constants into device memory."""
        self._write(self.compiled.graph.constants)

    def load_step(self, inputs: Mapping[str, Array]) -> None:
        """Copy inputs that are not caches into device memory; poison what is neither.

        Constants and caches stay as they are.  Raises as `load` does.
        """
        graph = self.compiled.graph
        values = checked_inputs(graph, inputs, caches=False)
        self._poison(name for name in self._computed if not graph.tensors[name].cache)
        self._write(values)

    def _write(self, values: Mapping[str, Array]) -> None:
        for name, value in values.items():
            packing = self.compiled.graph.tensors[name].packing
            dense = packed(value, packing, self.compiled.config.dim)
            little_endian = dense.astype(dense.dtype.newbyteorder("<"), copy=False)
            data = np.ascontiguousarray(little_endian).tobytes()
            self.device.write(self.compiled.addresses[name], data)

    def _poison(self, names: Iterable[str]) -> None:
        for name in names:
            size = self.compiled.graph.tensors[name].bytes
            self.device.write(self.compiled.addresses[name], bytes([POISON]) * size)

    def run(self, issue: Issue = "stream") -> RunResult:
        """Run the program.  Raises `DeviceError` when the accelerator stops."""
        return self.device.run(self.compiled.program, issue)

    def read(self, name: str) -> Array:
        """A tensor as it stands in device memory.  Raises `ValueError` if it never is there."""
        if name not in self.compiled.addresses:
            raise ValueError(f"tensor {name} is never in memory")
        tensor = self.compiled.graph.tensors[name]
        data = self.device.read(self.compiled.addresses[name], tensor.bytes)
        kind = np.dtype(tensor.type)
        return np.frombuffer(data, kind.newbyteorder("<")).astype(kind).reshape(tensor.shape)
