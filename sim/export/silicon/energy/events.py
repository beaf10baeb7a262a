"""Events that take energy, from the counters of a run and from the commands of its program.

Nothing is counted for this in the RTL.  The counters know what the array, the lanes and the bus
did; rows that are read and written in the local memories follow from the operations.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from celosia.isa.address import LocalAddress
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.operations.loops import expand
from celosia.isa.operations.operations import (
    Load,
    LoadParameters,
    Operation,
    Product,
    Store,
)
from celosia.isa.operations.semantics import step
from celosia.isa.operations.transforms import Rows, Transform
from celosia.isa.registers.events import COUNTERS
from celosia.isa.state.state import ArchState
from celosia.sim.profile.profile import Profile
from celosia.sim.run.programs.program_work import program_work
from celosia.sim.support.problems import InputError

__all__ = ["BUS", "EVENTS", "Event", "count_events", "memory_events", "operations"]


@dataclass(frozen=True)
class Event:
    """Something that takes energy."""

    meaning: str
    normalization: bool = False
    """Only the normalization unit causes it."""


EVENTS: Final[Mapping[str, Event]] = {
    "mac": Event("A cell of the array multiplies int8 and adds int32; padding is not counted."),
    "bus_read_byte": Event("A byte is read over the bus."),
    "bus_write_byte": Event("A byte is written over the bus."),
    "scratchpad_read_byte": Event("A byte of a row that products or stores read."),
    "scratchpad_write_byte": Event("A byte of a row that loads or products write."),
    "accumulator_read_byte": Event("A byte of a row that stores read, or that is added to."),
    "accumulator_write_byte": Event("A byte of a row that loads or products write."),
    "parameter_read_byte": Event("A byte of a row that stores read."),
    "parameter_write_byte": Event("A byte of a row that loads write."),
    "lane_step": Event("A lane takes an element.", normalization=True),
    "transform_scratchpad_read_byte": Event("A byte that transforms read.", normalization=True),
    "transform_scratchpad_write_byte": Event("A byte that transforms write.", normalization=True),
    "transform_accumulator_read_byte": Event("A byte that transforms read.", normalization=True),
    "transform_parameter_read_byte": Event("A byte that transforms read.", normalization=True),
}
"""What is counted, in the order of reports."""

BUS: Final = ("bus_read_byte", "bus_write_byte")
"""What happens outside of the chip."""
_OF_COUNTERS: Final = ("mac", *BUS, "lane_step")
_STEPS: Final = tuple(counter.name for counter in COUNTERS if counter.doc.startswith("A step of "))


def count_events(path: str, run: Mapping[str, Any]) -> dict[str, int]:
    """The events of a run's report, read from `path`, by name; what is not known is not there.

    The counters tell the first ones.  What the local memories did follows from the program, which a
    run with a profile has in its report.  Raises `InputError` if that is not what was counted.
    """
    config = AcceleratorConfig().with_values(dict(run["config"]))
    counted = _counted(run["counters"], config)
    if run["profile"] is None:
        return counted
    program = Profile.from_document(run["profile"]).commands
    work = program_work(program, config)
    if (work.read_bytes, work.write_bytes) != (counted["bus_read_byte"], counted["bus_write_byte"]):
        raise InputError(
            f"{path}: profile.program: reads {work.read_bytes:,} bytes and writes "
            f"{work.write_bytes:,}, but the run has read {counted['bus_read_byte']:,} and written "
            f"{counted['bus_write_byte']:,}"
        )
    return counted | memory_events(program, config)


def _counted(counters: Mapping[str, int], config: AcceleratorConfig) -> dict[str, int]:
    return {
        "mac": counters["array_rows"] * config.dim**2,
        "bus_read_byte": counters["read_bytes"],
        "bus_write_byte": counters["write_bytes"],
        "lane_step": config.lanes * sum(counters.get(name, 0) for name in _STEPS),
    }


def memory_events(program: Iterable[Command], config: AcceleratorConfig) -> dict[str, int]:
    """The events of the local memories that the commands of `program` cause, by name."""
    counted = {name: 0 for name in EVENTS if name not in _OF_COUNTERS}
    for operation in operations(program, config):
        for name, count in _events(operation, config.dim):
            counted[name] += count
    return counted


def operations(program: Iterable[Command], config: AcceleratorConfig) -> Iterator[Operation]:
    """What the commands of `program` ask for, one after the other."""
    state = ArchState.reset(config)
    for _, command in expand(program, config):
        done = step(command, state, config)
        state = done.state
        if done.operation is not None:
            yield done.operation


def _events(operation: Operation, dim: int) -> Iterator[tuple[str, int]]:
    wide = ACC_BYTES * dim
    match operation:
        case Load() as load:
            yield from _write(load.local, load.rows * load.blocks(dim) * load.repeats, dim)
        case LoadParameters() as load:
            yield "parameter_write_byte", load.count * ACC_BYTES
        case Store() as store:
            rows = store.rows * store.blocks(dim)
            yield _memory(store.local, "read"), rows * _row_bytes(store.local, dim)
            if store.bias_row is not None:
                yield "parameter_read_byte", rows * wide
        case Product() as product:
            yield from _product(product, dim)
        case Transform() as transform:
            yield from _transform(transform, dim)


def _product(product: Product, dim: int) -> Iterator[tuple[str, int]]:
    weights = product.w if product.load_weights else None
    for operand in (product.a, weights, product.d):
        if operand is not None:
            yield "scratchpad_read_byte", operand.lines * dim
    if product.c is not None:
        yield from _write(product.c.local, product.c.lines, dim)


def _transform(transform: Transform, dim: int) -> Iterator[tuple[str, int]]:
    sources = [transform.source(dim), transform.residual(dim)]
    for rows in sources:
        if rows is not None:
            yield f"transform_{_memory(rows.local, 'read')}", _bytes(transform, rows, dim)
    for rows in transform.results(dim):
        yield f"transform_{_memory(rows.local, 'write')}", _bytes(transform, rows, dim)
    parameters = sum(count for _, count in transform.parameters(dim))
    yield "transform_parameter_read_byte", transform.rows * parameters * ACC_BYTES * dim


def _bytes(transform: Transform, rows: Rows, dim: int) -> int:
    return transform.rows * rows.blocks * _row_bytes(rows.local, dim)


def _write(local: LocalAddress, rows: int, dim: int) -> Iterator[tuple[str, int]]:
    """Rows that are written; those that are added to are read, too."""
    yield _memory(local, "write"), rows * _row_bytes(local, dim)
    if local.accumulator and local.accumulate:
        yield _memory(local, "read"), rows * _row_bytes(local, dim)


def _memory(local: LocalAddress, access: str) -> str:
    return f"{'accumulator' if local.accumulator else 'scratchpad'}_{access}_byte"


def _row_bytes(local: LocalAddress, dim: int) -> int:
    return ACC_BYTES * dim if local.accumulator else dim
