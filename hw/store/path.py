"""Everything between a store operation and the memory port."""

from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.bus.bus import Fault, Limits, WritePort
from celosia.hw.decode.ops import StoreOp
from celosia.hw.gemmini.stores import (
    SilentStores,
    describe_pixels,
    row_leaves,
    walk_windows,
)
from celosia.hw.lib.queue import Queue
from celosia.hw.lib.sleep import Sleeping
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import RowRead
from celosia.hw.store.controller import StoreController, element_bytes
from celosia.hw.store.drain import Drain
from celosia.hw.store.pack import Packer
from celosia.hw.store.segments import StoreRows, StoreSegments
from celosia.hw.store.writer import Writer
from celosia.isa.config import AcceleratorConfig

__all__ = ["StorePath", "StoreState", "max_stores"]


def max_stores(config: AcceleratorConfig) -> int:
    """Stores that were accepted and are not done: at most one per place where one can be."""
    return config.store_queue + config.write_requests + 4


class StoreState(enum.Enum, shape=3):
    """What the store path does in a cycle: the first that is true."""

    IDLE = 0  # None of these.
    DATA = 1  # A beat leaves.
    BANDWIDTH = 2  # A beat or an address is on offer.
    BANK = 3  # A row waits for its bank.
    REQUESTS = 4  # As many bursts are in flight as there may be.
    STAGES = 5  # Something is to be sent.
    LATENCY = 6  # All is sent, and a response is missing.


