"""Single random commands of the normalization unit, in the manner of `random_commands`."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_EXPONENT,
    CONFIG_GELU,
    CONFIG_MASK,
    CONFIG_NORM,
    CONFIG_ROWS,
    CONFIG_TRANSFORM,
    NO_KEY_LIMIT,
    TRANSFORM,
    Command,
    ElementType,
    Function,
    float_bits,
)
from celosia.isa.functions.table import FUNCTIONS
from celosia.isa.numerics import round_scales
from celosia.isa.numerics.normalization import EPSILON_BITS
from celosia.lab.fuzz.programs.constants import random_exponent_constants, random_gelu_constants

__all__ = ["STATISTICS_SLOTS", "RandomTransforms"]

STATISTICS_SLOTS: Final = 8
"""Slots that random programs use."""

_SCALES: Final = (1.0, 2.0**-4, 2.0**-10, 2.0**-18, 1e-6, 3e-9, 0.37)
_TYPES: Final = tuple(ElementType)
_FUNCTIONS: Final = (
    *Function,
    *(Function.RESIDUAL, Function.LAYERNORM, Function.MULTIPLY, Function.ROTATE) * 3,
)
"""The functions to draw from; those that need more to be legal appear more often."""


@dataclass(frozen=True)
class RandomTransforms:
    """Draws commands from `random`; `local` draws rows of the accumulator or the scratchpad."""

    config: AcceleratorConfig
    random: Random
    local: Callable[..., int]
    parameter_row: Callable[[], int]

    def makers(self) -> dict[Callable[[], Command], int]:
        """Functions that make a command, and how often they should."""
        return {
            self._config_transform: 12,
            self._config_rows: 5,
            self._config_norm: 3,
            self._config_mask: 3,
            self._config_exponent: 3,
            self._config_gelu: 3,
            self._transform: 30,
        }

    def _flag(self, percent: int = 50) -> bool:
        return self.random.randrange(100) < percent

    def _scale(self) -> int:
        scale = self.random.choice(_SCALES) * (1 if self._flag(90) else -1)
        return float_bits(float(round_scales(scale, self.config.scale_bits)))

    def _stride(self) -> int:
        return self.random.choice((1, 2, 3, self.config.dim))

    def _config_transform(self) -> Command:
        function = self.random.choice(_FUNCTIONS)
        return CONFIG_TRANSFORM.encode(
            function=function,
            type=self.random.choice(FUNCTIONS[function].types or _TYPES),
            bias=self._flag(30),
            # Parameters are any numbers: as scales, most are long.
            column_scale=self._flag(20) and not self.config.zero_scale_bits,
            relu=self._flag(20),
            start=self._flag(),
            finish=self._flag(),
            moments=self._flag(),
            stored=self._flag(),
            zero_point=self.random.randrange(256),
            statistics=self.random.randrange(STATISTICS_SLOTS),
            scale=self._scale(),
            scale2=self._scale(),
        )

    def _config_rows(self) -> Command:
        return CONFIG_ROWS.encode(
            source_stride=self._stride(),
            target_stride=self._stride(),
            residual_stride=self._stride(),
            bias_row=self.parameter_row(),
            scale_row=self.parameter_row(),
            residual=self._row(),
        )

    def _config_norm(self) -> Command:
        return CONFIG_NORM.encode(
            two=self._flag(),
            type2=self.random.choice((ElementType.INT8, ElementType.INT16)),
            shift=self.random.randrange(32),
            shift2=self.random.randrange(8, 24),
            target2_stride=self._stride(),
            parameter_row=self.parameter_row(),
            channels=self.random.choice((7, self.config.dim, 300, 4096)),
            epsilon=self.random.getrandbits(self.random.randint(0, EPSILON_BITS)),
            rms=self._flag(),
        )

    def _config_mask(self) -> Command:
        return CONFIG_MASK.encode(
            causal=self._flag(30),
            keys=NO_KEY_LIMIT if self._flag(30) else self.random.randrange(4 * self.config.dim),
            first_key=self.random.choice((0, 0, self.config.dim, 60_000)),
            first_row=self.random.choice((0, 3, self.config.dim)),
            window=self.random.choice((0, 0, 1, 5, self.config.dim, 4096)),
            ring=self.random.choice((0, 7, 2 * self.config.dim, 4096)),
        )

    def _config_exponent(self) -> Command:
        return CONFIG_EXPONENT.encode() if self._flag() else random_exponent_constants(self.random)

    def _config_gelu(self) -> Command:
        return CONFIG_GELU.encode() if self._flag() else random_gelu_constants(self.random)

    def _row(self) -> int:
        """A plain row of the scratchpad."""
        return LocalAddress(row=LocalAddress.decode(self.local()).row).encode()

    def _columns(self) -> int:
        """Columns: often a multiple of ``dim``, which rotations need."""
        blocks = self.random.randint(1, 3)
        if self._flag(25):
            return self.config.dim * blocks
        return self.random.randint(1, self.config.dim * blocks)

    def _transform(self) -> Command:
        accumulator = self._flag(65)
        row = LocalAddress.decode(self.local(accumulator=accumulator)).row
        return TRANSFORM.encode(
            target=self._row(),
            target2=self._row(),
            local=LocalAddress(row=row, accumulator=accumulator).encode(),
            local_cols=self._columns(),
            local_rows=self.random.choice((1, 1, 2, 3, self.random.randint(0, self.config.dim))),
        )
