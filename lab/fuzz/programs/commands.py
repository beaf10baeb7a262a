"""Single random commands on a few local rows; many of them are legal.

What the odds are for: results that are rarely all zero or all saturated, sizes that are often full
and sometimes zero, strides that let rows meet, and addresses that fit no alignment.
"""

from dataclasses import dataclass
from random import Random
from typing import Final

from celosia.isa.address import GARBAGE, NORM_BITS, LocalAddress
from celosia.isa.bert import STATISTICS
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_BERT,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    CONFIG_TOKEN,
    FENCE,
    FLUSH,
    KEEP_SCALE,
    LOADS,
    MVIN_PARAM,
    MVOUT,
    PRELOAD,
    Command,
    Instruction,
    float_bits,
)
from celosia.isa.encoding.tokens import TOKENS
from celosia.isa.numerics import round_scales
from celosia.lab.fuzz.programs.ordering import Ordering
from celosia.lab.fuzz.programs.transforms import RandomTransforms
from celosia.sw.driver.program_file import Region

__all__ = ["RandomCommands", "Surroundings", "Window"]

_SCALES: Final = (1.0, 0.5, 0.37, -1.0, 2.5, 0.003, 1e-4, -0.02, 100.0, 0.0)
_ODD_SCALES: Final = (0x80000000, 0x00000001, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F7FFFFF)
"""Bits: negative zero, the smallest subnormal, the infinities, a NaN, the largest number."""


@dataclass(frozen=True)
class Window:
    """Local rows that a program uses."""

    first: int
    rows: int

    def holds(self, first: int, last: int) -> bool:
        """Whether rows `first` to `last` are in the window."""
        return self.first <= first and last < self.first + self.rows


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Where a program's commands may reach."""

    scratchpad: tuple[Window, ...]
    accumulator: tuple[Window, ...]
    parameters: Window
    sources: tuple[Region, ...]
    """Memory that may be read."""
    targets: tuple[Region, ...]
    """Memory that may be written."""


