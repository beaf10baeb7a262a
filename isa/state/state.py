"""The architectural state: what configuration commands leave behind for later ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from celosia.isa.address import GARBAGE
from celosia.isa.bert import Activation, BertState
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    KEEP_SCALE,
    LOADS,
    ONE,
    SHIFT_BITS,
    Instruction,
    WeightType,
)
from celosia.isa.encoding.tokens import TokenWait
from celosia.isa.state.pooling import Pooling
from celosia.isa.state.transform_state import TransformState

__all__ = ["ArchState", "LoadState", "Values"]

Values = dict[str, int]
"""The operands of a command by field name, as `Instruction.decode` returns them."""

_RELU: Final = 1
_BERT: Final = BertState()


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadState:
    """What CONFIG_LD sets for one of the three MVINs."""

    block_stride: int
    stride: int = 0
    scale: int = ONE
    """Bits of a float32."""
    shrunk: bool = False
    pixel_repeats: int = 1


@dataclass(frozen=True, kw_only=True)
class ArchState:
    """Everything that commands set and later commands use; the defaults are the reset values.

    Immutable: each method returns the state after a legal command with the operands `values`.
    """

    loads: tuple[LoadState, ...]
    """CONFIG_LD's sets, in the order of `LOADS`."""
    transform: TransformState
    output_stationary: bool = False
    shift: int = 0
    a_stride: int = 1
    c_stride: int = 1
    execute_relu: bool = False
    a_transpose: bool = False
    b_transpose: bool = False
    a_unsigned: bool = False
    b_type: int = WeightType.INT8
    """A `WeightType`."""
    store_stride: int = 0
    store_scale: int = ONE
    """The scale of stores, as the bits of a float32."""
    store_relu: bool = False
    store_activation: Activation = Activation.NONE
    """The activation that CONFIG_ST names; if it is NONE, `BertState.softmax` may stand for one."""
    pooling: Pooling | None = None
    bert: BertState = _BERT
    bias: bool = False
    bias_row: int = 0
    drain_int16: bool = False
    """Scaled rows of stores leave as int16, not int8."""
    drain_block_stride: int = 0
    """Local rows from one block of a store to the next; 0 means dim."""
    signal: int | None = None
    """The counter that stores add to."""
    wait: TokenWait | None = None
    """The condition that loads wait for, if there is one."""
    b: int = GARBAGE
    b_cols: int = 0
    b_rows: int = 0
    c: int = GARBAGE
    c_cols: int = 0
    c_rows: int = 0

    @classmethod
    def reset(cls, config: AcceleratorConfig) -> "ArchState":
        """The state after reset."""
        return cls(
            loads=(LoadState(block_stride=config.dim),) * len(LOADS),
            transform=TransformState.reset(config),
            output_stationary=not config.weight_stationary,
        )

    def config_ex(self, values: Values) -> "ArchState":
        strides = replace(self, a_stride=values["a_stride"], c_stride=values["c_stride"])
        if values["strides_only"]:
            return strides
        return replace(
            strides,
            output_stationary=not values["weight_stationary"],
            shift=values["shift"] & ((1 << SHIFT_BITS) - 1),
            execute_relu=values["activation"] == _RELU,
            a_transpose=bool(values["a_transpose"]),
            b_transpose=bool(values["b_transpose"]),
            a_unsigned=bool(values["a_unsigned"]),
            b_type=values["b_type"],
        )

    def config_ld(self, values: Values) -> "ArchState":
        loads = list(self.loads)
        loads[values["set"]] = LoadState(
            block_stride=values["block_stride"],
            stride=values["stride"],
            scale=values["scale"],
            shrunk=bool(values["shrunk"]),
            pixel_repeats=max(1, values["pixel_repeats"]),
        )
        return replace(self, loads=tuple(loads))

    def config_st(self, values: Values) -> "ArchState":
        scale = values["scale"]
        return replace(
            self,
            store_stride=values["stride"],
            store_scale=self.store_scale if scale == KEEP_SCALE else scale,
            store_relu=values["activation"] == _RELU,
            store_activation=Activation(values["activation"]),
            bert=replace(self.bert, softmax=False),
            pooling=Pooling.decode(values),
        )

    def config_bert(self, values: Values) -> "ArchState":
        return replace(self, bert=self.bert.set(values))

    def config_drain(self, values: Values) -> "ArchState":
        return replace(
            self,
            bias=bool(values["bias"]),
            bias_row=values["bias_row"],
            drain_int16=bool(values["int16"]),
            drain_block_stride=values["block_stride"],
        )

    def config_token(self, values: Values) -> "ArchState":
        return replace(
            self,
            signal=values["signal_id"] if values["signal"] else None,
            wait=TokenWait(values["wait_id"], values["count"]) if values["wait"] else None,
        )

    def preload(self, values: Values) -> "ArchState":
        return self._changed(values)

    def config_transform(self, instruction: Instruction, values: Values) -> "ArchState":
        return self._changed({"transform": self.transform.set(instruction, values)})

    def _changed(self, values: Mapping[str, object]) -> "ArchState":
        """With other `values` of some fields, for the commands that programs have most of."""
        state = object.__new__(ArchState)  # `replace` takes many times as long.
        vars(state).update({name: getattr(self, name) for name in self.__dataclass_fields__})
        vars(state).update(values)
        return state
