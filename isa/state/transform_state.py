"""What the CONFIG_TRANSFORM commands leave behind for TRANSFORM."""

from dataclasses import dataclass
from typing import Final, Self

from celosia.isa import encoding
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Instruction

__all__ = ["TRANSFORM_CONFIGS", "TransformState"]

TRANSFORM_CONFIGS: Final = (
    encoding.CONFIG_TRANSFORM,
    encoding.CONFIG_ROWS,
    encoding.CONFIG_NORM,
    encoding.CONFIG_MASK,
    encoding.CONFIG_EXPONENT,
    encoding.CONFIG_GELU,
)

_STRIDES: Final = ("source_stride", "target_stride", "residual_stride", "target2_stride")


@dataclass(frozen=True, slots=True)
class TransformState:
    """The fields of each CONFIG_TRANSFORM instruction, as its last command set them.

    The defaults of the fields are the values after reset, strides excepted: they are ``dim``.
    """

    fields: dict[str, dict[str, int]]
    """Values of the configuring instructions' operands, by the names of instruction and field."""

    @classmethod
    def reset(cls, config: AcceleratorConfig) -> Self:
        """The state after reset."""
        return cls({
            instruction.name: {
                field.name: config.dim if field.name in _STRIDES else field.default
                for field in instruction.operands
            }
            for instruction in TRANSFORM_CONFIGS
        })

    def set(self, instruction: Instruction, values: dict[str, int]) -> Self:
        """The state after a command of `instruction` with the operands `values`."""
        return type(self)({**self.fields, instruction.name: values})

    def get(self, instruction: Instruction, field: str) -> int:
        """The value of a field."""
        return self.fields[instruction.name][field]
