"""What a command list moves and multiplies, by its commands alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.operations.loops import expand
from celosia.isa.operations.operations import Load, LoadParameters, Operand, Product, Store
from celosia.isa.operations.semantics import step
from celosia.isa.state.state import ArchState

__all__ = ["ProgramWork", "program_work"]


@dataclass(frozen=True, kw_only=True)
class ProgramWork:
    """Bytes and products of a program."""

    read_bytes: int
    write_bytes: int
    macs: int
    """Products of elements that A, the weights and C all have."""


def program_work(
    program: Sequence[Command], config: AcceleratorConfig, most: int | None = None
) -> ProgramWork:
    """The work of `program`, or of its first `most` commands, up to one that breaks a rule.

    Bytes are those of the hardware's counters `read_bytes` and `write_bytes`, if the program ends.
    """
    state = ArchState.reset(config)
    read = written = macs = 0
    weights: Operand | None = None
    for _, command in islice(expand(program, config), most):
        done = step(command, state, config)
        if done.cause:
            break
        state = done.state
        match done.operation:
            case Load() as load:
                read += 0 if load.zero else load.rows * load.cols * load.element_bytes
            case LoadParameters() as load:
                read += load.count * ACC_BYTES
            case Store() as store:
                written += store.rows * store.cols * store.element_bytes
            case Product() as product:
                weights = product.w if product.load_weights else weights
                macs += _macs(product, weights)
            case None:
                pass
    return ProgramWork(read_bytes=read, write_bytes=written, macs=macs)


def _macs(product: Product, weights: Operand | None) -> int:
    a, c = product.a, product.c
    if a is None or c is None or weights is None:
        return 0
    return min(a.rows, c.rows) * min(a.cols, weights.rows) * min(weights.cols, c.cols)
