"""Events of the units, of which tables say something that were measured on this RTL.

They are told of by a table that names them.  All are counted in cycles, rows and commands of the
run: padding and masks are in what they take.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.functions.table import Function
from celosia.isa.operations.operations import Load, Operation, Product, Store
from celosia.isa.registers.events import function_counter
from celosia.sim.export.silicon.energy.events import Event, operations
from celosia.sim.profile.profile import Profile

__all__ = [
    "CLOCK",
    "IDLE",
    "LANE_STEP",
    "TRANSFORM_CLOCK",
    "TRANSFORM_IDLE",
    "UNIT_EVENTS",
    "count_unit_events",
    "lane_step",
]

LANE_STEP: Final = "lane_step"
"""The event of all functions together: what a table has that knows none of them apart."""
IDLE: Final = "idle_cycle"
CLOCK: Final = "clock_cycle"
TRANSFORM_IDLE: Final = "transform_idle_cycle"
TRANSFORM_CLOCK: Final = "transform_clock_cycle"
_OF_PROGRAM: Final = ("weight_byte", "requantized_element", "scaled_load_byte")
_ONE: Final = 0x3F80_0000
"""The scale of a load that its scaler leaves alone."""


def lane_step(function: Function) -> str:
    """The event of a lane that takes an element for `function`."""
    return f"{LANE_STEP}_{function.name.lower()}"


UNIT_EVENTS: Final[Mapping[str, Event]] = {
    "weight_byte": Event("A byte of weights moves into the array."),
    "array_row": Event("A row enters the array, or one of padding."),
    "requantized_element": Event("An element of a row that a store reads passes the requantizer."),
    "scaled_load_byte": Event("A byte of a row that a load scales."),
    "command": Event("A command is decoded, and issued."),
    "moved_byte": Event("A byte passes loads or stores, on this side of the bus."),
    IDLE: Event("A cycle, whatever happens in it."),
    CLOCK: Event("A cycle of the clock pins of all flip-flops."),
    **{
        lane_step(function): Event(
            f"A lane takes an element for {function.name}.", normalization=True
        )
        for function in Function
    },
    "transform_step": Event("The transform unit walks, reads and writes.", normalization=True),
    TRANSFORM_IDLE: Event("A cycle, whatever happens in it.", normalization=True),
    TRANSFORM_CLOCK: Event("A cycle of the clock pins of its flip-flops.", normalization=True),
}
"""What is counted beside the events of all tables, in the order of reports."""


def count_unit_events(run: Mapping[str, Any]) -> dict[str, int]:
    """The events of a run's report, by name; what is not known is not there.

    Whoever calls has looked whether its program is what the counters counted (`count_events`).
    """
    config = AcceleratorConfig().with_values(dict(run["config"]))
    counters: Mapping[str, int] = run["counters"]
    steps = {
        lane_step(function): counters.get(function_counter("vector", function), 0)
        for function in Function
    }
    counted = {
        "array_row": counters["array_rows"] + counters["array_padding"],
        "command": counters["commands"],
        "moved_byte": counters["read_bytes"] + counters["write_bytes"],
        **{name: config.lanes * count for name, count in steps.items()},
        "transform_step": sum(steps.values()),
        **dict.fromkeys((IDLE, CLOCK), counters["cycles"]),
        **dict.fromkeys(
            (TRANSFORM_IDLE, TRANSFORM_CLOCK), counters["cycles"] if config.normalization else 0
        ),
    }
    if run["profile"] is None:
        return counted
    program = Profile.from_document(run["profile"]).commands
    return counted | _of_program(program, config)


def _of_program(program: Iterable[Command], config: AcceleratorConfig) -> dict[str, int]:
    counted: dict[str, int] = dict.fromkeys(_OF_PROGRAM, 0)
    for operation in operations(program, config):
        for name, count in _events(operation, config.dim):
            counted[name] += count
    return counted


def _events(operation: Operation, dim: int) -> Iterator[tuple[str, int]]:
    match operation:
        case Product(load_weights=True):
            yield "weight_byte", dim * dim
        case Load() as load if load.scale != _ONE and not load.zero:
            yield "scaled_load_byte", load.rows * load.blocks(dim) * dim
        case Store() as store:
            yield "requantized_element", store.rows * store.blocks(dim) * dim
        case _:
            pass
