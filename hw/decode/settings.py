"""Which operand of which command each register of the state keeps, and which scales are long."""

from collections.abc import Iterable, Iterator
from typing import Any

from amaranth import Cat, Module, Signal, Value

from celosia.hw.lib.settings import Setting, kept_operands
from celosia.isa.address import GARBAGE
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    CONFIG_TOKEN,
    KEEP_SCALE,
    LOADS,
    PRELOAD,
    SCALES,
    Instruction,
)
from celosia.isa.registers.errors import Cause

__all__ = ["core_settings", "load_registers", "refuse_long_scales"]


def core_settings(config: AcceleratorConfig) -> Iterator[Setting]:
    """The registers of every accelerator, named as in `celosia.isa.state.state.ArchState`."""
    yield from kept_operands(CONFIG_EX, {name: name for name in ("a_stride", "c_stride")})
    yield Setting(
        register="execute_relu",
        instruction=CONFIG_EX,
        value=lambda operands: operands.activation == 1,
        when=changes_products,
    )
    names = ("a_transpose", "b_transpose", "a_unsigned", "b_type")
    yield from kept_operands(CONFIG_EX, {name: name for name in names}, when=changes_products)
    yield from load_registers(
        ("stride", "block_stride", "scale", "shrunk"), block_stride=config.dim
    )
    yield from kept_operands(CONFIG_ST, {"store_stride": "stride"})
    yield from kept_operands(
        CONFIG_ST,
        {"store_scale": "scale"},
        when=_brings_scale,
    )
    yield Setting(
        register="store_relu",
        instruction=CONFIG_ST,
        value=lambda operands: operands.activation == 1,
    )
    yield from kept_operands(
        CONFIG_DRAIN,
        {
            "bias": "bias",
            "bias_row": "bias_row",
            "drain_int16": "int16",
            "drain_block_stride": "block_stride",
        },
    )
    yield from kept_operands(CONFIG_TOKEN, {"signal": "signal", "signal_token": "signal_id"})
    yield from kept_operands(
        CONFIG_TOKEN, {"wait": "wait", "wait_token": "wait_id", "wait_count": "count"}
    )
    yield from kept_operands(
        PRELOAD,
        {field.name: field.name for field in PRELOAD.operands},
        init={"b": GARBAGE, "c": GARBAGE},
    )


def _brings_scale(operands) -> Value:
    """Whether a CONFIG_ST has a scale."""
    return operands.scale != KEEP_SCALE


def refuse_long_scales(
    m: Module, config: AcceleratorConfig, form: Instruction, operands: Any, cause: Signal
) -> None:
    """Let `cause` be SCALE if a command of `form` brings a scale of more than ``scale_bits``."""
    dropped, scales = config.zero_scale_bits, SCALES.get(form, ())
    if not dropped or not scales:
        return
    long = Cat(getattr(operands, name)[:dropped] for name in scales).any()
    if form is CONFIG_ST:
        long &= _brings_scale(operands)
    with m.If(long):
        m.d.comb += cause.eq(Cause.SCALE)


def changes_products(operands):
    """Whether a CONFIG_EX changes more than strides."""
    return ~operands.strides_only


def load_registers(operands: Iterable[str], **init: int) -> Iterator[Setting]:
    """Registers ``load_N.OPERAND`` for these operands of CONFIG_LD; `init` after reset."""
    names = tuple(operands)
    for index in range(len(LOADS)):
        yield from kept_operands(
            CONFIG_LD,
            {f"load_{index}.{name}": name for name in names},
            when=lambda operands, index=index: operands.set == index,
            init={f"load_{index}.{name}": value for name, value in init.items()},
        )