class StorePath(Sleeping):
    """Executes stores, in order.

    ::

        op ─┬─► StoreController ─► Drain (local reads, Requantizer, buffer) ─► Writer ─► AW W
            └─► StoreSegments (rows in memory, once they are read) ─────────────┘  ▲──── B

    Block b of row r comes from local row ``row + r + b * block_stride`` and, with ``bias``, adds
    parameter row ``bias_row + b``.  A row of the scratchpad leaves as it is; one of the accumulator
    as int32 (``full``), or requantized (to int16 with ``int16``, else to int8) and then activated.

    A local row is read per cycle and a beat written per cycle, without a pause between rows and
    operations, as long as memories keep up; rows that leave as int16 or int32 are read as fast as
    their words leave.  The first local row is asked for in the cycle after its operation was taken,
    the address of a row in memory is on offer `ADDRESS_LATENCY` cycles after its last local row was
    granted, and the operation's first beat is on offer `LATENCY` cycles after it was taken.  While
    memory takes nothing, `BUFFER_WORDS` local rows that leave as int8 are still read.

    After a fault, and under ``halt``, no operation is taken and no burst is issued any more; bursts
    that are in flight get their beats and responses.  What else is inside stays, and no operation
    is done, until a reset.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Configuration of the accelerator.

    Members
    -------
    op : ``In(stream.Signature(StoreOp(config)))``
        Stores whose hazards have been resolved, of at least one row and one column.
    port : ``Out(WritePort(config))``
        The memory.
    limits : ``In(Limits())``
        Bytes that may be written.
    scratchpad : ``Out(RowRead(row, ArrayLayout(unsigned(8), dim)))``
        Reads of rows of int8.
    accumulator : ``Out(RowRead(row, ArrayLayout(signed(32), dim)))``
        Reads of rows of int32.
    parameters : ``Out(RowRead(row, ArrayLayout(signed(32), dim)))``
        Reads of biases, each of which must be granted at once.
    reads_done : ``Out(1)``
        The last local row of a store was granted in the cycle before.
    done : ``Out(1)``
        The last response of a store was accepted in the cycle before.
    fault : ``Out(Fault())``
        An error.
    halt : ``In(1)``
        Another unit failed.
    empty : ``Out(1)``
        No store was accepted that is not done; an error ends none.
    idle : ``Out(1)``
        The same; after an error: no burst is in flight.
    write_bytes : ``Out(unsigned(8))``
        Bytes of the burst whose address is accepted in this cycle.
    state : ``Out(StoreState)``
        What happened in the cycle before, `halt` and errors aside.
    """

    LATENCY = 1 + Drain.LATENCY + Packer.LATENCY
    ADDRESS_LATENCY = 4

    op: stream.Interface
    port: Any
    limits: Annotated[data.View, In(Limits())]
    scratchpad: Any
    accumulator: Any
    parameters: Any
    reads_done: Annotated[Signal, Out(1)]
    done: Annotated[Signal, Out(1)]
    fault: Annotated[data.View, Out(Fault())]
    halt: Annotated[Signal, In(1)]
    empty: Annotated[Signal, Out(1)]
    idle: Annotated[Signal, Out(1)]
    write_bytes: Annotated[Signal, Out(unsigned(8))]
    state: Annotated[Any, Out(StoreState)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        narrow = data.ArrayLayout(unsigned(8), config.dim)
        wide = data.ArrayLayout(signed(32), config.dim)
        super().__init__({
            "op": In(stream.Signature(StoreOp(config))),
            "port": Out(WritePort(config)),
            "scratchpad": Out(RowRead(row_shape(config.scratchpad_rows), narrow)),
            "accumulator": Out(RowRead(row_shape(config.accumulator_rows), wide)),
            "parameters": Out(RowRead(row_shape(config.parameter_rows), wide)),
        })

    def build(self, m: Module, outer: Module) -> Value:
        stores = Signal(range(max_stores(self.config) + 1))  # Accepted, and not done.
        writer, unissued = self._store(m, stores)
        # Responses are looked at even if nobody asked for them.
        active, lately = Signal(), Signal()
        called = self.op.valid | self.port.b.valid | self.halt
        outer.d.comb += active.eq(called | (stores != 0))
        # Into a register: what depends on the memory's signals is not to spread.
        outer.d.sync += lately.eq(active)
        with outer.If(active | lately):
            self._name_state(outer, writer, stores, unissued)
        return active

    def _store(self, m: Module, stores: Signal) -> tuple[Writer, Signal]:
        """Connect the stages of a store; `stores` are on their way, some of them not all issued."""
        controller: Any = walk_windows(self.config, StoreController(self.config))
        m.submodules.controller = controller
        m.submodules.drain = drain = Drain(self.config)
        m.submodules.segments = segments = StoreSegments(self.config)
        m.submodules.writer = writer = Writer(self.config)

        connect(m, controller.reads, drain.reads)
        connect(m, drain.scratchpad, flipped(self.scratchpad))
        connect(m, drain.accumulator, flipped(self.accumulator))
        connect(m, drain.parameters, flipped(self.parameters))
        connect(m, drain.words, writer.words)
        connect(m, segments.segments, writer.segments)
        connect(m, writer.port, flipped(self.port))

        read, row = controller.reads.valid & controller.reads.ready, controller.reads.p
        m.d.sync += self.reads_done.eq(read & row.last)
        m.d.comb += [
            segments.row_read.eq(read & row.last_in_row & row_leaves(self.config, row)),
            drain.halt.eq(writer.stopped),
            writer.halt.eq(self.halt),
            writer.limits.eq(self.limits),
            self.fault.eq(writer.fault),
            self.done.eq(writer.done | drain.silent_done),
            self.write_bytes.eq(writer.write_bytes),
        ]
        silent = SilentStores(self.config)
        admitted, writes = silent.admit(m, self.op, stores, drain.silent_done)
        accepted = self._accept(m, controller, segments, ~writer.stopped & admitted, writes)

        m.d.sync += stores.eq(stores + accepted - self.done)
        m.d.comb += [
            self.empty.eq(stores == 0),
            self.idle.eq(Mux(writer.stopped, ~writer.in_flight, self.empty)),
        ]
        issues = accepted & writes
        unissued = Signal.like(stores)  # Stores of which not all bursts are issued.
        with m.If(issues != writer.issued):
            m.d.sync += unissued.eq(Mux(issues, unissued + 1, unissued - 1))
        return writer, unissued

    def _name_state(self, m: Module, writer: Writer, stores: Signal, unissued: Signal) -> None:
        beat, address = self.port.w, self.port.aw
        blocked = [port.valid & ~port.ready for port in (self.scratchpad, self.accumulator)]
        with m.If(beat.valid & beat.ready):
            m.d.sync += self.state.eq(StoreState.DATA)
        with m.Elif(beat.valid | (address.valid & ~address.ready)):
            m.d.sync += self.state.eq(StoreState.BANDWIDTH)
        with m.Elif(Cat(blocked).any()):
            m.d.sync += self.state.eq(StoreState.BANK)
        with m.Elif(writer.no_credit):
            m.d.sync += self.state.eq(StoreState.REQUESTS)
        with m.Elif(stores == 0):
            m.d.sync += self.state.eq(StoreState.IDLE)
        with m.Elif((unissued != 0) | writer.unsent | ~writer.in_flight):
            m.d.sync += self.state.eq(StoreState.STAGES)
        with m.Else():
            m.d.sync += self.state.eq(StoreState.LATENCY)

    def _accept(self, m: Module, controller, segments: StoreSegments, free: Value, writes: Value):
        """Hand the two halves of an operation to those who walk them.  Returns when."""
        op = self.op.p
        m.submodules.rows = rows = Queue(StoreRows(self.config), depth=self.config.store_queue)
        connect(m, rows.o, segments.rows)
        accepted = self.op.valid & self.op.ready
        m.d.comb += [
            self.op.ready.eq(controller.op.ready & rows.i.ready & free),
            controller.op.valid.eq(self.op.valid & rows.i.ready & free),
            controller.op.p.eq(op),
            rows.i.valid.eq(accepted & writes),
            rows.i.p.bytes.eq(op.cols * element_bytes(op)),
        ]
        m.d.comb += [rows.i.p[name].eq(op[name]) for name in ("address", "stride", "rows", "tag")]
        describe_pixels(m, self.config, rows.i.p, op)
        return accepted
