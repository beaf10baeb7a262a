"""What the contract says of a command, whatever its operands are and whatever was configured.

`celosia.isa.operations.semantics.step` itself is run, on numbers that are not known: those of
`tests.support.symbolic`.  The state is that of the decoder's registers: a name of a register is
that of a variable.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Final, get_args
from unittest.mock import patch

from amaranth.hdl import Shape
from amaranth.lib import data

from celosia.hw.decode.configuration import State
from celosia.isa import address, bert
from celosia.isa.address import LocalAddress
from celosia.isa.bert import Activation, BertState
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import LOADS, SHIFT_BITS, WORD_BITS, Command
from celosia.isa.encoding.tokens import TokenWait
from celosia.isa.operations import operations, semantics, transforms
from celosia.isa.operations.operations import Operand, Product
from celosia.isa.operations.semantics import step
from celosia.isa.operations.transforms import Transform
from celosia.isa.state import state as state_module
from celosia.isa.state.pooling import Pooling
from celosia.isa.state.state import ArchState, LoadState
from celosia.isa.state.transform_state import TRANSFORM_CONFIGS, TransformState
from tests.support.offers import offer
from tests.support.symbolic import Outcomes, choose, explore, number, summarized, truth
from tests.support.terms import variable

__all__ = [
    "PITCH",
    "ROW_STRIDE",
    "Decoding",
    "decoding",
    "ghosts",
    "kept",
    "observed",
    "outcomes",
    "registers",
    "state_of",
]

PITCH: Final = "pitch"
"""Pixels from one pooled row to the next, of which the decoder keeps a multiple only."""
ROW_STRIDE: Final = "pooling.row_stride"
"""That multiple: bytes from one pooled row to the next."""
_PITCH_BITS: Final = 8

_SUMMARIZED: Final = (
    *((Operand, name) for name in ("lines", "last", "exists", "overlaps", "replaces")),
    *((Product, name) for name in ("_spoils", "_fits_array")),
    *((Transform, name) for name in ("_scale_keeps_order", "_has_shape", "_exists", "_overlaps")),
)
"""What takes many decisions for one number."""

_KEPT: Final = ((LocalAddress, "decode"), (semantics, "_operand"))
"""What is kept by the values of its arguments, which are not known here."""

Read = Callable[[str], Any]
"""The value of a register by name."""


def registers(config: AcceleratorConfig) -> dict[str, int]:
    """The registers of the decoder that hold the state, and their widths."""
    transform = {
        f"{instruction.name}.{field.name}": field.bits
        for instruction in TRANSFORM_CONFIGS
        for field in instruction.operands
    }
    return _leaves(State(config)) | (transform if config.normalization else {})


def _leaves(layout: data.StructLayout, before: str = "") -> dict[str, int]:
    found = {}
    for name, shape in layout.members.items():
        if isinstance(shape, data.StructLayout):
            found |= _leaves(shape, f"{before}{name}.")
        else:
            found[before + name] = Shape.cast(shape).width
    return found


def ghosts(config: AcceleratorConfig) -> dict[str, int]:
    """What the state has and the decoder does not need, and its width."""
    return (
        ({PITCH: _PITCH_BITS} if config.convolution else {})
        | ({} if config.output_stationary else {"shift": SHIFT_BITS})
        | ({} if config.bert else {"activation": 1})
    )


class _Lazy:
    """An `ArchState` whose fields are made when they are read: each may take decisions."""

    __dataclass_fields__ = ArchState.__dataclass_fields__

    def __init__(self, make: Callable[[str], Any]):
        self._make = make

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ArchState

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dataclass_fields__:
            return getattr(ArchState, name).__get__(self)
        value = self._make(name)
        setattr(self, name, value)
        return value


def state_of(config: AcceleratorConfig, read: Read) -> ArchState:
    """The state that the decoder's registers stand for."""
    made: dict[str, Callable[[], Any]] = {
        "loads": lambda: tuple(_load_of(config, read, f"load_{n}") for n in range(len(LOADS))),
        "transform": lambda: _transform_of(config, read),
        "store_activation": lambda: Activation(
            read("bert.activation" if config.bert else "activation")
        ),
        "bert": lambda: _bert_of(read) if config.bert else BertState(),
        "pooling": lambda: _pooling_of(read) if config.convolution and read("pools") else None,
        "signal": lambda: read("signal_token") if read("signal") else None,
        "wait": lambda: TokenWait(read("wait_token"), read("wait_count")) if read("wait") else None,
        "output_stationary": lambda: config.output_stationary and read("output_stationary"),
    }
    lazy: Any = _Lazy(lambda name: made[name]() if name in made else read(name))
    return lazy


