"""The scratchpad: banked, one access per bank and cycle."""

from typing import Any

from amaranth import Cat, Const, Module, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.sleep import resting
from celosia.hw.memory.garbage import garbage
from celosia.hw.memory.ports import BankUser, ScratchpadWrite, row_shape
from celosia.hw.memory.read_port import RowRead, RowReadInterface
from celosia.isa.config import AcceleratorConfig

__all__ = ["Scratchpad"]


class Scratchpad(Component):
    """Rows of ``dim`` int8 in single-ported banks; the high bits of a row number are its bank.

    Each bank serves one request per cycle, by fixed priority: results, weights, operands, words,
    words2, transform, store, load.  Results and weights never wait: the execute controller does not
    let them meet.  The others wait while their bank serves a higher priority; requests to different
    banks are served in the same cycle.  A row that is read is on ``data`` `LOCAL_READ_LATENCY`
    cycles after its grant; a row that is written can be read from the next cycle on.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``scratchpad_banks`` and ``scratchpad_bank_rows``.
    memory_seed : int or None
        Seed of the contents at power-on; zeros without one.

    Members
    -------
    results : ``In(stream.Signature(ScratchpadWrite(config), always_ready=True))``
        Rows of products.
    weights : ``In(RowRead(row, elements))``
        Reads of weights; always granted.
    operands : ``In(RowRead(row, elements))``
        Reads of A and D.
    words : ``In(stream.Signature(ScratchpadWrite(config)))``
        First results of transforms, if there is a normalization unit.
    words2 : ``In(stream.Signature(ScratchpadWrite(config)))``
        Second results of transforms.
    transform : ``In(RowRead(row, elements))``
        Reads of rows that are transformed.
    store : ``In(RowRead(row, elements))``
        Reads of rows that go to memory.
    load : ``In(stream.Signature(ScratchpadWrite(config)))``
        Rows from memory.
    blockers : ``Out(Signature({name: Out(BankUser)}))``
        Who has the bank that operands, transform, store and load wait for, while they do.
    """

    results: stream.Interface
    weights: RowReadInterface
    operands: RowReadInterface
    words: stream.Interface
    words2: stream.Interface
    transform: RowReadInterface
    store: RowReadInterface
    load: stream.Interface
    blockers: Any

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self._seed = memory_seed
        row = row_shape(config.scratchpad_rows)
        read = RowRead(row, data.ArrayLayout(unsigned(8), config.dim))
        super().__init__({
            "results": In(stream.Signature(ScratchpadWrite(config), always_ready=True)),
            "weights": In(read),
            "operands": In(read),
            "words": In(stream.Signature(ScratchpadWrite(config))),
            "words2": In(stream.Signature(ScratchpadWrite(config))),
            "transform": In(read),
            "store": In(read),
            "load": In(stream.Signature(ScratchpadWrite(config))),
            "blockers": Out(wiring.Signature(dict.fromkeys(_TOLD, Out(BankUser)))),
        })

    def _bank_of(self, row: Value) -> Value:
        return row[(self.config.scratchpad_bank_rows - 1).bit_length() :]

    def elaborate(self, platform) -> Module:
        m = Module()
        self._arbitrate(m)
        words = [self._bank(m, index) for index in range(self.config.scratchpad_banks)]
        for name in ("weights", "operands", *self._reads()):
            port = getattr(self, name)
            _select_word(m, name, port, self._bank_of(port.row), words, platform)
        return m

    def _writes(self) -> list[str]:
        """Streams of rows that may wait, by falling priority."""
        return [*["words", "words2"] * self.config.normalization, "load"]

    def _reads(self) -> list[str]:
        """Reads behind those of products, by falling priority."""
        return [*["transform"] * self.config.normalization, "store"]

    def _arbitrate(self, m: Module) -> None:
        """Grant each requester whose bank no higher priority uses."""
        higher = []
        *urgent, _ = self._writes()
        for name in ("results", "weights", "operands", *urgent, *self._reads(), "load"):
            port: Any = getattr(self, name)
            bank = self._bank_of(port.p.row if hasattr(port, "p") else port.row)
            if name != "results":
                blockers = higher if name != "weights" else []
                taken = [busy & (other == bank) for _, busy, other in blockers]
                # Without a request it means nothing, and costs the simulator nothing.
                with m.If(port.valid):
                    m.d.comb += port.ready.eq(~_any(taken))
                if name in _TOLD:
                    # In other words than above: what two blocks share is computed in each cycle.
                    with m.If(port.valid & ~port.ready):
                        for user, busy, other in reversed(blockers):
                            with m.If(busy & ~(other ^ bank).any()):
                                m.d.comb += getattr(self.blockers, name).eq(_USERS[user])
            higher.append((name, port.valid, bank))

    def _bank(self, m: Module, index: int) -> Value:
        """One bank; returns what it read in the last cycle."""
        config = self.config
        depth, bits = config.scratchpad_bank_rows, 8 * config.dim
        seed = None if self._seed is None else self._seed + index
        # The attribute tells `celosia verilog` that a macro with one port will do.
        init, attributes = garbage(depth, bits, seed), {"single_port": "1"}
        memory = Memory(shape=unsigned(bits), depth=depth, init=init, attrs=attributes)
        m.submodules[f"bank_{index}"] = memory
        read, write = memory.read_port(), memory.write_port(granularity=8)

        def hit(valid: Value, row: Value) -> Value:
            return valid & (self._bank_of(row) == index)

        # One address for both: the memory has a single port.
        row = Signal(range(depth), name=f"row_{index}")
        written = Signal(ScratchpadWrite(config), name=f"written_{index}")
        m.d.comb += [written.eq(self.load.payload), read.addr.eq(row), write.addr.eq(row)]
        m.d.comb += [write.data.eq(written.data.as_value()), read.en.eq(0)]
        with m.If(hit(self.load.valid, self.load.p.row) & self.load.ready):
            m.d.comb += [row.eq(self.load.p.row), write.en.eq(written.mask)]
        for name in self._writes()[:-1]:
            port = getattr(self, name)
            with m.If(hit(port.valid, port.p.row) & port.ready):
                m.d.comb += [
                    written.eq(port.payload),
                    row.eq(port.p.row),
                    write.en.eq(written.mask),
                ]
        for name in (*self._reads(), "operands", "weights"):
            port = getattr(self, name)
            with m.If(hit(port.valid, port.row) & port.ready):
                m.d.comb += [row.eq(port.row), read.en.eq(1)]
        with m.If(hit(self.results.valid, self.results.p.row)):
            m.d.comb += [
                written.eq(self.results.payload),
                row.eq(self.results.p.row),
                write.en.eq(written.mask),
            ]
        return read.data


_TOLD = ("operands", "transform", "store", "load")
_USERS = {
    "results": BankUser.RESULTS,
    "weights": BankUser.WEIGHTS,
    "operands": BankUser.OPERANDS,
    "words": BankUser.WORDS,
    "words2": BankUser.WORDS,
    "transform": BankUser.TRANSFORM,
    "store": BankUser.STORE,
}


def _any(bits: list[Value]) -> Value:
    return Cat(bits).any() if bits else Const(0)


def _select_word(
    m: Module,
    name: str,
    port: RowReadInterface,
    bank: Value,
    words: list[Value],
    platform: object,
) -> None:
    """Register the word that `port` was granted in the last cycle."""
    granted = Signal(name=f"{name}_granted")
    selected = Signal(range(len(words)), name=f"{name}_bank", reset_less=True)
    word = Signal(words[0].shape(), name=f"{name}_word", reset_less=True)
    m.d.sync += granted.eq(port.valid & port.ready)
    with m.If(port.valid):
        m.d.sync += selected.eq(bank)
    with m.If(resting(platform, granted)), m.Switch(selected):
        for index, candidate in enumerate(words):
            with m.Case(index):
                m.d.sync += word.eq(candidate)
    m.d.comb += port.data.as_value().eq(word)
