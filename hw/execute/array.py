"""The array with everything that its operands pass on the way from the scratchpad."""

from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.execute.control import RowControl, WeightControl
from celosia.hw.execute.mesh import Mesh, mesh_latency
from celosia.hw.execute.transposer import Transposer
from celosia.hw.lib.component import Component
from celosia.hw.lib.delay import delay
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import WeightType

__all__ = ["ArrayPath"]

INT4_BITS = WeightType.INT4.bits


class ArrayPath(Component):
    """Unpacks, masks, transposes and widens rows of operands, and multiplies them.

    Control comes in the cycle in which a row is asked for; the row itself follows on ``weights`` or
    ``operands`` `LOCAL_READ_LATENCY` cycles later and is used at once.  A row that enters with
    ``rows.valid`` is on ``sums`` exactly `latency` cycles later.  Nothing stalls.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    weight_control : ``In(WeightControl(config))``
        What becomes of a row of weights (or of one that fills the transposer).
    row_control : ``In(RowControl(config))``
        What becomes of a row of A or D.
    weights : ``In(ArrayLayout(unsigned(8), dim))``
        Rows from the weights port.
    operands : ``In(ArrayLayout(unsigned(8), dim))``
        Rows from the operands port.
    d_valid : ``Out(1)``
        ``d`` is a row of D.
    d : ``Out(ArrayLayout(signed(8), dim))``
        The row, elements outside of D as zeros.
    sums : ``Out(signed(partial_sum_bits)).array(dim)``
        Rows of A*W.
    """

    weight_control: data.View
    row_control: data.View
    weights: data.View
    operands: data.View
    d_valid: Annotated[Signal, Out(1)]
    d: data.View
    sums: list[Signal]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.latency = LOCAL_READ_LATENCY + mesh_latency(config)
        row = data.ArrayLayout(unsigned(8), config.dim)
        super().__init__({
            "weight_control": In(WeightControl(config)),
            "row_control": In(RowControl(config)),
            "weights": In(row),
            "operands": In(row),
            "d": Out(data.ArrayLayout(signed(8), config.dim)),
            "sums": Out(signed(config.partial_sum_bits)).array(config.dim),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.mesh = mesh = Mesh(self.config)
        m.submodules.transposer = transposer = Transposer(self.config)
        weight = self._delayed(m, self.weight_control, "weight")
        row = self._delayed(m, self.row_control, "row")

        left = Signal()  # Direction of the transposer before this cycle.
        m.d.comb += transposer.left.eq(left ^ (weight.turn | row.turn))
        m.d.sync += left.eq(transposer.left)
        m.d.comb += [
            transposer.shift.eq(weight.shift | row.from_transposer),
            mesh.weights_start.eq(weight.start),
            mesh.swap.eq(delay(m, self.row_control.swap, LOCAL_READ_LATENCY - 1, name="swap")),
            self.d_valid.eq(row.d_valid),
        ]
        m.d.comb += [out.eq(row_sum) for out, row_sum in zip(self.sums, mesh.sums, strict=True)]
        weights = self._line(m, weight)
        # A row that is masked out entirely, or not at all, costs the simulator one branch.
        with m.If(weight.shift):
            m.d.comb += transposer.i.as_value().eq(_masked(weights, weight.fill_mask))
        with m.If(row.d_valid):
            m.d.comb += self.d.as_value().eq(_masked(self.operands, row.d_mask))
        column = Signal.like(transposer.o)
        with m.If(weight.from_transposer | row.from_transposer):
            m.d.comb += column.eq(transposer.o)
        self._enter(m, mesh.weights, weight, weights, column)
        if self.config.int4_pairs:
            self._enter_second(m, mesh, weight)
        self._enter(m, mesh.a, row, self.operands, column)
        m.d.comb += mesh.a_unsigned.eq(row.is_unsigned)
        return m

    def _line(self, m: Module, control: data.View) -> data.View:
        """The line of weights that is wanted of the row that was read."""
        line = Signal.like(self.weights)
        m.d.comb += line.eq(self.weights)
        with m.If(control.int4):
            for col in range(self.config.dim):
                packed = self.weights[col]
                half = Mux(control.high, packed[INT4_BITS:], packed[:INT4_BITS])
                m.d.comb += line[col].eq(half.as_signed())
        return line

    def _enter_second(self, m: Module, mesh: Mesh, control: data.View) -> None:
        """The second line of the row that was read, beside the first one."""
        m.d.comb += mesh.pair.eq(control.pair)
        with m.If(control.second):
            for col in range(self.config.dim):
                line = Mux(control.mask[col], self.weights[col][INT4_BITS:], 0)
                m.d.comb += mesh.second[col].eq(line)

    def _enter(
        self, m: Module, target: data.View, control: data.View, read: data.View, column: data.View
    ) -> None:
        """Elements for the array: of the row that was read, or of the transposer's column."""
        source, entering = Signal.like(read.as_value()), target.as_value()
        with m.If(control.mask != 0):
            m.d.comb += source.eq(read)
            with m.If(control.from_transposer):
                m.d.comb += source.eq(column)
            m.d.comb += entering.eq(source)
            with m.If(~control.mask.all()):
                m.d.comb += entering.eq(_masked(source, control.mask))

    def _delayed(self, m: Module, control: data.View, name: str) -> data.View:
        """`control` at the time of its row, a register for each field."""
        layout: Any = control.shape()
        fields = [
            delay(m, Value.cast(control[field]), LOCAL_READ_LATENCY, name=f"{name}_{field}")
            for field in layout.members
        ]
        return layout(Cat(fields))


def _masked(row: Value | data.View, mask: Value) -> Value:
    """The bytes of `row` whose bit in `mask` is set; zeros elsewhere."""
    return Value.cast(row) & Cat(bit.replicate(8) for bit in mask)
