"""The host-visible registers: a 4 KiB AXI4-Lite window, declared once.

The RTL's register file, the driver, `docs/registers.md` and the C header are derived from the
tables below.  Registers are 32 bits wide; a 64-bit value is a pair, ``NAME_LO`` and ``NAME_HI``.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding.tokens import TOKEN_BITS
from celosia.isa.registers.errors import ERROR_BITS
from celosia.isa.registers.events import COUNTERS
from celosia.isa.registers.layout import (
    REGISTER_BITS,
    WINDOW_BYTES,
    WORD_BYTES,
    Access,
    Register,
    RegisterField,
    number_of,
    pair,
    parameters,
)
from celosia.isa.registers.queues import QUEUES

__all__ = [
    "BODY_BITS",
    "BUS_ID_BITS",
    "IDENTITY",
    "INTERFACE_VERSION",
    "REGISTERS",
    "REGISTER_BITS",
    "WINDOW_BYTES",
    "Access",
    "BusId",
    "Register",
    "RegisterField",
    "configuration_words",
]

IDENTITY: Final = int.from_bytes(b"CELO", "big")
INTERFACE_VERSION: Final = (0, 5)
"""Major and minor: the major one changes when old software no longer works."""

BODY_BITS: Final = 16
"""Width of the number of commands in the body of a loop, in bits."""

BUS_ID_BITS: Final = 4
"""Width of the IDs on the memory port, in bits."""


class BusId(IntEnum):
    """The ID that an access to memory carries on the bus, which says who asked for it.

    Reads and writes have IDs of their own: that of loads is also that of stores.
    """

    DATA = 0
    RING = 1


_ONES_64: Final = (1 << 2 * REGISTER_BITS) - 1

_IDENTITY: Final = (
    Register("IDENTITY", 0x000, Access.RO, 'The letters "CELO".', reset=IDENTITY, constant=True),
    Register(
        "VERSION",
        0x004,
        Access.RO,
        "Of this register map and the instruction set.  A driver refuses another major version.",
        (
            RegisterField("minor", 0, 16, "Counts compatible additions."),
            RegisterField("major", 16, 16, "Counts incompatible changes."),
        ),
        reset=INTERFACE_VERSION[0] << 16 | INTERFACE_VERSION[1],
        constant=True,
    ),
    Register(
        "CONFIG_ARRAY",
        0x010,
        Access.RO,
        "The configuration that the accelerator was built from.  A driver refuses any other than "
        "the one that a program was compiled for.",
        parameters(("dim", 0, 8), ("scratchpad_banks", 8, 8), ("accumulator_banks", 16, 8)),
        reset=None,
        constant=True,
    ),
    Register(
        "CONFIG_MEMORY",
        0x014,
        Access.RO,
        "More of the configuration.",
        parameters(("scratchpad_kib", 0, 16), ("accumulator_kib", 16, 16)),
        reset=None,
        constant=True,
    ),
    Register(
        "CONFIG_PORT",
        0x018,
        Access.RO,
        "More of the configuration.",
        parameters(("bus_bits", 0, 16), ("parameter_rows", 16, 16)),
        reset=None,
        constant=True,
    ),
    Register(
        "CONFIG_REQUESTS",
        0x01C,
        Access.RO,
        "More of the configuration.",
        parameters(("read_requests", 0, 16), ("write_requests", 16, 16)),
        reset=None,
        constant=True,
    ),
    Register(
        "CONFIG_QUEUES",
        0x020,
        Access.RO,
        "More of the configuration.",
        parameters(
            ("load_queue", 0, 8),
            ("execute_queue", 8, 8),
            ("store_queue", 16, 8),
            ("transform_queue", 24, 8),
        ),
        reset=None,
        constant=True,
    ),
    Register(
        "CONFIG_TRANSFORM",
        0x024,
        Access.RO,
        "More of the configuration.",
        parameters(
            ("normalization", 0, 1),
            ("convolution", 1, 1),
            ("dataflow", 2, 2),
            ("bert", 4, 1),
            ("loop_ws", 5, 1),
            ("vector_lanes", 8, 8),
            ("statistics_rows", 16, 16),
        ),
        reset=None,
        constant=True,
    ),
    Register(
        "CONFIG_LOOPS",
        0x028,
        Access.RO,
        "More of the configuration.",
        parameters(("loop_entries", 0, BODY_BITS), ("scale_bits", 16, 5), ("int4_pairs", 21, 1)),
        reset=None,
        constant=True,
    ),
)

_CONTROL: Final = (
    Register(
        "CONTROL",
        0x040,
        Access.RW,
        "What runs, and clearing.  The clear bits act once and read as 0.",
        (
            RegisterField("ring_enable", 0, 1, "Commands come from the ring, not from the stream."),
            RegisterField(
                "clear_error",
                8,
                1,
                "Forget the error and everything queued: RING_HEAD becomes RING_TAIL, and what "
                "commands configured is as after reset.  Local memories keep their contents.",
                once=True,
            ),
            RegisterField("clear_counters", 9, 1, "Set all counters to 0.", once=True),
        ),
    ),
    Register(
        "STATUS",
        0x044,
        Access.RO,
        "What happens now.",
        (
            RegisterField("busy", 0, 1, "Anything is queued, running or unacknowledged."),
            RegisterField("error", 1, 1, "ERROR holds a cause; commands wait for clear_error."),
            RegisterField("ring_empty", 2, 1, "RING_HEAD is RING_TAIL."),
        ),
        reset=1 << 2,
    ),
    Register(
        "INTERRUPT_ENABLE",
        0x048,
        Access.RW,
        "The interrupt output is high while a bit is set here and in INTERRUPT_STATUS.",
        (
            RegisterField("done", 0, 1, "As in INTERRUPT_STATUS."),
            RegisterField("error", 1, 1, "As in INTERRUPT_STATUS."),
        ),
        while_busy=True,
    ),
    Register(
        "INTERRUPT_STATUS",
        0x04C,
        Access.W1C,
        "What has happened since it was cleared.",
        (
            RegisterField("done", 0, 1, "Everything finished, and no commands are left."),
            RegisterField("error", 1, 1, "An error stopped the accelerator."),
        ),
        while_busy=True,
    ),
    Register(
        "ERROR",
        0x050,
        Access.RO,
        "The first error since reset or clear_error.",
        (
            RegisterField("cause", 0, ERROR_BITS, "0: none; else of `isa/registers/errors.py`."),
            RegisterField(
                "id",
                8,
                BUS_ID_BITS,
                f"Whose access failed: {BusId.DATA} for loads and stores, {BusId.RING} for the "
                "ring.",
            ),
        ),
    ),
    Register(
        "ERROR_COMMAND",
        0x054,
        Access.RO,
        "Number, from 0 since reset or clear_error, of its command; for an error that is none's "
        "(CYCLE_BUDGET, WATCHDOG, RING_RANGE): of the command that would have come next.",
    ),
    *pair(
        Register(
            "ERROR_ADDRESS",
            0x058,
            Access.RO,
            "Byte address of the burst that failed, or of the ring's entry.",
        )
    ),
    *pair(
        Register(
            "CYCLE_BUDGET",
            0x060,
            Access.RW,
            "Busy cycles in a row after which the accelerator stops with an error; 0: no limit.",
        )
    ),
    Register(
        "WATCHDOG",
        0x068,
        Access.RW,
        "Busy cycles in a row without progress (a command accepted, a transfer on the memory port, "
        "or a row entering the array) after which the accelerator stops with an error; 0: no limit."
        "  If it waits for memory that never answers, it stays busy, and only a reset helps.",
    ),
)

_RANGES: Final = tuple(
    half
    for pair in (
        pair(Register("READ_BASE", 0x080, Access.RW, "First byte that may be read.")),
        pair(
            Register("READ_LIMIT", 0x088, Access.RW, "Last byte that may be read.", reset=_ONES_64)
        ),
        pair(Register("WRITE_BASE", 0x090, Access.RW, "First byte that may be written.")),
        pair(
            Register(
                "WRITE_LIMIT", 0x098, Access.RW, "Last byte that may be written.", reset=_ONES_64
            )
        ),
    )
    for half in pair
)

_RING: Final = (
    Register(
        "RING_BASE_LO",
        0x0C0,
        Access.RW,
        "Byte address of ring entry 0, a multiple of 8.",
        (RegisterField("words", 3, 29, "The address without its lowest bits, which are 0."),),
    ),
    Register("RING_BASE_HI", 0x0C4, Access.RW, "Its high half."),
    Register("RING_SIZE", 0x0C8, Access.RW, "Entries of the ring; entry 0 follows the last one."),
    Register(
        "RING_HEAD",
        0x0CC,
        Access.RO,
        "The entry whose command is accepted next: those before it may be filled again.",
    ),
    Register(
        "RING_TAIL",
        0x0D0,
        Access.RW,
        "The entry behind the last command: the one that the host fills next.",
        while_busy=True,
    ),
    Register(
        "RING_DOORBELL",
        0x0D4,
        Access.WO,
        "Writing any value starts fetching, up to the RING_TAIL of this moment.  Without "
        "ring_enable, nothing is fetched before it is set.",
        while_busy=True,
    ),
    Register(
        "RING_COMPLETED",
        0x0D8,
        Access.RO,
        "Commands of the ring that have finished, writes to memory included, in whatever order; "
        "modulo 2^32.  One that stands for others counts once, when all of them have finished; in "
        "REPEATs, when the next FENCE has, or everything.  clear_error does not change it.",
    ),
)

_DEBUG: Final = (
    Register(
        "DEBUG_QUEUES",
        0x100,
        Access.RO,
        "Operations that wait or run, to find out why a program hangs.",
        tuple(
            RegisterField(queue, 8 * index, 8, f"In the {queue} queue.")
            for index, queue in enumerate(QUEUES)
        ),
    ),
    Register(
        "DEBUG_WAITS",
        0x104,
        Access.RO,
        "Why the oldest operation of each queue does not start.  Bits 0 to 3 of a field: for an "
        "older load, execute, store, transform; bit 4: for its controller.",
        tuple(
            RegisterField(queue, 8 * index, 5, f"The {queue} queue.")
            for index, queue in enumerate(QUEUES)
        ),
    ),
    Register(
        "DEBUG_TOKEN",
        0x108,
        Access.RO,
        "Whether the oldest load waits for stores to finish, and for which (CONFIG_TOKEN).",
        (
            RegisterField("waits", 0, 1, "It waits for a token.  Its controller waits, too."),
            RegisterField("id", 8, TOKEN_BITS, "The counter that it waits for, if it waits."),
        ),
    ),
    Register(
        "DEBUG_TOKEN_COUNT", 0x10C, Access.RO, "What that counter must hold, at least, if it waits."
    ),
    Register("DEBUG_TOKEN_VALUE", 0x110, Access.RO, "What that counter holds, if it waits."),
    Register(
        "DEBUG_LOOPS",
        0x114,
        Access.RO,
        "What the loop engine does.",
        (
            RegisterField("busy", 0, 1, "It holds commands, or has more of them to make."),
            RegisterField(
                "missing", 16, BODY_BITS, "Commands of a REPEAT's body that have not come."
            ),
        ),
    ),
)

_FIRST_COUNTER: Final = 0x200
_COUNTERS: Final = tuple(
    half
    for index, counter in enumerate(COUNTERS)
    for half in pair(
        Register(
            f"COUNTER_{counter.name.upper()}",
            _FIRST_COUNTER + index * 2 * WORD_BYTES,
            Access.RO,
            counter.doc,
        )
    )
)

REGISTERS: Final[Mapping[str, Register]] = {
    register.name: register
    for register in (*_IDENTITY, *_CONTROL, *_RANGES, *_RING, *_DEBUG, *_COUNTERS)
}
"""All registers by name, in the order of their offsets.  A 64-bit counter is stable while the
accelerator is idle; else read HI, LO and HI again.
"""


def configuration_words(config: AcceleratorConfig) -> dict[str, int]:
    """What the registers without a fixed reset value hold in an accelerator of `config`."""
    return {
        register.name: register.pack({
            field.name: number_of(getattr(config, field.name)) for field in register.fields
        })
        for register in REGISTERS.values()
        if register.reset is None
    }
