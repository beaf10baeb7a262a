"""The host-visible registers: a 4 KiB AXI4-Lite window, declared once.

The RTL's register file, the driver, `docs/registers.md` and the C header are derived from the
tables below.  Registers are 32 bits wide; a 64-bit value is a pair, ``NAME_LO`` and ``NAME_HI``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.errors import ERROR_BITS
from celosia.isa.events import COUNTERS

__all__ = [
    "IDENTITY",
    "INTERFACE_VERSION",
    "REGISTERS",
    "REGISTER_BITS",
    "WINDOW_BYTES",
    "Access",
    "Register",
    "RegisterField",
    "configuration_words",
]

REGISTER_BITS: Final = 32
WINDOW_BYTES: Final = 4096

IDENTITY: Final = int.from_bytes(b"CELO", "big")
INTERFACE_VERSION: Final = (0, 1)
"""Major and minor: the major one changes when old software no longer works."""

_WORD_BYTES: Final = REGISTER_BITS // 8
_ONES: Final = (1 << REGISTER_BITS) - 1


class Access(Enum):
    """What the host may do with a register."""

    RO = "read only"
    RW = "read, write"
    WO = "write only; reads as 0"
    W1C = "read; writing 1 clears a bit"


@dataclass(frozen=True)
class RegisterField:
    """Some bits of a register."""

    name: str
    low: int
    bits: int
    doc: str

    @property
    def limit(self) -> int:
        """The smallest value that no longer fits."""
        return 1 << self.bits


@dataclass(frozen=True)
class Register:
    """One 32-bit register.  Bits outside of its fields read as 0 and ignore writes."""

    name: str
    offset: int
    access: Access
    doc: str
    fields: tuple[RegisterField, ...] = ()
    """None: the register is one number."""
    reset: int | None = 0
    """None: given by the configuration, see `configuration_words`."""
    while_busy: bool = False
    """Writes are taken while the accelerator is busy; others are answered with SLVERR then."""

    def __post_init__(self) -> None:
        if self.offset % _WORD_BYTES or not 0 <= self.offset < WINDOW_BYTES:
            raise ValueError(f"{self.name}: offset {self.offset:#x} is not a word of the window")
        end = 0
        for field in sorted(self.fields, key=lambda field: field.low):
            if field.low < end or field.low + field.bits > REGISTER_BITS:
                raise ValueError(f"{self.name}.{field.name}: overlaps, or leaves the register")
            end = field.low + field.bits

    def pack(self, values: Mapping[str, int]) -> int:
        """The register's word with `values` in its fields; those left out are 0.

        Raises `ValueError` that names the field, its value and its range.
        """
        if unknown := values.keys() - {field.name for field in self.fields}:
            raise ValueError(f"{self.name}: there is no field {', '.join(sorted(unknown))}")
        word = 0
        for field in self.fields:
            value = values.get(field.name, 0)
            if not 0 <= value < field.limit:
                raise ValueError(
                    f"{self.name}.{field.name}: {value} is not in 0..{field.limit - 1}"
                )
            word |= value << field.low
        return word

    def unpack(self, word: int) -> dict[str, int]:
        """The fields' values in `word`; the inverse of `pack`."""
        return {field.name: word >> field.low & (field.limit - 1) for field in self.fields}


def _parameters(*fields: tuple[str, int, int]) -> tuple[RegisterField, ...]:
    return tuple(
        RegisterField(name, low, bits, f"`{name}` of the configuration.")
        for name, low, bits in fields
    )


def _pair(register: Register) -> tuple[Register, Register]:
    """`register` as two: the low half at its offset, the high half behind it."""
    reset = register.reset
    assert reset is not None
    low = replace(register, name=f"{register.name}_LO", reset=reset & _ONES)
    high = replace(
        register,
        name=f"{register.name}_HI",
        offset=register.offset + _WORD_BYTES,
        doc="Its high half.",
        reset=reset >> REGISTER_BITS,
    )
    return low, high


_ONES_64: Final = (1 << 2 * REGISTER_BITS) - 1

