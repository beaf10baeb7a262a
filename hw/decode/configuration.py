"""The architectural state: what configuration commands leave behind for later ones."""

from amaranth import Module, Mux, Signal, unsigned
from amaranth.hdl import Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.bert.op import CONSTANTS
from celosia.hw.decode.layouts import COMMAND, operands
from celosia.hw.decode.ops import POOLING
from celosia.hw.decode.transform_configuration import TransformFields, configure_transform
from celosia.isa import encoding
from celosia.isa.address import GARBAGE
from celosia.isa.bert import STATISTICS, STATISTICS_BITS
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct
from celosia.isa.registers.errors import Cause
from celosia.isa.tokens import COUNT_BITS, TOKEN_BITS

__all__ = ["Configuration", "LoadState", "State"]


class LoadState(data.StructLayout):
    """What CONFIG_LD sets for one of the three MVINs."""

    def __init__(self, config: AcceleratorConfig):
        repeats = {"pixel_repeats": unsigned(8)} if config.convolution else {}
        super().__init__({
            "stride": unsigned(64),
            "block_stride": unsigned(16),
            "scale": unsigned(32),
            "shrunk": 1,
            **repeats,
        })


_TILE = {"": unsigned(32), "_cols": unsigned(16), "_rows": unsigned(16)}


_BERT = data.StructLayout({
    "activation": unsigned(2),
    "softmax": 1,
    "statistics": unsigned(STATISTICS_BITS),
    "constants": CONSTANTS,
})


class State(data.StructLayout):
    """The fields of `celosia.isa.state.state.ArchState`."""

    def __init__(self, config: AcceleratorConfig):
        stationary = {"output_stationary": 1, "shift": unsigned(encoding.SHIFT_BITS)}
        pooling = {"pools": 1, "pooling": POOLING, "row_stride": unsigned(40)}
        super().__init__({
            **{f"load_{index}": LoadState(config) for index in range(len(encoding.LOADS))},
            "a_stride": unsigned(16),
            "c_stride": unsigned(16),
            "execute_relu": 1,
            "a_transpose": 1,
            "b_transpose": 1,
            "a_unsigned": 1,
            "store_stride": unsigned(32),
            "store_scale": unsigned(32),
            "store_relu": 1,
            "bias": 1,
            "bias_row": unsigned(16),
            "drain_block_stride": unsigned(16),
            "signal": 1,
            "signal_token": unsigned(TOKEN_BITS),
            "wait": 1,
            "wait_token": unsigned(TOKEN_BITS),
            "wait_count": unsigned(COUNT_BITS),
            **{f"{name}{part}": shape for name in "bc" for part, shape in _TILE.items()},
            **(stationary if config.output_stationary else {}),
            **(pooling if config.convolution else {}),
            **({"bert": _BERT} if config.bert else {}),
        })