def _load_of(config: AcceleratorConfig, read: Read, name: str) -> LoadState:
    repeats = read(f"{name}.pixel_repeats") if config.convolution else 1
    return LoadState(
        **{part: read(f"{name}.{part}") for part in ("block_stride", "stride", "scale", "shrunk")},
        pixel_repeats=choose(repeats == 0, 1, repeats),
    )


def _transform_of(config: AcceleratorConfig, read: Read) -> TransformState:
    if not config.normalization:
        return TransformState.reset(config)
    return TransformState({
        instruction.name: {
            field.name: read(f"{instruction.name}.{field.name}") for field in instruction.operands
        }
        for instruction in TRANSFORM_CONFIGS
    })


def _bert_of(read: Read) -> BertState:
    constants = ("qb", "qc", "ln2", "ln2_inverse")
    return BertState(
        statistics=read("bert.statistics"),
        softmax=read("bert.softmax"),
        **{name: read(f"bert.constants.{name}") for name in constants},
    )


def _pooling_of(read: Read) -> Pooling:
    kept = [field.name for field in fields(Pooling) if field.name != PITCH]
    return Pooling(pitch=read(PITCH), **{name: read(f"pooling.{name}") for name in kept})


def flat(value: Any, name: str = "") -> dict[str, Any]:
    """The numbers in `value` by where they stand; `name?`: whether there is something."""
    parts: dict[str, Any] | None = None
    if isinstance(value, Enum):
        return {name: value.value}
    if isinstance(value, Mapping):
        parts = dict(value)
    elif isinstance(value, tuple | list):
        parts = {str(place): part for place, part in enumerate(value)}
    elif hasattr(type(value), "__dataclass_fields__"):
        parts = {}
        for field in fields(value):
            part = getattr(value, field.name)
            if type(None) in get_args(field.type):
                parts[f"{field.name}?"] = int(part is not None)
            if part is not None:
                parts[field.name] = part
    if parts is None:
        return {name: value}
    return {
        key: inner
        for part, one in parts.items()
        for key, inner in flat(one, f"{name}.{part}" if name else part).items()
    }


def observed(state: ArchState) -> dict[str, Any]:
    """The numbers that a state consists of."""
    pooling = state.pooling
    return flat(state) | ({ROW_STRIDE: pooling.pitch * state.store_stride} if pooling else {})


@dataclass(frozen=True)
class Decoding:
    """What becomes of a command."""

    offer: dict[str, Any] | None
    """What the decoder offers: numbers by field; None: nothing."""
    after: dict[str, Any] | None
    """The next state (`observed`); None: the same one."""


def decoding(config: AcceleratorConfig, command: Command, state: ArchState) -> Decoding:
    """What the contract says of `command` in `state`."""
    result = step(command, state, config)
    offered = offer(config, command, result.cause, result.operation)
    if offered is not None and "fields" in offered:
        offered[offered["kind"].name.lower()] = offered.pop("fields")
        offered["ranges"] = [
            {"valid": 0} if row is None else {"valid": 1, "first": row[0], "last": row[1]}
            for row in offered["ranges"]
        ]
    return Decoding(
        None if offered is None else flat(offered),
        None if result.state is state else observed(result.state),
    )


def outcomes(config: AcceleratorConfig, funct: int) -> Outcomes:
    """The `Decoding` of every command with `funct` in every state.

    Variables are the registers, `ghosts`, and the operands rs1 and rs2.
    """
    words = [variable(name, WORD_BITS) for name in ("rs1", "rs2")]
    read = _variables(config)

    def run() -> Decoding:
        command = Command(funct, *map(number, words))
        return decoding(config, command, state_of(config, read))

    with _undecided():
        return explore(run)


def kept(config: AcceleratorConfig) -> Outcomes:
    """What the registers say of the state (`observed`), as far as they do."""
    unknown = {"shift", "store_activation", f"pooling.{PITCH}"}
    if config.output_stationary:
        unknown.remove("shift")
    if config.bert:
        unknown.remove("store_activation")
    read = _variables(config)

    def run() -> dict[str, Any]:
        state = state_of(config, read)
        found = flat(state) | ({ROW_STRIDE: read("row_stride")} if state.pooling else {})
        return {name: value for name, value in found.items() if name not in unknown}

    with _undecided():
        return explore(run)


def _variables(config: AcceleratorConfig) -> Read:
    widths = registers(config) | ghosts(config)
    return lambda name: number(variable(name, widths[name]))


@contextlib.contextmanager
def _undecided() -> Iterator[None]:
    """Take no decisions for what is only handed on, and few for the shape of a product."""
    with contextlib.ExitStack() as stack:
        for module in (address, bert, operations, state_module, transforms):
            stack.enter_context(patch.object(module, "bool", truth, create=True))
        for owner, name in _KEPT:
            known: Any = getattr(owner, name)
            stack.enter_context(patch.object(owner, name, staticmethod(known.__wrapped__)))
        stack.enter_context(summarized(*_SUMMARIZED))
        yield