_IDENTITY: Final = (
    Register("IDENTITY", 0x000, Access.RO, 'The letters "CELO".', reset=IDENTITY),
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
    ),
    Register(
        "CONFIG_ARRAY",
        0x010,
        Access.RO,
        "The configuration that the accelerator was built from.  A driver refuses any other than "
        "the one that a program was compiled for.",
        _parameters(("dim", 0, 8), ("scratchpad_banks", 8, 8), ("accumulator_banks", 16, 8)),
        reset=None,
    ),
    Register(
        "CONFIG_MEMORY",
        0x014,
        Access.RO,
        "More of the configuration.",
        _parameters(("scratchpad_kib", 0, 16), ("accumulator_kib", 16, 16)),
        reset=None,
    ),
    Register(
        "CONFIG_PORT",
        0x018,
        Access.RO,
        "More of the configuration.",
        _parameters(("bus_bits", 0, 16), ("parameter_rows", 16, 16)),
        reset=None,
    ),
    Register(
        "CONFIG_REQUESTS",
        0x01C,
        Access.RO,
        "More of the configuration.",
        _parameters(("read_requests", 0, 16), ("write_requests", 16, 16)),
        reset=None,
    ),
    Register(
        "CONFIG_QUEUES",
        0x020,
        Access.RO,
        "More of the configuration.",
        _parameters(("load_queue", 0, 8), ("execute_queue", 8, 8), ("store_queue", 16, 8)),
        reset=None,
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
                "clear_error", 8, 1, "Forget the error and everything queued; go on afresh."
            ),
            RegisterField("clear_counters", 9, 1, "Set all counters to 0."),
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
            RegisterField("cause", 0, ERROR_BITS, "0: none; else a cause of `isa/errors.py`."),
            RegisterField("id", 8, 4, "Bus ID of the response that failed."),
        ),
    ),
    Register("ERROR_COMMAND", 0x054, Access.RO, "Number since reset, from 0, of its command."),
    *_pair(Register("ERROR_ADDRESS", 0x058, Access.RO, "Byte address of the access that failed.")),
    *_pair(
        Register(
            "CYCLE_BUDGET",
            0x060,
            Access.RW,
            "Busy cycles after which the accelerator stops with an error; 0: no limit.",
        )
    ),
)

_RANGES: Final = tuple(
    half
    for pair in (
        _pair(Register("READ_BASE", 0x080, Access.RW, "First byte that may be read.")),
        _pair(
            Register("READ_LIMIT", 0x088, Access.RW, "Last byte that may be read.", reset=_ONES_64)
        ),
        _pair(Register("WRITE_BASE", 0x090, Access.RW, "First byte that may be written.")),
        _pair(
            Register(
                "WRITE_LIMIT", 0x098, Access.RW, "Last byte that may be written.", reset=_ONES_64
            )
        ),
    )
    for half in pair
)

_RING: Final = (
    *_pair(Register("RING_BASE", 0x0C0, Access.RW, "Byte address of ring entry 0.")),
    Register("RING_SIZE", 0x0C8, Access.RW, "Entries of the ring; entry 0 follows the last one."),
    Register("RING_HEAD", 0x0CC, Access.RO, "The entry that is fetched next."),
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
        "Writing any value starts fetching, until RING_HEAD is RING_TAIL.",
        while_busy=True,
    ),
    Register(
        "RING_COMPLETED",
        0x0D8,
        Access.RO,
        "Commands of the ring that have finished, writes to memory included, modulo 2^32.",
    ),
)

_FIRST_COUNTER: Final = 0x200
_COUNTERS: Final = tuple(
    half
    for index, counter in enumerate(COUNTERS)
    for half in _pair(
        Register(
            f"COUNTER_{counter.name.upper()}",
            _FIRST_COUNTER + index * 2 * _WORD_BYTES,
            Access.RO,
            counter.doc,
        )
    )
)

REGISTERS: Final[Mapping[str, Register]] = {
    register.name: register for register in (*_IDENTITY, *_CONTROL, *_RANGES, *_RING, *_COUNTERS)
}
"""By name, in the order of their offsets.

A 64-bit counter is stable while the accelerator is idle; else read HI, LO and HI again.
"""


def configuration_words(config: AcceleratorConfig) -> dict[str, int]:
    """What the registers without a fixed reset value hold in an accelerator of `config`."""
    return {
        register.name: register.pack({
            field.name: getattr(config, field.name) for field in register.fields
        })
        for register in REGISTERS.values()
        if register.reset is None
    }
