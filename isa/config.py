"""The parameters that an accelerator is built from."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Final

from celosia.isa.bert import STATISTICS
from celosia.isa.numerics.float32 import MANTISSA_BITS

__all__ = [
    "DATAFLOWS",
    "LEAST_SCALE_BITS",
    "MAX_REQUEST_BYTES",
    "AcceleratorConfig",
    "ConfigError",
    "did_you_mean",
]

DATAFLOWS: Final = ("ws", "os", "both")
"""Which operand of a product stays in the array: its weights, its result, or as CONFIG_EX says."""

MAX_REQUEST_BYTES: Final = 64
"""Most useful bytes that one memory request (one AXI burst) moves."""

ACC_BYTES: Final = 4
"""Bytes of one accumulator element (int32)."""

LEAST_PAIRS_DIM: Final = 4
"""The smallest array that takes lines of int4 weights in pairs: a tile takes two cycles there."""

LEAST_SCALE_BITS: Final = 8
"""The shortest mantissas of scales: those of bfloat16."""


class ConfigError(ValueError):
    """A parameter, or a combination of parameters, that no accelerator can be built from."""


@dataclass(frozen=True, kw_only=True)
class AcceleratorConfig:
    """Parameters of one accelerator instance.

    The same object is given to the RTL, to the compiler and to the simulators, so that the three
    cannot disagree.  Everything that can be derived is a property, never a second parameter.

    Raises :class:`ConfigError` that names the parameter, its value and the rule it breaks.
    """

    dim: int = 16
    """Rows and columns of the systolic array, and elements in one local row."""
    scratchpad_kib: int = 256
    """Capacity of the scratchpad (int8 rows)."""
    accumulator_kib: int = 64
    """Capacity of the accumulator (int32 rows)."""
    scratchpad_banks: int = 4
    """Single-ported banks of the scratchpad; the bank is the high part of a row number."""
    accumulator_banks: int = 2
    """Banks of the accumulator, one read and one write port each."""
    parameter_rows: int = 128
    """Rows of ``dim`` int32 in the parameter memory (bias, and later scale, gamma, beta)."""
    bus_bits: int = 128
    """Width of the memory bus."""
    read_requests: int = 32
    """Read bursts in flight."""
    write_requests: int = 32
    """Write bursts in flight."""
    load_queue: int = 16
    """Loads that may wait or run at once."""
    execute_queue: int = 16
    """Products that may wait or run at once."""
    store_queue: int = 8
    """Stores that may wait or run at once."""
    transform_queue: int = 8
    """Transforms that may wait or run at once."""
    loop_entries: int = 256
    """Commands that the body of a loop may have; 0: without REPEAT, STRIDE and PRODUCTS."""
    normalization: bool = False
    """Build the unit for softmax, LayerNorm, GELU and residuals."""
    vector_lanes: int = 0
    """Elements that the normalization unit works on at once, dividing ``dim``; 0: ``dim``."""
    scale_bits: int = MANTISSA_BITS
    """Bits of the mantissas of all scales; a longer scale is an error."""
    statistics_rows: int = 256
    """Rows whose maximum or sum the normalization unit keeps."""
    int4_pairs: bool = False
    """Let two lines of int4 weights enter the array per cycle: a tile takes ``dim`` / 2 cycles."""
    dataflow: str = "ws"
    """Products that can be computed: weight-stationary (ws), output-stationary (os), or both."""
    convolution: bool = False
    """Build max-pooling (MVOUT) and pixel repeats (MVIN)."""
    loop_ws: bool = False
    """Build the sequencer of Gemmini's LOOP_WS."""
    bert: bool = False
    """Build I-GELU, LayerNorm and softmax of MVOUT (CONFIG_BERT, and the norm commands)."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_kind(field.name, getattr(self, field.name), type(field.default))
        self._check_power_of_two("dim", 2, 64)
        self._check_power_of_two("bus_bits", 32, 512)
        self._check_power_of_two("scratchpad_kib", 1, 16 * 1024)
        self._check_power_of_two("accumulator_kib", 1, 16 * 1024)
        self._check_power_of_two("scratchpad_banks", 2, 16)
        self._check_power_of_two("accumulator_banks", 1, 8)
        self._check_power_of_two("parameter_rows", 8, 4096)
        self._check_power_of_two("statistics_rows", 16, 4096)
        if self.vector_lanes < 0 or self.dim % self.lanes:
            raise ConfigError(
                f"vector_lanes: {self.vector_lanes} does not divide dim, which is {self.dim}"
            )
        self._check_scale_bits()
        if self.loop_entries:
            self._check_power_of_two("loop_entries", 16, 4096)
        for name in ("read_requests", "write_requests"):
            self._check_power_of_two(name, 2, 128)
        if self.int4_pairs and self.dim < LEAST_PAIRS_DIM:
            raise ConfigError(
                f"int4_pairs: dim is {self.dim}, but must be at least {LEAST_PAIRS_DIM}"
            )
        if self.loop_ws and self.dim < STATISTICS:
            raise ConfigError(f"loop_ws: dim is {self.dim}, but must be at least {STATISTICS}")
        for name in ("load_queue", "execute_queue", "store_queue", "transform_queue"):
            self._check_power_of_two(name, 2, 32)
        self._check_banks()

    def _check_scale_bits(self) -> None:
        if not LEAST_SCALE_BITS <= self.scale_bits <= MANTISSA_BITS:
            raise ConfigError(
                f"scale_bits: {self.scale_bits} is not in {LEAST_SCALE_BITS}..{MANTISSA_BITS}"
            )
        if self.bert and self.scale_bits < MANTISSA_BITS:
            raise ConfigError(
                f"scale_bits: {self.scale_bits} is less than {MANTISSA_BITS}, "
                "but bert makes scales of its own"
            )

    def _check_banks(self) -> None:
        for name, rows in (
            ("scratchpad", self.scratchpad_bank_rows),
            ("accumulator", self.accumulator_bank_rows),
        ):
            if rows < 2 * self.dim:
                raise ConfigError(
                    f"{name}_kib, {name}_banks: a bank has {rows} rows, "
                    f"but must hold at least 2*dim = {2 * self.dim}"
                )
            if rows > MAX_BANK_ROWS:
                raise ConfigError(
                    f"{name}_kib, {name}_banks: a bank has {rows} rows, "
                    f"more than the {MAX_BANK_ROWS} that are addressable"
                )

    def _check_power_of_two(self, name: str, low: int, high: int) -> None:
        value = getattr(self, name)
        if not low <= value <= high or value & (value - 1):
            raise ConfigError(f"{name}: {value} is not a power of two in {low}..{high}")

    def with_values(self, values: dict[str, Any]) -> "AcceleratorConfig":
        """A copy with some parameters replaced.  Raises `ConfigError` for an unknown name."""
        known = {field.name for field in fields(self)}
        for name in values:
            if name not in known:
                raise ConfigError(
                    f"{name}: no such parameter; there are {', '.join(sorted(known))}"
                    f"{did_you_mean(name, sorted(known))}"
                )
        return replace(self, **values)

    @property
    def scratchpad_row_bytes(self) -> int:
        """Bytes of one scratchpad row."""
        return self.dim

    @property
    def accumulator_row_bytes(self) -> int:
        """Bytes of one accumulator (or parameter) row."""
        return ACC_BYTES * self.dim

    @property
    def scratchpad_rows(self) -> int:
        """Rows of all scratchpad banks."""
        return self.scratchpad_kib * 1024 // self.scratchpad_row_bytes

    @property
    def scratchpad_bank_rows(self) -> int:
        """Rows of one scratchpad bank."""
        return self.scratchpad_rows // self.scratchpad_banks

    @property
    def accumulator_rows(self) -> int:
        """Rows of all accumulator banks."""
        return self.accumulator_kib * 1024 // self.accumulator_row_bytes

    @property
    def accumulator_bank_rows(self) -> int:
        """Rows of one accumulator bank."""
        return self.accumulator_rows // self.accumulator_banks

    @property
    def bus_bytes(self) -> int:
        """Bytes of one bus beat."""
        return self.bus_bits // 8

    def blocks_of(self, element_bytes: int) -> int:
        """Blocks of ``dim`` elements of so many bytes that one MVIN or MVOUT row may span."""
        return max(1, MAX_REQUEST_BYTES // (element_bytes * self.dim))

    @property
    def max_blocks(self) -> int:
        """Blocks of ``dim`` int8 elements that one MVIN or MVOUT row may span."""
        return self.blocks_of(1)

    @property
    def max_accumulator_blocks(self) -> int:
        """Blocks of ``dim`` int32 elements that one MVIN row may span."""
        return self.blocks_of(ACC_BYTES)

    @property
    def zero_scale_bits(self) -> int:
        """The lowest bits of a float32 that are 0 in every scale."""
        return MANTISSA_BITS - self.scale_bits

    @property
    def stores_int16(self) -> bool:
        """Whether MVOUT can scale accumulator rows to int16: the scores of long rows."""
        return self.normalization and not self.bert

    @property
    def partial_sum_bits(self) -> int:
        """Signed width that holds ``dim`` products of a 9-bit and an 8-bit signed number."""
        return (self.dim * 255 * 128).bit_length() + 1

    @property
    def lanes(self) -> int:
        """Lanes of the normalization unit."""
        return self.vector_lanes or self.dim

    @property
    def row_parts(self) -> int:
        """Parts of a row of ``dim`` elements, which enter the lanes one after the other."""
        return self.dim // self.lanes

    @property
    def weight_stationary(self) -> bool:
        """Whether weights can stay in the array."""
        return self.dataflow != "os"

    @property
    def output_stationary(self) -> bool:
        """Whether results can stay at the array."""
        return self.dataflow != "ws"

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates of a busy array cycle."""
        return self.dim * self.dim


MAX_BANK_ROWS: Final = 1 << 20
"""Largest bank: total rows stay far below the 26 row bits of a local address."""


def _check_kind(name: str, value: object, kind: type) -> None:
    if kind is str:
        if value not in DATAFLOWS:
            raise ConfigError(f"{name}: {value!r} is none of {', '.join(DATAFLOWS)}")
    elif kind is bool:
        if not isinstance(value, bool):
            raise ConfigError(f"{name}: {value!r} is neither true nor false")
    elif not isinstance(value, int) or isinstance(value, bool):
        raise ConfigError(f"{name}: {value!r} is not a whole number")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question for the end of a message; nothing if no known name is near, capitals aside."""
    names = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), names, 1)
    return f"; did you mean {names[near[0]]}?" if near else ""
