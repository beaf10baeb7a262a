"""What a command means: the rules it must keep, the operation it is, the state it leaves.

The rules are those of `docs/architecture.md`.  The RTL's decoder is compared with `check`;
`celosia.isa.execution` executes the operation that `step` returns.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from celosia.isa import encoding
from celosia.isa.address import LocalAddress
from celosia.isa.bert import STATISTICS, Activation, NormCommand, Passing
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_BERT,
    CONFIG_ST,
    KEEP_SCALE,
    SCALES,
    Command,
    Funct,
    Instruction,
    WeightType,
)
from celosia.isa.numerics.float32 import is_long
from celosia.isa.operations.operations import (
    Load,
    LoadParameters,
    Operand,
    Operation,
    Product,
    Resident,
    Store,
)
from celosia.isa.operations.transforms import Transform
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState, Values
from celosia.isa.state.transform_state import TRANSFORM_CONFIGS

__all__ = ["LOOP_FUNCTS", "Step", "check", "functs_not_built", "step"]

_CANDIDATES: Final[dict[int, tuple[Instruction, ...]]] = {
    funct: tuple(known for known in encoding.INSTRUCTIONS.values() if known.funct == funct)
    for funct in Funct
}
_TRANSFORMS: Final = (Funct.CONFIG_TRANSFORM, Funct.TRANSFORM)
"""Functs that only an accelerator with a normalization unit has."""
LOOP_FUNCTS: Final = (Funct.CONFIG_PRODUCTS, Funct.PRODUCTS, Funct.REPEAT, Funct.STRIDE)
"""Functs that stand for other commands (`celosia.isa.operations.loops`): what is left of them is
at fault.
"""
_KEPT: Final = 1 << 14
"""Operands of products that are kept: a program has the same few thousand, over and over."""
_LAST_SET: Final = len(encoding.LOADS) - 1
_ACTIVATIONS: Final = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One command in one state."""

    cause: Cause
    """The first rule that the command breaks; it then does nothing at all."""
    state: ArchState
    """The state after the command."""
    operation: Operation | None = None
    """What it does to memories and the array; None if nothing."""


def check(command: Command, state: ArchState, config: AcceleratorConfig) -> Cause:
    """The first rule that `command` breaks in `state`, or `Cause.NONE`.

    Accesses to memory (DRAM) are not looked at: what they may touch is no property of the command.
    """
    return step(command, state, config).cause


def step(command: Command, state: ArchState, config: AcceleratorConfig) -> Step:
    """What `command` does in `state`."""
    candidates = _CANDIDATES.get(command.funct)
    if candidates is None or command.funct in functs_not_built(config):
        return Step(Cause.UNKNOWN_FUNCT, state)
    if command.funct in LOOP_FUNCTS:
        return Step(Cause.LOOP, state)
    for instruction in candidates:
        if instruction.matches(command) and (config.bert or instruction is not CONFIG_BERT):
            values = instruction.decode(command)
            if configure := _CONFIGURES.get(instruction.name):
                cause, change = configure
                broken = cause(values, config) or _scale_cause(instruction, values, config)
                return Step(broken, state if broken else change(state, values))
            return _operate(_OPERATES[instruction.name](values, state, config), state, config)
    return Step(Cause.UNSUPPORTED, state)


def functs_not_built(config: AcceleratorConfig) -> tuple[Funct, ...]:
    """Functs that an accelerator may lack, and this one does."""
    if config.normalization and config.loop_entries:
        return ()
    transforms = () if config.normalization else _TRANSFORMS
    return transforms if config.loop_entries else (*transforms, *LOOP_FUNCTS)


def _operate(operation: Operation | None, state: ArchState, config: AcceleratorConfig) -> Step:
    cause = Cause.NONE if operation is None else operation.check(config)
    return Step(cause, state, None if cause else operation)


def _legal(_values: Values, _config: AcceleratorConfig) -> Cause:
    return Cause.NONE


def _scale_cause(instruction: Instruction, values: Values, config: AcceleratorConfig) -> Cause:
    scales = [values[name] for name in SCALES.get(instruction, ())]
    if instruction is CONFIG_ST and scales == [KEEP_SCALE]:
        return Cause.NONE
    return Cause.SCALE if any(is_long(each, config.scale_bits) for each in scales) else Cause.NONE


def _config_ex_cause(values: Values, config: AcceleratorConfig) -> Cause:
    if values["strides_only"]:
        return Cause.NONE
    if values["weight_stationary"]:
        known = config.weight_stationary and not (values["a_transpose"] and values["b_transpose"])
    else:
        known = config.output_stationary and values["b_transpose"] <= values["a_transpose"]
    return Cause.NONE if known else Cause.UNSUPPORTED


def _config_ld_cause(values: Values, config: AcceleratorConfig) -> Cause:
    known = values["set"] <= _LAST_SET and (config.convolution or values["pixel_repeats"] <= 1)
    return Cause.NONE if known else Cause.UNSUPPORTED


def _config_st_cause(values: Values, config: AcceleratorConfig) -> Cause:
    pools = config.convolution and values["pool_size"] != 0
    known = config.bert or values["activation"] < _ACTIVATIONS
    return Cause.NONE if known and (pools or not values["pool_stride"]) else Cause.UNSUPPORTED


def _config_drain_cause(values: Values, config: AcceleratorConfig) -> Cause:
    known = config.stores_int16 or not values["int16"]
    return Cause.NONE if known else Cause.UNSUPPORTED


def _config_bert_cause(values: Values, _config: AcceleratorConfig) -> Cause:
    return Cause.NONE if values["statistics"] < STATISTICS else Cause.UNSUPPORTED


