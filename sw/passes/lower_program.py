"""A program to commands.

Assumes operations whose rows exist and addresses of all tensors that are in memory.  Guarantees
commands that do just that: configuration is written where it changes, and a load waits for the
stores that it names.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from celosia.isa import encoding
from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command, Instruction
from celosia.sw.ir.graph import Tensor, View
from celosia.sw.ir.program import (
    Load,
    LoadParameters,
    LocalRows,
    Op,
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.passes.encode_products import encode_nest, encode_product, knows_nests

__all__ = ["Lowering"]

_RELU: Final = 1
"""The value of CONFIG_ST's activation that stands for ReLU."""
_LOADS: Final = (encoding.MVIN, encoding.MVIN2, encoding.MVIN3)


@dataclass(kw_only=True)
class Lowering:
    """The configuration that the commands so far leave behind."""

    config: AcceleratorConfig
    tensors: Mapping[str, Tensor]
    addresses: Mapping[str, int]
    loops: bool = False
    """A nest of products is one command, if the accelerator has one for it."""
    tokens: bool = True
    """Loads wait for stores, and the program for what has been issued before it."""
    state: dict[Instruction, Command] = field(default_factory=dict, init=False)
    written: dict[Instruction, dict[str, int]] = field(default_factory=dict, init=False)
    """The values that were given for what is in `state`."""
    load_sets: dict[tuple[int, int], int] = field(default_factory=dict, init=False)
    """Stride and pitch of each set of CONFIG_LD; those used last are at the end."""
    awaited: int = field(default=0, init=False)
    """Stores that loads wait for."""

    def program(self, ops: Sequence[Op]) -> Iterator[tuple[Command, ...]]:
        """The commands that a program begins with, then those of each of `ops`, in order."""
        yield tuple(self._begin(ops))
        for op in ops:
            yield tuple(self._commands(op))

    def _begin(self, ops: Sequence[Op]) -> Iterator[Command]:
        """All counters of tokens are 0, and every store adds to one of them.

        Stores are configured as the first one needs it, so that it looks like those behind it.
        """
        if self.tokens:
            yield encoding.FENCE.encode()
            yield from self._configure(encoding.CONFIG_TOKEN, signal=1)
        for store in islice((op for op in ops if isinstance(op, Store)), 1):
            yield from self._configure_store(store)

    def _commands(self, op: Op) -> Iterator[Command]:
        match op:
            case Load():
                yield from self._load(op)
            case LoadParameters():
                yield encoding.MVIN_PARAM.encode(
                    dram=self._address(op.view), row=op.to.row, count=op.view.cols
                )
            case Products():
                yield from self._products(op)
            case Transform():
                yield from self._transform(op)
            case Store():
                yield from self._store(op)

    def _configure(self, instruction: Instruction, **values: int) -> Iterator[Command]:
        """A command of `instruction`, unless that is how things are."""
        if self.written.get(instruction) == values:
            return
        self.written[instruction] = values
        command = instruction.encode(**values)
        if self.state.get(instruction) != command:
            self.state[instruction] = command
            yield command

    def _load(self, op: Load) -> Iterator[Command]:
        if op.after > self.awaited:
            self.awaited = op.after
            yield from self._configure(encoding.CONFIG_TOKEN, signal=1, wait=1, count=op.after)
        key = self.tensors[op.view.tensor].row_bytes, op.to.pitch
        number = self.load_sets.pop(key, None)
        if number is None:
            full = len(self.load_sets) == len(_LOADS)
            number = self.load_sets.pop(next(iter(self.load_sets))) if full else len(self.load_sets)
            yield encoding.CONFIG_LD.encode(set=number, stride=key[0], block_stride=key[1])
        self.load_sets[key] = number
        yield _LOADS[number].encode(
            dram=self._address(op.view),
            local=_local(op.to),
            local_cols=self._elements(op.view, op.to),
            local_rows=op.to.rows,
        )

    def _products(self, op: Products) -> Iterator[Command]:
        """One command, where there is one for as many rows."""
        yield from self._configure(
            encoding.CONFIG_EX,
            a_unsigned=op.a_unsigned,
            b_transpose=op.w_transposed,
            b_type=op.w_type,
        )
        if not (self.loops and knows_nests(self.config)):
            for each in op.each(self.config.dim):
                yield from encode_product(each)
            return
        configuration, command = encode_nest(op)
        if self.state.get(encoding.CONFIG_PRODUCTS) != configuration:
            self.state[encoding.CONFIG_PRODUCTS] = configuration
            yield configuration
        yield command

    def _transform(self, op: Transform) -> Iterator[Command]:
        # Each time, so that all that repeat look alike.
        yield encoding.CONFIG_TRANSFORM.encode(function=op.function, **op.settings)
        first, second, *_ = *op.targets, None, None
        rows = {"source_stride": op.source.pitch, **op.parameters}
        if first is not None:
            rows["target_stride"] = first.pitch
        if op.residual is not None:
            rows |= {"residual": op.residual.row, "residual_stride": op.residual.pitch}
        yield from self._configure(encoding.CONFIG_ROWS, **rows)
        if op.norm is not None:
            pitch = {} if second is None else {"target2_stride": second.pitch}
            yield from self._configure(encoding.CONFIG_NORM, **op.norm, **pitch)
        if op.mask is not None:
            yield from self._configure(encoding.CONFIG_MASK, **op.mask)
        yield encoding.TRANSFORM.encode(
            target=first.row if first else 0,
            target2=second.row if second else 0,
            local=_local(op.source),
            local_cols=op.cols,
            local_rows=op.source.rows,
        )

    def _configure_store(self, op: Store) -> Iterator[Command]:
        drain, tensor = op.drain, self.tensors[op.view.tensor]
        bias, row = {}, {"stride": tensor.row_bytes}
        if drain.bias_row is not None:
            bias = {"bias": 1, "bias_row": drain.bias_row}
        if drain.scale is not None and tensor.element_bytes > 1:
            bias["int16"] = 1
        if drain.scale is not None:
            row |= {"scale": encoding.float_bits(drain.scale), "activation": _RELU * drain.relu}
        yield from self._configure(encoding.CONFIG_DRAIN, block_stride=op.source.pitch, **bias)
        yield from self._configure(encoding.CONFIG_ST, **row)

    def _store(self, op: Store) -> Iterator[Command]:
        yield from self._configure_store(op)
        yield encoding.MVOUT.encode(
            dram=self._address(op.view),
            local=_local(op.source, full=op.drain.scale is None),
            local_cols=self._elements(op.view, op.source),
            local_rows=op.source.rows,
        )

    # Tensors in memory.

    def _address(self, view: View) -> int:
        return self.addresses[view.tensor] + self.tensors[view.tensor].offset(view)

    def _elements(self, view: View, rows: LocalRows) -> int:
        """Columns as the local memory counts them: bytes, or int32."""
        scratchpad = rows.space is Space.SCRATCHPAD
        return view.cols * (self.tensors[view.tensor].element_bytes if scratchpad else 1)


def _local(rows: LocalRows, *, full: bool = False) -> int:
    accumulator = rows.space is Space.ACCUMULATOR
    return LocalAddress(row=rows.row, accumulator=accumulator, full=full and accumulator).encode()