class RandomCommands:
    """Draws commands from `random`; nothing is promised but that they can be encoded.

    `ordering` tells what was stored, to wait for it and to load it.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        places: Surroundings,
        random: Random,
        ordering: Ordering,
    ):
        self.config, self.places, self.random = config, places, random
        self._ordering = ordering
        self._makers = {
            self._config_ld: 8,
            self._config_ex: 5,
            self._config_st: 5,
            self._config_drain: 4,
            self._config_token: 10,
            self._mvin: 22,
            self._mvin_param: 4,
            self._mvout: 18,
            self._preload: 16,
            self._compute: 26,
            self._flush: 1,
            FENCE.encode: 2,
        }
        if config.bert:
            self._makers |= {self._config_bert: 8}
        if config.normalization:
            transforms = RandomTransforms(config, random, self.local, self._parameter_row)
            self._makers |= transforms.makers()

    def draw(self) -> Command:
        """A command of any kind."""
        return self.random.choices(list(self._makers), list(self._makers.values()))[0]()

    def _flag(self, percent: int = 50) -> bool:
        return self.random.randrange(100) < percent

    def _extent(self, most: int) -> int:
        """A size that is often full, sometimes zero, and otherwise anything."""
        return self.random.choice((self.config.dim, self.random.randint(1, most), most) * 5 + (0,))

    def _scale(self) -> int:
        if self._flag(10):
            short = self.config.zero_scale_bits
            return self.random.choice(_ODD_SCALES) >> short << short
        scale = 1.0 if self._flag() else self.random.choice(_SCALES)
        return float_bits(float(round_scales(scale, self.config.scale_bits)))

    def local(self, *, accumulator: bool = False, accumulate: bool = False) -> int:
        """Some row of a window."""
        places = self.places
        window = self.random.choice(places.accumulator if accumulator else places.scratchpad)
        noise = self._flag(5)
        return LocalAddress(
            row=self.random.randrange(window.first, window.first + window.rows),
            accumulator=accumulator,
            accumulate=accumulate or (noise and self._flag()),
            full=noise and self._flag(),
            norm=self.random.randrange(1 << NORM_BITS) if noise else 0,
        ).encode()

    def _address(self, regions: tuple[Region, ...]) -> int:
        region = self.random.choice(regions)
        return self.random.randrange(region.address, region.end)

    def _source(self) -> int:
        """An address to load from; often one that was stored to."""
        if self._ordering.writes and self._flag(25):
            first, last = self.random.choice(self._ordering.writes)
            return self.random.randint(first, last)
        return self._address(self.places.sources)

    def _parameter_row(self) -> int:
        parameters = self.places.parameters
        return self.random.randrange(parameters.first, parameters.first + parameters.rows)

    def _flush(self) -> Command:
        return FLUSH.encode(skip=self._flag())

    def _config_ld(self) -> Command:
        dim = self.config.dim
        stride = self.random.choice((0, dim, self.random.randrange(6 * dim), (1 << 64) - dim - 1))
        return CONFIG_LD.encode(
            set=self.random.randrange(len(LOADS)),
            stride=stride,
            block_stride=self.random.choice((0, 1, dim, dim, self.random.randrange(2 * dim))),
            pixel_repeats=self._repeats(),
            shrunk=self._flag(40),
            scale=self._scale(),
        )

    def _repeats(self) -> int:
        if not self.config.convolution or self._flag():
            return self.random.randrange(2)
        return self.random.choice((2, 2, 3, 4, self.random.randint(2, self.config.dim)))

    def _config_ex(self) -> Command:
        both = self.config.dataflow == "both"
        weight_stationary = self._flag() if both else self.config.weight_stationary
        stationary = {} if weight_stationary else {"shift": self._shift()}
        return CONFIG_EX.encode(
            weight_stationary=weight_stationary,
            **stationary,
            strides_only=self._flag(20),
            activation=self.random.randrange(3),
            a_transpose=self._flag(25),
            b_transpose=self._flag(25),
            a_unsigned=self._flag(30),
            b_type=self._flag(30),
            a_stride=self.random.choice((1, 1, 1, 0, 2, 3)),
            c_stride=self.random.choice((1, 1, 1, 0, 2, 3)),
        )

    def _shift(self) -> int:
        """A shift for results that stay at the array; its upper bits are ignored."""
        return self.random.choice((0, 0, 1, 2, 5, 8, self.random.randrange(1 << 6)))

    def _config_st(self) -> Command:
        row = self.config.dim * self.random.choice((1, ACC_BYTES))
        return CONFIG_ST.encode(
            stride=self.random.choice((0, row, row, self.random.randrange(2 * row))),
            scale=KEEP_SCALE if self._flag(10) else self._scale(),
            activation=self.random.randrange(4 if self.config.bert else 2),
            **(self._pooling() if self.config.convolution and self._flag(40) else {}),
        )

    def _config_bert(self) -> Command:
        def constant() -> int:
            size = self.random.choice((4, 10, 10, 20, 32))
            return self.random.randint(-(1 << size - 1), (1 << size - 1) - 1) % (1 << 32)

        return CONFIG_BERT.encode(
            statistics=self.random.choice((0, 0, 1, STATISTICS - 1)),
            softmax=self._flag(40),
            statistics_only=self._flag(40),
            second_constant=self._flag(),
            constant=constant(),
            qb=constant(),
            qc=constant(),
        )

    def _pooling(self) -> dict[str, int]:
        """Windows over a small image, some of them beside it."""
        cols = self.random.randint(0 if self._flag(5) else 1, 4)
        return {
            "pool_stride": self.random.randint(1, 3),
            "pool_size": self.random.randint(0 if self._flag(5) else 1, 3),
            "pool_top_pad": self.random.choice((0, 1, self.random.randrange(4))),
            "pool_left_pad": self.random.choice((0, 1, self.random.randrange(4))),
            "pool_rows": self.random.randint(0 if self._flag(5) else 1, 4),
            "pool_cols": cols,
            "pool_pitch": self.random.choice((cols, cols + 2, 0)),
            "image_rows": self.random.randrange(5),
            "image_cols": self.random.randrange(5),
        }

    def _config_drain(self) -> Command:
        return CONFIG_DRAIN.encode(
            bias=self._flag(),
            int16=self._flag(40 if self.config.stores_int16 else 2),
            bias_row=self._parameter_row(),
            block_stride=self.random.choice((0, 1, self.random.randrange(2 * self.config.dim))),
        )

    def _config_token(self) -> Command:
        token = max(range(TOKENS), key=self._ordering.count) if self._flag(80) else self._token()
        most = self._ordering.count(token)
        return CONFIG_TOKEN.encode(
            signal=self._flag(90),
            signal_id=self._token(),
            wait=self._flag(75),
            wait_id=token,
            count=self.random.choice((most, most, self.random.randint(0, most))),
        )

    def _token(self) -> int:
        """One is used again and again."""
        return self.random.choice((0, 0, 0, TOKENS - 1, self.random.randrange(TOKENS)))

    def _mvin(self) -> Command:
        accumulator = self._flag(35)
        return self.random.choice(LOADS).encode(
            dram=0 if self._flag(5) else self._source(),
            local=self.local(accumulator=accumulator, accumulate=self._flag()),
            local_cols=self._columns(),
            local_rows=self._extent(2 * self.config.dim),
        )

    def _columns(self) -> int:
        if self.config.convolution and self._flag(30):
            return self.random.randint(1, self.config.dim // 2)
        blocks = self.random.randint(1, self.config.max_blocks) if self._flag(40) else 1
        return (blocks - 1) * self.config.dim + self._extent(self.config.dim)

    def _mvin_param(self) -> Command:
        first, rows = self.places.parameters.first, self.places.parameters.rows
        return MVIN_PARAM.encode(
            dram=self._source(),
            row=self.random.randrange(first, first + rows),
            count=self._extent(3 * self.config.dim),
        )

    def _mvout(self) -> Command:
        accumulator = self._flag(70)
        local = self.local(accumulator=accumulator)
        row = LocalAddress.decode(local).row
        if accumulator and self._flag(30):
            local = LocalAddress(row=row, accumulator=True, full=True).encode()
        elif accumulator and self.config.bert and self._flag(60):
            norm = self.random.randrange(1 << NORM_BITS)
            local = LocalAddress(row=row, accumulator=True, norm=norm).encode()
        return MVOUT.encode(
            dram=self._address(self.places.targets),
            local=local,
            local_cols=self._columns(),
            local_rows=self._extent(2 * self.config.dim),
        )

    def _preload(self) -> Command:
        dim = self.config.dim
        c = self.local(accumulator=self._flag(75), accumulate=self._flag(60))
        return PRELOAD.encode(
            b=GARBAGE if self._flag(10) else self.local(),
            b_cols=min(self._extent(dim), dim),
            b_rows=min(self._extent(dim), dim),
            c=GARBAGE if self._flag(8) else c,
            c_cols=min(self._extent(dim), dim),
            c_rows=self._streamed_rows(),
        )

    def _streamed_rows(self) -> int:
        """A number of streamed rows: more than `dim` only if weights stay in the array."""
        dim = self.config.dim
        return self._extent(dim if self.config.output_stationary and self._flag(80) else 3 * dim)

    def _compute(self) -> Command:
        dim = self.config.dim
        instruction = COMPUTE_PRELOADED if self._flag(70) else COMPUTE_ACCUMULATED
        if self.config.output_stationary:
            return self._compute_either(instruction)
        return instruction.encode(
            a=GARBAGE if self._flag(5) else self.local(),
            a_cols=min(self._extent(dim), dim),
            a_rows=self._extent(self.random.choice((dim, 3 * dim))),
            d=GARBAGE if self._flag(60) else self.local(),
            d_cols=min(self._extent(dim), dim),
            d_rows=self._extent(3 * dim),
        )

    def _compute_either(self, instruction: Instruction) -> Command:
        """A computation whose sizes suit weights as well as sums that stay in the array."""
        dim = self.config.dim
        return instruction.encode(
            a=GARBAGE if self._flag(5) else self.local(),
            a_cols=min(self._extent(dim), dim),
            a_rows=self._streamed_rows(),
            d=GARBAGE if self._flag(40) else self.local(),
            d_cols=min(self._extent(dim), dim),
            d_rows=self._streamed_rows(),
        )
