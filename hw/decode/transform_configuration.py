"""What the CONFIG_TRANSFORM commands have set: `TransformState` in hardware."""

from types import SimpleNamespace
from typing import Any

from amaranth import Module, Signal
from amaranth.hdl import Value
from amaranth.lib import data

from celosia.hw.decode.settings import refuse_long_scales
from celosia.hw.lib.layouts import operands
from celosia.isa import encoding
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Instruction
from celosia.isa.registers.errors import Cause
from celosia.isa.state.transform_state import TRANSFORM_CONFIGS, TransformState

__all__ = ["TransformFields", "configure_transform"]


class TransformFields:
    """Registers for the fields of each instruction, as attributes."""

    def __init__(self, config: AcceleratorConfig):
        reset = TransformState.reset(config)

        def registers(instruction: Instruction) -> Any:
            return SimpleNamespace(**{
                field.name: Signal(
                    field.bits,
                    init=reset.get(instruction, field.name),
                    name=f"{instruction.name}_{field.name}",
                )
                for field in instruction.operands
            })

        self.transform = registers(encoding.CONFIG_TRANSFORM)
        self.rows = registers(encoding.CONFIG_ROWS)
        self.norm = registers(encoding.CONFIG_NORM)
        self.mask = registers(encoding.CONFIG_MASK)
        self.exponent = registers(encoding.CONFIG_EXPONENT)
        self.gelu = registers(encoding.CONFIG_GELU)
        self.by_instruction = dict(
            zip(
                TRANSFORM_CONFIGS,
                (self.transform, self.rows, self.norm, self.mask, self.exponent, self.gelu),
                strict=True,
            )
        )


def configure_transform(
    m: Module,
    config: AcceleratorConfig,
    command: data.View,
    apply: Value,
    cause: Signal,
    fields: TransformFields,
) -> None:
    """Set `fields` as `command`, a CONFIG_TRANSFORM, says when `apply`; `cause` if it is wrong."""
    (select, *_) = encoding.CONFIG_TRANSFORM.fields
    with m.Switch(command.rs1[select.low : select.low + select.bits]):
        for instruction, registers in fields.by_instruction.items():
            (chosen,) = (field.fixed for field in instruction.fields if field.fixed is not None)
            values = operands(instruction, command)
            with m.Case(chosen):
                refuse_long_scales(m, config, instruction, values, cause)
                with m.If(apply):
                    m.d.sync += [
                        register.eq(getattr(values, name))
                        for name, register in vars(registers).items()
                    ]
        with m.Default():
            m.d.comb += cause.eq(Cause.UNSUPPORTED)
