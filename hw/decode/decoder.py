"""The decoder: it turns commands into operations and checks the rules of the contract."""

from typing import Annotated

from amaranth import Module, Mux, Signal, unsigned
from amaranth.hdl import Value
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.commands import A_HULL, COMPUTES, decode_execute, decode_load, decode_store
from celosia.hw.decode.configuration import Configuration
from celosia.hw.decode.hulls import Hull
from celosia.hw.decode.ops import TAG_BITS, ExecuteOp, LoadOp, Space, StoreOp
from celosia.hw.decode.ranges import RowRange, overlap, space_base, space_rows
from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.decode.transforms import (
    TRANSFORM_HULLS,
    TRANSFORM_WRITES,
    decode_transform,
    find_halves,
    transform_rules,
)
from celosia.hw.gemmini.decode import replaces_operand
from celosia.hw.lib.fields import field_signals, joined, leaves
from celosia.hw.lib.layouts import COMMAND
from celosia.hw.lib.sleep import Sleeping
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct
from celosia.isa.operations.semantics import LOOP_FUNCTS
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.queues import queue_names

__all__ = ["OPERATIONS", "PRODUCT_HULLS", "Decoded", "Decoder", "Kind", "hull_count"]

OPERATIONS = {
    "load": LoadOp,
    "execute": ExecuteOp,
    "store": StoreOp,
    "transform": TransformOp,
}
"""The layout of the operations of each queue."""

PRODUCT_HULLS = 4
"""Ranges of rows that a product names."""


class Kind(enum.Enum, shape=3):
    """What becomes of a decoded command: an operation of the queue of this name, or none."""

    LOAD = 0
    EXECUTE = 1
    STORE = 2
    FENCE = 3
    ERROR = 4
    TRANSFORM = 5


def hull_count(config: AcceleratorConfig) -> int:
    """Ranges of rows that one operation may name.  The first one is written, except by a store."""
    return TRANSFORM_HULLS if config.normalization else PRODUCT_HULLS


