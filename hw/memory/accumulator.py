"""The accumulator: banked rows of int32 that add on write."""

from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, stream
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.sleep import resting
from celosia.hw.lib.wide import wide_sum
from celosia.hw.memory.garbage import garbage
from celosia.hw.memory.ports import AccumulatorWrite, BankUser, row_shape
from celosia.hw.memory.read_port import RowRead, RowReadInterface
from celosia.isa.config import AcceleratorConfig

__all__ = ["Accumulator", "ResultAddress"]


class ResultAddress(data.StructLayout):
    """Where the row of results goes that follows one cycle later."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "valid": 1,
            "row": row_shape(config.accumulator_rows),
            "accumulate": 1,
            "mask": unsigned(config.dim),
        })


class Accumulator(Component):
    """Rows of ``dim`` int32 in banks with one read and one write port each.

    Results come from the array and never wait: their address in one cycle, their elements in the
    next.  Loads wait while results use their bank.  A write that accumulates reads its row in the
    cycle of its address and writes the sum one cycle later; writes to one row in consecutive cycles
    are exact (the bank forwards the sum that is being written).  Sums wrap at 32 bits.  Reads wait
    while their bank's read port serves an accumulation; a row is on ``data``
    `LOCAL_READ_LATENCY` cycles after its grant.  A store may read a row from two cycles after its
    address (or load) on.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``accumulator_banks`` and ``accumulator_bank_rows``.
    memory_seed : int or None
        Seed of the contents at power-on; zeros without one.

    Members
    -------
    address : ``In(ResultAddress(config))``
        Where the next row of results goes.
    elements : ``In(signed(32)).array(dim)``
        The row for the address of the last cycle.
    load : ``In(stream.Signature(AccumulatorWrite(config)))``
        Rows from memory.
    transform : ``In(RowRead(row, elements))``
        Reads of rows that are transformed, if there is a normalization unit.
    store : ``In(RowRead(row, elements))``
        Reads of rows that go to memory.
    transform_blocker : ``Out(BankUser)``
        Who has the bank that ``transform`` waits for, while it does.
    store_blocker : ``Out(BankUser)``
        Who has the bank that ``store`` waits for, while it does.
    """

    address: data.View
    elements: list[Signal]
    load: stream.Interface
    transform: RowReadInterface
    store: RowReadInterface
    transform_blocker: Annotated[Any, Out(BankUser)]
    store_blocker: Annotated[Any, Out(BankUser)]

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self._seed = memory_seed
        elements = data.ArrayLayout(signed(32), config.dim)
        super().__init__({
            "address": In(ResultAddress(config)),
            "elements": In(signed(32)).array(config.dim),
            "load": In(stream.Signature(AccumulatorWrite(config))),
            "transform": In(RowRead(row_shape(config.accumulator_rows), elements)),
            "store": In(RowRead(row_shape(config.accumulator_rows), elements)),
        })

    def _hits(self, row: Value, index: int) -> Value:
        bits = (self.config.accumulator_bank_rows - 1).bit_length()
        return row[bits:] == index if self.config.accumulator_banks > 1 else Value.cast(1)

    def elaborate(self, platform) -> Module:
        m = Module()
        # Elements of an accepted load, for the cycle after.
        loaded = Signal(data.ArrayLayout(signed(32), self.config.dim), reset_less=True)
        with m.If(resting(platform, self.load.valid)):
            m.d.sync += loaded.eq(self.load.p.data)
        # By priority.
        readers = {"transform": self.transform} if self.config.normalization else {}
        readers["store"] = self.store
        m.d.comb += [port.ready.eq(0) for port in (self.load, *readers.values())]

        words, grants = [], []
        for index in range(self.config.accumulator_banks):
            word, granted = self._bank(m, index, loaded, readers, platform)
            words.append(word)
            grants.append(granted)
        for name, port in readers.items():
            hits = [granted[name] for granted in grants]
            _select_word(m, port, hits, words, name, platform)
        return m

    def _bank(
        self,
        m: Module,
        index: int,
        loaded: data.View,
        readers: dict[str, RowReadInterface],
        platform: object,
    ) -> tuple[Value, dict[str, Value]]:
        """One bank; returns the word it read in the last cycle, and whether it serves each reader.

        A reader waits for accumulations and for those before it: `readers` come by priority.
        """
        config = self.config
        depth, bits = config.accumulator_bank_rows, 32 * config.dim
        seed = None if self._seed is None else self._seed + index
        memory = Memory(shape=unsigned(bits), depth=depth, init=garbage(depth, bits, seed))
        m.submodules[f"bank_{index}"] = memory
        read, write = memory.read_port(), memory.write_port(granularity=32)

        # Stage 1: choose who writes and who reads.
        from_array = self.address.valid & self._hits(self.address.row, index)
        from_load = self.load.valid & self._hits(self.load.p.row, index) & ~from_array
        with m.If(from_load):
            m.d.comb += self.load.ready.eq(1)
        row = Mux(from_array, self.address.row, self.load.p.row)[: (depth - 1).bit_length()]
        accumulate = (from_array & self.address.accumulate) | (from_load & self.load.p.accumulate)
        served, busy, address = {}, accumulate, self.store.row
        blockers = {"transform": self.transform_blocker, "store": self.store_blocker}
        for name, port in readers.items():
            wants = port.valid & self._hits(port.row, index)
            serves = wants & ~busy
            with m.If(serves):
                m.d.comb += port.ready.eq(1)
            with m.Elif(wants):
                # An accumulation has the bank, or an earlier reader.
                added = Mux(from_array, BankUser.RESULTS, BankUser.LOAD)
                user = Mux(accumulate, added, BankUser.TRANSFORM)
                m.d.comb += Value.cast(blockers[name]).eq(user)
            served[name] = serves
            busy |= serves
            if port is not self.store:
                address = Mux(serves, port.row, address)
        m.d.comb += [read.en.eq(busy), read.addr.eq(Mux(accumulate, row, address))]

        # Stage 2: add and write.
        s1_valid = Signal(name=f"s1_valid_{index}")
        s1_row = Signal((depth - 1).bit_length(), name=f"s1_row_{index}", reset_less=True)
        s1_accumulate = Signal(name=f"s1_accumulate_{index}", reset_less=True)
        s1_load = Signal(name=f"s1_load_{index}", reset_less=True)
        s1_mask = Signal(config.dim, name=f"s1_mask_{index}", reset_less=True)
        s1_forward = Signal(config.dim, name=f"s1_forward_{index}", reset_less=True)
        m.d.sync += s1_valid.eq(from_array | from_load)
        with m.If(from_array | from_load):
            m.d.sync += [
                s1_row.eq(row),
                s1_accumulate.eq(accumulate),
                s1_load.eq(from_load),
                s1_mask.eq(Mux(from_array, self.address.mask, self.load.p.mask)),
                # Lanes whose sum is written to the same row in this very cycle.
                s1_forward.eq(Mux(s1_valid & (s1_row == row), s1_mask, 0)),
            ]
        totals = []
        for lane in range(config.dim):
            total = Signal(32, name=f"total_{index}_{lane}")
            written = Signal(32, name=f"written_{index}_{lane}", reset_less=True)
            forwards = s1_forward[lane] & s1_accumulate
            reads = ~s1_forward[lane] & s1_accumulate
            kept = read.data[32 * lane : 32 * lane + 32]
            old = (forwards.replicate(32) & written) | (reads.replicate(32) & kept)
            added = Mux(s1_load, loaded[lane], self.elements[lane])
            # What is not valid is not written, and its total means nothing.
            with m.If(resting(platform, s1_valid)):
                m.d.comb += total.eq(wide_sum(old, added, bits=32))
                m.d.sync += written.eq(total)
            totals.append(total)
        m.d.comb += [
            write.addr.eq(s1_row),
            write.data.eq(Cat(totals)),
            write.en.eq(Mux(s1_valid, s1_mask, 0)),
        ]
        return read.data, served


def _select_word(
    m: Module,
    port: RowReadInterface,
    chosen: list[Value],
    words: list[Value],
    name: str,
    platform: object,
) -> None:
    """Register the word that `port` was granted in the last cycle, by one of the banks."""
    bank = Signal(range(max(2, len(words))), name=f"{name}_bank", reset_less=True)
    granted = Signal(name=f"{name}_granted")
    word = Signal.like(words[0], name=f"{name}_word", reset_less=True)
    m.d.sync += granted.eq(Cat(chosen).any())
    for index, hit in enumerate(chosen):
        with m.If(hit):
            m.d.sync += bank.eq(index)
    with m.If(resting(platform, granted)):
        for index, candidate in enumerate(words):
            with m.If(bank == index):
                m.d.sync += word.eq(candidate)
    m.d.comb += port.data.as_value().eq(word)