class Configuration(wiring.Component):
    """Holds the state, and changes it for every CONFIG and for PRELOAD.

    What a command changes counts from the next cycle on.  A command that breaks a rule changes
    nothing.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, the block stride after reset.

    Members
    -------
    command : ``In(COMMAND)``
        A command.
    apply : ``In(1)``
        `command` takes effect now.
    mine : ``Out(1)``
        `command` configures.
    cause : ``Out(Cause)``
        The rule that it breaks.
    state : ``Out(State(config))``
        The state before `command`.
    """

    command: data.View
    apply: Signal
    mine: Signal
    cause: Signal
    state: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.transform = TransformFields(config)
        """What CONFIG_TRANSFORM sets: registers, if the accelerator has a normalization unit."""
        super().__init__({
            "command": In(COMMAND),
            "apply": In(1),
            "mine": Out(1),
            "cause": Out(Cause),
            "state": Out(State(config)),
        })

    def _reset(self) -> dict:
        config = self.config
        repeats = {"pixel_repeats": 1} if config.convolution else {}
        load = {"block_stride": config.dim, "scale": encoding.ONE, **repeats}
        stationary = {"output_stationary": not config.weight_stationary}
        return {
            **(stationary if config.output_stationary else {}),
            **{f"load_{index}": load for index in range(len(encoding.LOADS))},
            "a_stride": 1,
            "c_stride": 1,
            "store_scale": encoding.ONE,
            "b": GARBAGE,
            "c": GARBAGE,
        }

    def elaborate(self, platform) -> Module:
        m = Module()
        self._kept = Signal(State(self.config), init=self._reset())
        m.d.comb += self.state.eq(self._kept)
        change = Signal()
        m.d.comb += change.eq(self.apply & (self.cause == Cause.NONE))
        with m.Switch(self.command.funct):
            with m.Case(Funct.CONFIG):
                m.d.comb += self.mine.eq(1)
                self._config(m, change)
            with m.Case(Funct.CONFIG_DRAIN):
                m.d.comb += self.mine.eq(1)
                with m.If(change):
                    fields = operands(encoding.CONFIG_DRAIN, self.command)
                    m.d.sync += [
                        self._kept.bias.eq(fields.bias),
                        self._kept.bias_row.eq(fields.bias_row),
                        self._kept.drain_block_stride.eq(fields.block_stride),
                    ]
            with m.Case(Funct.CONFIG_TOKEN):
                m.d.comb += self.mine.eq(1)
                with m.If(change):
                    fields = operands(encoding.CONFIG_TOKEN, self.command)
                    m.d.sync += [
                        self._kept.signal.eq(fields.signal),
                        self._kept.signal_token.eq(fields.signal_id),
                        self._kept.wait.eq(fields.wait),
                        self._kept.wait_token.eq(fields.wait_id),
                        self._kept.wait_count.eq(fields.count),
                    ]
            if self.config.normalization:
                with m.Case(Funct.CONFIG_TRANSFORM):
                    m.d.comb += self.mine.eq(1)
                    configure_transform(m, self.command, change, self.cause, self.transform)
            with m.Case(Funct.PRELOAD):
                m.d.comb += self.mine.eq(1)
                with m.If(change):
                    fields = vars(operands(encoding.PRELOAD, self.command))
                    m.d.sync += [self._kept[name].eq(value) for name, value in fields.items()]
        return m

    def _config(self, m: Module, change: Value) -> None:
        """The forms of CONFIG, by the select field that they all have."""
        known = {
            encoding.CONFIG_EX: self._config_ex,
            encoding.CONFIG_LD: self._config_ld,
            encoding.CONFIG_ST: self._config_st,
        }
        if self.config.bert:
            known[encoding.CONFIG_BERT] = self._config_bert
        select = next(field for field in encoding.CONFIG_EX.fields if field.fixed is not None)
        with m.Switch(self.command.rs1[select.low : select.low + select.bits]):
            for instruction, apply in known.items():
                (chosen,) = (field.fixed for field in instruction.fields if field.fixed is not None)
                with m.Case(chosen):
                    apply(m, operands(instruction, self.command), change)
            with m.Default():
                m.d.comb += self.cause.eq(Cause.UNSUPPORTED)

    def _config_ex(self, m: Module, fields, change: Value) -> None:
        both = fields.a_transpose & fields.b_transpose
        broken = ~fields.weight_stationary | both
        if self.config.output_stationary:
            only_b = fields.b_transpose & ~fields.a_transpose
            with_weights = both if self.config.weight_stationary else 1
            broken = Mux(fields.weight_stationary, with_weights, only_b)
        with m.If(~fields.strides_only & broken):
            m.d.comb += self.cause.eq(Cause.UNSUPPORTED)
        with m.If(change):
            m.d.sync += [
                self._kept.a_stride.eq(fields.a_stride),
                self._kept.c_stride.eq(fields.c_stride),
            ]
            with m.If(~fields.strides_only):
                m.d.sync += [
                    self._kept.execute_relu.eq(fields.activation == 1),
                    self._kept.a_transpose.eq(fields.a_transpose),
                    self._kept.b_transpose.eq(fields.b_transpose),
                    self._kept.a_unsigned.eq(fields.a_unsigned),
                ]
                if self.config.output_stationary:
                    m.d.sync += [
                        self._kept.output_stationary.eq(~fields.weight_stationary),
                        self._kept.shift.eq(fields.shift),
                    ]

    def _config_ld(self, m: Module, fields, change: Value) -> None:
        sets = len(encoding.LOADS)
        broken = fields.set >= sets
        if not self.config.convolution:
            broken |= fields.pixel_repeats > 1
        with m.If(broken):
            m.d.comb += self.cause.eq(Cause.UNSUPPORTED)
        with m.If(change):
            for index in range(sets):
                load = self._kept[f"load_{index}"]
                with m.If(fields.set == index):
                    m.d.sync += [
                        load[name].eq(getattr(fields, name)) for name, _ in LoadState(self.config)
                    ]

    def _config_st(self, m: Module, fields, change: Value) -> None:
        broken = fields.pool_stride != 0
        if self.config.convolution:
            broken &= fields.pool_size == 0
        if not self.config.bert:
            broken = broken | (fields.activation > 1)
        with m.If(broken):
            m.d.comb += self.cause.eq(Cause.UNSUPPORTED)
        keep = fields.scale == encoding.KEEP_SCALE
        with m.If(change):
            m.d.sync += [
                self._kept.store_stride.eq(fields.stride),
                self._kept.store_scale.eq(Mux(keep, self.state.store_scale, fields.scale)),
                self._kept.store_relu.eq(fields.activation == 1),
            ]
            if self.config.convolution:
                self._pool(m, fields)
            if self.config.bert:
                m.d.sync += [
                    self._kept.bert.activation.eq(fields.activation),
                    self._kept.bert.softmax.eq(0),
                ]

    def _config_bert(self, m: Module, fields, change: Value) -> None:
        with m.If(fields.statistics >= STATISTICS):
            m.d.comb += self.cause.eq(Cause.UNSUPPORTED)
        kept = self._kept.bert
        with m.If(change):
            m.d.sync += kept.statistics.eq(fields.statistics)
            with m.If(~fields.statistics_only):
                m.d.sync += [
                    kept.softmax.eq(fields.softmax),
                    kept.constants.qb.eq(fields.qb),
                    kept.constants.qc.eq(fields.qc),
                ]
                with m.If(fields.second_constant):
                    m.d.sync += kept.constants.ln2_inverse.eq(fields.constant)
                with m.Else():
                    m.d.sync += kept.constants.ln2.eq(fields.constant)

    def _pool(self, m: Module, fields) -> None:
        pooling = self._kept.pooling
        m.d.sync += [
            self._kept.pools.eq(fields.pool_stride != 0),
            self._kept.row_stride.eq(fields.pool_pitch * fields.stride),
            pooling.size.eq(fields.pool_size),
            pooling.stride.eq(fields.pool_stride),
            pooling.top.eq(fields.pool_top_pad),
            pooling.left.eq(fields.pool_left_pad),
            pooling.rows.eq(fields.pool_rows),
            pooling.cols.eq(fields.pool_cols),
            pooling.image_rows.eq(fields.image_rows),
            pooling.image_cols.eq(fields.image_cols),
        ]
