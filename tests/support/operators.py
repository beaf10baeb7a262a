"""Single operators on a device, through command words: arrays in, arrays out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import ElementType, Function, float_bits
from celosia.isa.memory import MEMORY_BASE
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.device import Device
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir import graph as ir
from celosia.sw.ir.program import Load, LocalRows, Op, Space, Store, Transform
from celosia.sw.passes.lower_program import Lowering
from celosia.sw.passes.place_tensors import place_tensors
from celosia.sw.scheduling.drains import mask_settings

__all__ = ["Blocks", "Operators"]

Array = NDArray[Any]

Blocks = Sequence[tuple[int, ir.Mask]]
"""Numbers of rows that follow each other, each with their mask."""


@dataclass
class _Graph:
    """A graph of operators; unlike a builder's, of any scale, and what is not finite is one."""

    arrays: dict[str, Array] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)
    tensors: dict[str, ir.Tensor] = field(default_factory=dict)
    ops: list[ir.Op] = field(default_factory=list)
    written_over: dict[str, Array] = field(default_factory=dict)
    """What stands in memory in place of constants: numbers that a graph must not have."""

    def input(self, name: str, value: Array) -> ir.View:
        self.arrays[name] = value
        return self.result(name, str(value.dtype), value.shape)

    def constant(self, name: str, value: Array) -> ir.View:
        self.constants[name] = value.reshape(1, -1)
        return self.result(name, str(value.dtype), (1, value.size))

    def result(self, name: str, kind: str, shape: tuple[int, ...]) -> ir.View:
        tensor = ir.Tensor(name, kind, shape[0], shape[1])
        self.tensors[name] = tensor
        return tensor.view()

    def run(self, device: Device, *names: str) -> list[Array]:
        """These tensors after a run."""
        whole = ir.Graph(
            name="operator",
            tensors=self.tensors,
            inputs=tuple(self.arrays),
            outputs=names,
            ops=tuple(self.ops),
            constants=self.constants,
        )
        run = GraphRun(device, compile_graph(whole, device.config))
        run.load(self.arrays)
        for name, value in self.written_over.items():
            device.write(run.compiled.addresses[name], value.tobytes())
        run.run()
        return [run.read(name) for name in names]


class Operators:
    """Operators on `device`."""

    def __init__(self, device: Device):
        self.device = device

    def finish(
        self,
        source: Array,
        how: ir.Finish,
        kind: str,
        *,
        scales: Array | None = None,
        stream: Array | None = None,
    ) -> Array:
        """int32, finished; with `scales` per column, and a `stream` for residuals."""
        graph = _Graph()
        view = graph.input("source", source.astype(np.int32))
        changes: dict[str, Any] = {}
        if scales is not None:
            changes["scale"] = graph.constant("scales", np.ones(scales.size, np.float32))
            graph.written_over["scales"] = scales.astype(np.float32)
        if stream is not None:
            changes["residual"] = graph.input("stream", stream.astype(np.int16))
        how = type(how)(**{name: getattr(how, name) for name in how.__slots__} | changes)
        out = graph.result("out", kind, source.shape)
        graph.ops.append(ir.Transform(name="finish", out=out, source=view, finish=how))
        return graph.run(self.device, "out")[0]

    def softmax(self, scores: Array, scale: float, kind: str, blocks: Blocks) -> Array:
        """Normalized softmax of blocks of rows."""
        graph = _Graph()
        source = graph.input("source", scores.astype(np.int32))
        out = graph.result("out", kind, scores.shape)
        for row, rows, mask in _rows(blocks):
            views = (view.part(row=row, rows=rows) for view in (out, source))
            name, how = f"softmax{row}", ir.Softmax(scale, mask)
            one, other = views
            graph.ops.append(ir.Transform(name=name, out=one, source=other, finish=how))
        return graph.run(self.device, "out")[0]

    def layernorm(self, source: Array, *outputs: tuple[Array, Array, int, str]) -> list[Array]:
        """With gamma, beta, shift and type of each output."""
        graph = _Graph()
        view, results = graph.input("source", source.astype(np.int16)), []
        for number, (gamma, beta, shift, kind) in enumerate(outputs):
            out = graph.result(f"out{number}", kind, source.shape)
            gammas = graph.constant(f"gamma{number}", gamma.astype(np.int16))
            betas = graph.constant(f"beta{number}", beta.astype(np.int32))
            results.append(ir.Normalized(out, gammas, betas, shift))
        graph.ops.append(ir.LayerNorm(name="layernorm", source=view, outputs=tuple(results)))
        return graph.run(self.device, *(result.out.tensor for result in results))

    def deferred(
        self, scores: Array, products: Array, scale: float, context_scale: float, blocks: Blocks
    ) -> tuple[Array, Array]:
        """Numerators of blocks of rows of `scores`, and `products` over their sums, int16."""
        program = _Deferred(self.device, scores.shape[1], products.shape[1])
        for row, rows, mask in _rows(blocks):
            program.block(row, rows, mask, scale, context_scale)
        values = {"scores": scores.astype(np.int32), "products": products.astype(np.int32)}
        return program.run(values)