class Decoded(data.StructLayout):
    """An operation and the rows that it names."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "kind": Kind,
            "cause": Cause,
            "tag": unsigned(TAG_BITS),
            "ranges": data.ArrayLayout(RowRange(config), hull_count(config)),
            **{name: OPERATIONS[name](config) for name in queue_names(config)},
        })


class Decoder(Sleeping):
    """Resolves configuration and checks the rules, in program order.

    Three stages, each elastic: take a command; resolve it (configuration ends here); check that its
    rows exist.  An operation is on offer three cycles after its command was accepted.  Sustains a
    command per cycle while the output is taken.  Commands with nothing to do leave nothing.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies every size.

    Members
    -------
    commands : ``In(stream.Signature(COMMAND))``
        The program.
    halt : ``In(1)``
        Accept no command.
    o : ``Out(stream.Signature(Decoded(config)))``
        Operations, fences and broken rules, in order.
    empty : ``Out(1)``
        No command is held.
    accepted : ``Out(1)``
        A command is accepted in this cycle.
    number : ``Out(unsigned(TAG_BITS))``
        Number of the next command, from 0 since reset.
    ended : ``Out(1)``
        A command with nothing to do has come to its end.
    """

    commands: Annotated[stream.Interface, In(stream.Signature(COMMAND))]
    halt: Annotated[Signal, In(1)]
    o: stream.Interface
    empty: Annotated[Signal, Out(1)]
    accepted: Annotated[Signal, Out(1)]
    number: Annotated[Signal, Out(unsigned(TAG_BITS))]
    ended: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({"o": Out(stream.Signature(Decoded(config)))})

    def build(self, m: Module, outer: Module) -> Value:
        s1_valid, s1_moves = (Signal(name=f"s1_{name}") for name in ("valid", "moves"))
        s2_valid, s2_moves = (Signal(name=f"s2_{name}") for name in ("valid", "moves"))
        s1_left = Signal()  # In the cycle before.
        outer.d.comb += [
            s2_moves.eq(~self.o.valid | self.o.ready),
            s1_moves.eq(~s2_valid | s2_moves),
            self.commands.ready.eq((~s1_valid | s1_moves) & ~self.halt),
            self.accepted.eq(self.commands.valid & self.commands.ready),
            self.empty.eq(~s1_valid & ~s2_valid & ~self.o.valid),
            self.ended.eq(s1_left & ~s2_valid),
        ]

        # Stage 1: the command and its number.
        s1_command = Signal(COMMAND, reset_less=True)
        s1_tag = Signal(TAG_BITS, reset_less=True)
        with m.If(~s1_valid | s1_moves):
            m.d.sync += s1_valid.eq(self.accepted)
        with m.If(self.accepted):
            m.d.sync += [s1_command.eq(self.commands.p), s1_tag.eq(self.number)]
            m.d.sync += self.number.eq(self.number + 1)

        # Stage 2: the operation, and its rows as first row and extent.
        m.submodules.configuration = configuration = Configuration(self.config)
        m.d.comb += [
            configuration.command.eq(s1_command),
            configuration.apply.eq(s1_valid & s1_moves),
        ]
        s2 = field_signals(Decoded(self.config), "s2")
        s2_hulls = [Hull(f"s2_hull_{index}") for index in range(hull_count(self.config))]
        s2_late = Signal(Cause, reset_less=True)  # A rule that comes after those on rows.
        m.d.sync += s1_left.eq(s1_valid & s1_moves)
        self._rules = None
        if self.config.normalization:  # Outside of conditions, which would delay them.
            self._rules = transform_rules(m, configuration.transform, s1_command)
        with m.If(s1_moves):
            m.d.sync += s2_valid.eq(0)
        with m.If(s1_moves & s1_valid):
            m.d.sync += [s2.cause.eq(Cause.NONE), s2_late.eq(Cause.NONE), s2.tag.eq(s1_tag)]
            m.d.sync += [hull.valid.eq(0) for hull in s2_hulls]
            self._resolve(m, s1_command, configuration, s2, s2_valid, s2_hulls, s2_late)
            m.d.sync += [getattr(s2, name).tag.eq(s1_tag) for name in queue_names(self.config)]
        for hull in s2_hulls:
            hull.reach(m)
            with m.If(s1_moves & s1_valid):
                hull.keep(m)

        # Stage 3: rows that exist.
        with m.If(s2_moves):
            m.d.sync += self.o.valid.eq(s2_valid)
        s3 = field_signals(Decoded(self.config), "s3")
        m.d.comb += self.o.payload.as_value().eq(joined(s3))
        with m.If(s2_moves & s2_valid):
            m.d.sync += [new.eq(old) for new, old in zip(leaves(s3), leaves(s2), strict=True)]
            if self.config.normalization:
                find_halves(m, s2.transform, s2_hulls, s3.transform)
            self._check(m, s2, s2_hulls, s2_late, s3)

        moves = (s1_valid & s1_moves) | (s2_valid & s2_moves) | (self.o.valid & self.o.ready)
        return self.accepted | moves | s1_left

    def _resolve(self, m, command, configuration, s2, s2_valid, hulls, late) -> None:
        """Fill stage 2 from stage 1."""

        def broken(cause: Cause | Value) -> list:
            return [s2_valid.eq(1), s2.kind.eq(Kind.ERROR), s2.cause.eq(cause)]

        state = configuration.state
        with m.If(configuration.mine), m.If(configuration.cause != Cause.NONE):
            m.d.sync += broken(configuration.cause)
        with m.Else(), m.Switch(command.funct):
            loads = [Funct.MVIN, Funct.MVIN2, Funct.MVIN3, Funct.MVIN_PARAM]
            for funct in loads:
                with m.Case(funct):
                    m.d.sync += s2.kind.eq(Kind.LOAD)
                    wanted, cause = decode_load(
                        m, self.config, funct, command, state, s2.load, hulls
                    )
                    m.d.sync += [s2_valid.eq(wanted), s2.cause.eq(cause)]
            with m.Case(Funct.MVOUT):
                m.d.sync += s2.kind.eq(Kind.STORE)
                wanted, cause, norm = decode_store(m, self.config, command, state, s2.store, hulls)
                m.d.sync += [s2_valid.eq(wanted), s2.cause.eq(cause), late.eq(norm)]
            with m.Case(*COMPUTES):
                m.d.sync += [s2_valid.eq(1), s2.kind.eq(Kind.EXECUTE)]
                cause = decode_execute(m, self.config, command, state, s2.execute, hulls)
                m.d.sync += s2.cause.eq(cause)
            if self.config.normalization:
                with m.Case(Funct.TRANSFORM):
                    assert self._rules is not None
                    m.d.sync += s2.kind.eq(Kind.TRANSFORM)
                    wanted, cause = decode_transform(
                        m,
                        self.config,
                        command,
                        configuration.transform,
                        self._rules,
                        s2.transform,
                        hulls,
                    )
                    m.d.sync += [s2_valid.eq(wanted), s2.cause.eq(cause)]
            with m.Case(Funct.FENCE):
                m.d.sync += [s2_valid.eq(1), s2.kind.eq(Kind.FENCE)]
            with m.Case(Funct.FLUSH):
                pass
            if self.config.loop_entries:
                with m.Case(*LOOP_FUNCTS):  # Those that are well formed do not come here.
                    m.d.sync += broken(Cause.LOOP)
            with m.Default():
                m.d.sync += broken(Cause.UNKNOWN_FUNCT)

    def _check(self, m: Module, s2, hulls, late, s3) -> None:
        """Turn hulls into ranges, and the first broken rule into an error."""
        config, ranges = self.config, []
        outside: Value = Signal(1)
        for index, hull in enumerate(hulls):
            end = hull.end
            row_range = Signal(RowRange(config), name=f"range_{index}")
            m.d.comb += row_range.valid.eq(hull.valid)
            beyond = Signal(name=f"outside_{index}")
            with m.Switch(hull.space):
                for space in Space:
                    with m.Case(space):
                        base = space_base(config, space)
                        m.d.comb += [
                            row_range.first.eq(hull.row + base),
                            row_range.last.eq(end + (base - 1)),
                            beyond.eq(end > space_rows(config, space)),
                        ]
            outside = outside | (hull.valid & beyond)
            m.d.sync += [
                s3.ranges[index].valid.eq(row_range.valid),
                s3.ranges[index].first.eq(row_range.first),
                s3.ranges[index].last.eq(row_range.last),
            ]
            ranges.append(row_range)
        meets = Signal()
        for kind, written in (Kind.EXECUTE, 1), (Kind.TRANSFORM, TRANSFORM_WRITES):
            pairs = [
                (one, other) for one in range(written) for other in range(one + 1, len(ranges))
            ]
            for one, other in pairs:
                spoils = overlap(ranges[one], ranges[other])
                if kind == Kind.EXECUTE:
                    spoils &= ~self._replaces(s2.execute, ranges, other)
                with m.If((s2.kind == kind) & spoils):
                    m.d.comb += meets.eq(1)
        rules = ((outside, Cause.LOCAL_RANGE), (meets, Cause.OVERLAP), (1, late))
        cause: Value = Value.cast(s2.cause)
        for rule, name in rules:
            cause = Mux(cause == Cause.NONE.value, Mux(rule, Value.cast(name), 0), cause)
        m.d.sync += s3.cause.eq(cause)
        with m.If(cause != Cause.NONE.value):
            m.d.sync += s3.kind.eq(Kind.ERROR)

    def _replaces(self, product, ranges, operand: int) -> Value:
        """Whether the rows of a result may be, one by one, those of an operand."""
        stride = product.a_stride if operand == A_HULL else 1
        return replaces_operand(self.config, product, ranges[0], ranges[operand], stride)
