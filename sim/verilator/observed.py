"""The accelerator's top with more ports: what `Device.run` needs to mark a run."""

from collections.abc import Iterator
from typing import Any, Final

from amaranth.hdl import Cat, Elaboratable, Fragment, Module, Signal, Value

from celosia.hw.decode.ops import TAG_BITS
from celosia.hw.execute.rows import RowStreamer
from celosia.hw.host.axi_top import AxiTop
from celosia.hw.observe.counters import Counters
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.events import TABLES

__all__ = ["EVENT_BYTES", "ObservedTop", "parts"]


EVENT_BYTES: Final = (
    ("busy", "command", "read_beat", "write_beat"),
    ("read_bytes",),
    ("write_bytes",),
    *((table.name,) for table in TABLES),
)
"""The fields of `celosia.hw.observe.counters.CycleEvents` in bytes, as `marks.h` has them."""


class ObservedTop(Elaboratable):
    """`AxiTop`, watched: it does what it does without, in the same cycles.

    The array turns to a product when the one before has ended at the latest: its rows, and the
    rest of its own weights, are in the cycles from then on.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Of the accelerator.
    memory_seed : int or None
        Of the contents of local memories at power-on, in Amaranth's simulator.

    Members
    -------
    product_begins : ``Out(1)``
        The array turns to a product in the next cycle.
    product_ends : ``Out(1)``
        It has turned to a product, for which this is the last cycle.
    product_tag : ``Out(TAG_BITS)``
        The number of the command of the product that it turned to last.
    counted : ``Out(64)``
        What was to be counted in the cycle before: a byte for each of `EVENT_BYTES`.

    All ports of the top are attributes too.
    """

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.top = AxiTop(config, memory_seed=memory_seed)
        # Tracers leave out what begins with an underscore.
        self.product_begins = Signal(name="_product_begins")
        self.product_ends = Signal(name="_product_ends")
        self.product_tag = Signal(TAG_BITS, name="_product_tag", reset_less=True)
        self.counted = Signal(64, name="_counted")

    def __getattr__(self, name: str) -> Any:
        """A port of the top."""
        return getattr(self.top, name)

    @property
    def ports(self) -> list[Value]:
        """All ports of the top, those of the observer last."""
        own = [Value.cast(getattr(self.top, name)) for name in self.top.signature.members]
        products = [self.product_begins, self.product_ends, self.product_tag]
        return [*own, *products, self.counted]

    def elaborate(self, platform) -> Fragment:
        fragment = Fragment.get(self.top, platform)
        found: dict[type, Any] = {type(part): part for part in parts(fragment)}
        streamer, counters = found[RowStreamer], found[Counters]
        m = Module()
        m.d.comb += [
            self.product_begins.eq(streamer.i.valid & streamer.i.ready),
            self.product_ends.eq(streamer.reads_done),
        ]
        with m.If(self.product_begins):
            m.d.port += self.product_tag.eq(streamer.i.p.tag)
        for byte, names in enumerate(EVENT_BYTES):
            fields = Cat(counters.now[name] for name in names)
            m.d.comb += self.counted.word_select(byte, 8).eq(fields)
        fragment.add_subfragment(Fragment.get(m, platform), "_observed")
        return fragment


def parts(fragment: Any) -> Iterator[object]:
    """The components that `fragment` and what is in it were made from."""
    yield from fragment.origins or ()
    for part, *_ in fragment.subfragments:
        yield from parts(part)
