"""What `celosia nas --machine` shows: how good areas are, and gains of each way."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.lab.nas.machines.area import AreaModel
from celosia.lab.nas.machines.machine_space import MachineSpace
from celosia.lab.nas.machines.pairs import Looked
from celosia.lab.nas.machines.together import WAYS, Comparison, Way, gain_of, winner
from celosia.lab.nas.models.candidates import LOSSES, sizes
from celosia.sim.support.words import counted

__all__ = ["area_lines", "machine_sizes", "together_lines", "together_table", "winners_table"]

_TITLES = {
    "model": "model\nalone",
    "machine": "machine\nalone",
    "both": "both",
}


def machine_sizes(config: AcceleratorConfig) -> str:
    """A machine in a few signs: array, scratchpad/accumulator, lanes, bytes of the bus."""
    memories = f"{config.scratchpad_kib}/{config.accumulator_kib} KiB"
    return (
        f"{config.dim}x{config.dim}, {memories}, {counted(config.lanes, 'lane')}, "
        f"bus {config.bus_bytes} B"
    )


def area_lines(model: AreaModel, space: MachineSpace) -> Iterator[str]:
    """How far predicted areas are from measured ones, and how many machines are small enough."""
    errors = model.errors()
    fitted = [abs(each) for _, each, _ in errors]
    without = [abs(each) for _, _, each in errors]
    unit, worst = model.worst_units()[0]
    yield (
        f"area, against {counted(len(errors), 'measured design')}: mean error "
        f"{_mean(fitted):.1%}, worst {max(fitted):.1%}; each predicted by the others "
        f"{_mean(without):.1%}, {max(without):.1%}; worst unit: {unit}, {worst:+.1f} kGE"
    )
    if beyond := model.beyond(space.legal):
        yield f"areas are extrapolated beyond what was measured: {', '.join(beyond)}"
    most = space.bounds.area_kge
    bound = "without a bound of area" if most is None else f"of at most {most:,.0f} kGE"
    yield (
        f"{counted(len(space.legal), 'machine')} {bound}; the fixed one, "
        f"{machine_sizes(space.fixed)}, has {space.areas[space.fixed]:,.0f}"
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def over_alone(comparison: Comparison, loss: float) -> float:
    """How many times the better of each alone both gain; 0: nothing is within the bound."""
    alone = max(gain_of(comparison, way, loss) for way in ("fixed", "model", "machine"))
    return gain_of(comparison, "both", loss) / alone if alone else 0.0


def together_lines(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """For each comparison, who wins at the least loss."""
    for each in comparisons:
        times = over_alone(each, LOSSES[0])
        yield (
            f"{each.scenario}, {each.rate} B/cycle, +{LOSSES[0]:.2%}: both gain {times:.2f} x of "
            "what the better of each alone does, energy times cycles, inherited weights"
        )


def together_table(comparisons: Sequence[Comparison]) -> Table:
    """How many times as much energy times cycles the largest model takes on the fixed machine."""
    table = Table(
        title="EDP of the largest model on the fixed machine over the best", title_justify="left"
    )
    table.add_column("scenario, memory, loss")
    for title in (*_TITLES.values(), "over the\nbetter alone"):
        table.add_column(title, justify="right")
    for each in comparisons:
        for loss in LOSSES:
            gains = (f"{gain_of(each, way, loss):.2f} x" for way in _moving())
            table.add_row(
                f"{each.scenario}, {each.rate} B/cycle, +{loss:.2%}",
                *gains,
                f"{over_alone(each, loss):.2f} x",
            )
    return table


def _moving() -> tuple[Way, ...]:
    return WAYS[1:]


def winners_table(comparisons: Sequence[Comparison], space: MachineSpace) -> Table:
    """The best of both: model, machine, and what they take."""
    table = Table(title="What both found; heads/channels of each layer", title_justify="left")
    for name in ("scenario, memory, loss", "machine", "model"):
        table.add_column(name, overflow="fold")
    for name in ("kGE", "cycles", "uJ"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in comparisons:
        for loss in LOSSES:
            best = winner(each, "both", loss)
            name = f"{each.scenario}, {each.rate} B/cycle, +{loss:.2%}"
            table.add_row(name, *(_cells(best, space) if best else ("-",) * 5))
    return table


def _cells(best: Looked, space: MachineSpace) -> Iterator[str]:
    yield machine_sizes(best.pair.config)
    yield sizes(best.pair.model)
    yield f"{space.areas[best.pair.config]:,.0f}"
    yield f"{best.amount.cycles:,.0f}"
    yield f"{best.amount.pj / 1e6:,.1f}"
