"""Registers of CONFIG commands that only Gemmini's programs need, and what is refused without."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from amaranth import Const, Mux, Value

from celosia.hw.lib.settings import Setting, kept_operands
from celosia.isa.bert import STATISTICS, STATISTICS_BITS
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_BERT,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    LOADS,
    SHIFT_BITS,
    Instruction,
)

__all__ = ["POOLING_OPERANDS", "gemmini_refusals", "gemmini_settings"]

POOLING_OPERANDS = {
    "size": "pool_size",
    "stride": "pool_stride",
    "top": "pool_top_pad",
    "left": "pool_left_pad",
    "rows": "pool_rows",
    "cols": "pool_cols",
    "image_rows": "image_rows",
    "image_cols": "image_cols",
}
"""The fields of a pooling window, and the operands of CONFIG_ST that set them."""

Refusal = Callable[[Any], Value]
"""Whether a command with these operands is unsupported."""


def gemmini_settings(config: AcceleratorConfig) -> Iterator[Setting]:
    """The registers of what `config` has of Gemmini."""
    if config.output_stationary:
        yield from _stationary(config)
    if config.convolution:
        yield from _repeats()
        yield from _pooling()
    if config.bert:
        yield from _norms()


def _stationary(config: AcceleratorConfig) -> Iterator[Setting]:
    def changes(operands) -> Value:
        return ~operands.strides_only

    yield Setting(
        register="output_stationary",
        instruction=CONFIG_EX,
        value=lambda operands: ~operands.weight_stationary,
        when=changes,
        init=not config.weight_stationary,
    )
    yield Setting(
        register="shift",
        instruction=CONFIG_EX,
        value=lambda operands: operands.shift[:SHIFT_BITS],
        when=changes,
    )


def _repeats() -> Iterator[Setting]:
    for index in range(len(LOADS)):
        yield from kept_operands(
            CONFIG_LD,
            {f"load_{index}.pixel_repeats": "pixel_repeats"},
            when=lambda operands, index=index: operands.set == index,
        )


def _pooling() -> Iterator[Setting]:
    yield Setting(
        register="pools",
        instruction=CONFIG_ST,
        value=lambda operands: operands.pool_stride != 0,
    )
    windows = {f"pooling.{name}": operand for name, operand in POOLING_OPERANDS.items()}
    yield from kept_operands(CONFIG_ST, windows)
    yield Setting(
        register="row_stride",
        instruction=CONFIG_ST,
        value=lambda operands: operands.pool_pitch * operands.stride,
    )


def _norms() -> Iterator[Setting]:
    def changes(operands) -> Value:
        return ~operands.statistics_only

    yield from kept_operands(CONFIG_ST, {"bert.activation": "activation"})
    yield Setting(register="bert.softmax", instruction=CONFIG_ST, value=lambda _: Const(0, 1))
    yield from kept_operands(CONFIG_BERT, {"bert.softmax": "softmax"}, when=changes)
    yield Setting(
        register="bert.statistics",
        instruction=CONFIG_BERT,
        value=lambda operands: operands.statistics[:STATISTICS_BITS],
    )
    yield from kept_operands(
        CONFIG_BERT, {f"bert.constants.{name}": name for name in ("qb", "qc")}, when=changes
    )
    yield from kept_operands(
        CONFIG_BERT,
        {"bert.constants.ln2": "constant"},
        when=lambda operands: changes(operands) & ~operands.second_constant,
    )
    yield from kept_operands(
        CONFIG_BERT,
        {"bert.constants.ln2_inverse": "constant"},
        when=lambda operands: changes(operands) & operands.second_constant,
    )


def gemmini_refusals(config: AcceleratorConfig) -> Mapping[Instruction, Refusal]:
    """What each CONFIG refuses: what Gemmini has and `config` has not, and its own rules."""
    norms = {CONFIG_BERT: lambda operands: operands.statistics >= STATISTICS}
    return {
        CONFIG_EX: lambda operands: ~operands.strides_only & _wrong_dataflow(config, operands),
        CONFIG_LD: lambda operands: _wrong_repeats(config, operands),
        CONFIG_ST: lambda operands: _wrong_store(config, operands),
        **(norms if config.bert else {}),
    }


def _wrong_dataflow(config: AcceleratorConfig, operands) -> Value:
    both = operands.a_transpose & operands.b_transpose
    if not config.output_stationary:
        return ~operands.weight_stationary | both
    only_b = operands.b_transpose & ~operands.a_transpose
    return Mux(operands.weight_stationary, both if config.weight_stationary else 1, only_b)


def _wrong_repeats(config: AcceleratorConfig, operands) -> Value:
    return Const(0) if config.convolution else operands.pixel_repeats > 1


def _wrong_store(config: AcceleratorConfig, operands) -> Value:
    pools = operands.pool_stride != 0
    wrong_pool = pools & (operands.pool_size == 0) if config.convolution else pools
    return wrong_pool if config.bert else wrong_pool | (operands.activation > 1)