class _Deferred:
    """Numerators and contexts as a program: a graph keeps them on the chip."""

    def __init__(self, device: Device, keys: int, width: int):
        self.device = device
        self.config = device.config
        self.keys = keys
        self.width = width
        self.ops: list[Op] = []

    def block(self, row: int, rows: int, mask: ir.Mask, scale: float, context_scale: float) -> None:
        """Some rows: scores first, then the contexts, in the same rows of the accumulator."""
        settings = {"scale": float_bits(scale), "start": 1}
        masked = mask_settings(mask, 0, 0)
        scores = self._load("scores", row, rows, self.keys)
        numerators = self._rows(Space.SCRATCHPAD, rows, self.keys)
        self.ops += [
            Transform(Function.MAXIMUM, scores, self.keys, settings=settings, mask=masked),
            Transform(
                Function.EXPONENT,
                scores,
                self.keys,
                (numerators,),
                settings=settings | {"type": ElementType.UINT8, "finish": 1},
                mask=masked,
            ),
        ]
        self._store("numerators", row, numerators, self.keys, 1)
        products = self._load("products", row, rows, self.width)
        contexts = self._rows(Space.SCRATCHPAD, rows, self.width, 2)
        settings = {"scale": float_bits(context_scale), "type": ElementType.INT16}
        how = Transform(Function.CONTEXT, products, self.width, (contexts,), settings=settings)
        self.ops.append(how)
        self._store("contexts", row, contexts, self.width, 2)

    def run(self, values: dict[str, Array]) -> tuple[Array, Array]:
        height = len(values["scores"])
        tensors = {
            "scores": ir.Tensor("scores", "int32", height, self.keys),
            "products": ir.Tensor("products", "int32", height, self.width),
            "numerators": ir.Tensor("numerators", "uint8", height, self.keys),
            "contexts": ir.Tensor("contexts", "int16", height, self.width),
        }
        addresses, _ = place_tensors(tensors.values(), MEMORY_BASE)
        for name, value in values.items():
            self.device.write(addresses[name], value.tobytes())
        lowered = Lowering(config=self.config, tensors=tensors, addresses=addresses).program(
            self.ops
        )
        self.device.run([command for commands in lowered for command in commands])
        numerators, contexts = (
            np.frombuffer(
                self.device.read(addresses[name], tensors[name].bytes), tensors[name].type
            ).reshape(tensors[name].shape)
            for name in ("numerators", "contexts")
        )
        return numerators, contexts

    def _rows(self, space: Space, rows: int, cols: int, size: int = 1) -> LocalRows:
        return LocalRows(space, 0, rows, -(-cols * size // self.config.dim), rows)

    def _load(self, name: str, row: int, rows: int, cols: int) -> LocalRows:
        """As many blocks at once as a command can."""
        to, dim = self._rows(Space.ACCUMULATOR, rows, cols), self.config.dim
        most = self.config.max_accumulator_blocks
        for block in range(0, to.blocks, most):
            count = min(most, to.blocks - block)
            width = min(count * dim, cols - block * dim)
            view = ir.View(name, row, block * dim, rows, width)
            self.ops.append(Load(view, to.block(block, count)))
        return to

    def _store(self, name: str, row: int, source: LocalRows, cols: int, size: int) -> None:
        dim, most = self.config.dim // size, self.config.max_blocks
        for block in range(0, source.blocks, most):
            count = min(most, source.blocks - block)
            width = min(count * dim, cols - block * dim)
            view = ir.View(name, row, block * dim, source.rows, width)
            self.ops.append(Store(view, source.block(block, count)))


def _rows(blocks: Blocks) -> Sequence[tuple[int, int, ir.Mask]]:
    """First row, number of rows and mask of each block."""
    starts = np.cumsum([0] + [rows for rows, _ in blocks])
    return [(int(start), *block) for start, block in zip(starts, blocks, strict=False)]