_Check = Callable[[Values, AcceleratorConfig], Cause]
_Change = Callable[[ArchState, Values], ArchState]
_CONFIGURES: Final[dict[str, tuple[_Check, _Change]]] = {
    "config_ex": (_config_ex_cause, ArchState.config_ex),
    "config_ld": (_config_ld_cause, ArchState.config_ld),
    "config_st": (_config_st_cause, ArchState.config_st),
    "config_bert": (_config_bert_cause, ArchState.config_bert),
    "config_drain": (_config_drain_cause, ArchState.config_drain),
    "config_token": (_legal, ArchState.config_token),
    "preload": (_legal, ArchState.preload),
    **{
        known.name: (
            _legal,
            lambda state, values, known=known: state.config_transform(known, values),
        )
        for known in TRANSFORM_CONFIGS
    },
}


def _mvin(number: int, values: Values, state: ArchState) -> Load | None:
    if not values["local_rows"] or not values["local_cols"]:
        return None
    load, local = state.loads[number], LocalAddress.decode(values["local"])
    return Load(
        address=values["dram"],
        stride=load.stride,
        local=local,
        rows=values["local_rows"],
        cols=values["local_cols"],
        pitch=load.block_stride,
        shrunk=load.shrunk,
        scale=load.scale,
        wait=state.wait,
        repeats=1 if local.accumulator else load.pixel_repeats,
    )


def _mvin_param(
    values: Values, state: ArchState, _config: AcceleratorConfig
) -> LoadParameters | None:
    if not values["count"]:
        return None
    return LoadParameters(
        address=values["dram"], row=values["row"], count=values["count"], wait=state.wait
    )


def _mvout(values: Values, state: ArchState, config: AcceleratorConfig) -> Store | None:
    pooling = state.pooling
    some = pooling.rows and pooling.cols if pooling else values["local_rows"]
    if not some or not values["local_cols"]:
        return None
    local = LocalAddress.decode(values["local"])
    return Store(
        address=values["dram"],
        stride=state.store_stride,
        local=local,
        rows=pooling.pixels if pooling else values["local_rows"],
        cols=values["local_cols"],
        pitch=state.drain_block_stride or config.dim,
        scale=state.store_scale,
        relu=state.store_relu,
        bias_row=state.bias_row if local.accumulator and state.bias else None,
        int16=state.drain_int16 and local.accumulator and not local.full,
        signal=state.signal,
        pooling=pooling,
        passing=_passing(local, state) if config.bert else None,
    )


def _passing(local: LocalAddress, state: ArchState) -> Passing | None:
    if not local.accumulator or local.full:
        return None
    softmax = state.bert.softmax and state.store_activation is Activation.NONE
    return Passing(
        command=NormCommand(local.norm),
        activation=Activation.SOFTMAX if softmax else state.store_activation,
        state=state.bert,
    )


def _transform(values: Values, state: ArchState, _config: AcceleratorConfig) -> Transform | None:
    if not values["local_rows"] or not values["local_cols"]:
        return None
    return Transform(
        state=state.transform,
        local=LocalAddress.decode(values["local"]),
        rows=values["local_rows"],
        cols=values["local_cols"],
        target=LocalAddress.decode(values["target"]),
        target2=LocalAddress.decode(values["target2"]),
    )


def _compute(
    values: Values, state: ArchState, config: AcceleratorConfig, preloaded: bool
) -> Product:
    second = values["d"], values["d_rows"], values["d_cols"]
    staying = state.b, state.b_rows, state.b_cols
    stationary = state.output_stationary
    w, d = (second, staying) if stationary else (staying, second)
    int4 = state.b_type == WeightType.INT4
    fold = WeightType.INT4.tile_rows(config.dim) if int4 else None
    return Product(
        load_weights=preloaded or stationary,
        a=_operand(
            values["a"],
            values["a_rows"],
            values["a_cols"],
            stride=state.a_stride,
            transposed=state.a_transpose,
        ),
        w=_operand(*w, transposed=state.b_transpose, fold=fold)
        if preloaded or stationary
        else None,
        d=_operand(*d) if preloaded or not stationary else None,
        c=_operand(state.c, state.c_rows, state.c_cols, stride=state.c_stride),
        a_unsigned=state.a_unsigned,
        relu=state.execute_relu,
        resident=Resident(start=preloaded, shift=state.shift) if stationary else None,
    )


@lru_cache(maxsize=_KEPT)
def _operand(
    word: int,
    rows: int,
    cols: int,
    *,
    stride: int = 1,
    transposed: bool = False,
    fold: int | None = None,
) -> Operand | None:
    if LocalAddress.is_garbage(word):
        return None
    return Operand(
        local=LocalAddress.decode(word),
        rows=rows,
        cols=cols,
        stride=stride,
        transposed=transposed,
        fold=fold,
    )


def _nothing(_values: Values, _state: ArchState, _config: AcceleratorConfig) -> None:
    return None


_OPERATES: Final[dict[str, Callable[[Values, ArchState, AcceleratorConfig], Operation | None]]] = {
    "mvin": lambda values, state, _config: _mvin(0, values, state),
    "mvin2": lambda values, state, _config: _mvin(1, values, state),
    "mvin3": lambda values, state, _config: _mvin(2, values, state),
    "mvin_param": _mvin_param,
    "mvout": _mvout,
    "compute_preloaded": partial(_compute, preloaded=True),
    "compute_accumulated": partial(_compute, preloaded=False),
    "transform": _transform,
    "flush": _nothing,
    "fence": _nothing,
}
