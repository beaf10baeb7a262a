"""What is known of a graph's program before it runs; a second run need not find it again."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from celosia.isa.encoding import Command
from celosia.isa.memory import MemoryTiming
from celosia.isa.operations.loops import expand
from celosia.sim.profile.operator_groups import (
    Cut,
    Group,
    add_predicted,
    command_operators,
    cut_program,
    group_name,
    group_operators,
    operator_commands,
)
from celosia.sim.run.programs.program_work import ProgramWork, program_work
from celosia.sim.run.programs.traffic import Traffic, graph_traffic
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.ir.graph import Graph
from celosia.sw.timeline.graphs import GraphCycles
from celosia.sw.timeline.limits import Limit, graph_limit

__all__ = ["KnownProgram"]


@dataclass(frozen=True, eq=False)
class KnownProgram:
    """A compiled graph.  What is predicted is for commands that stream."""

    graph: Graph
    """The graph as it was given to the compiler."""
    compiled: CompiledGraph
    timing: MemoryTiming | None = None
    """The memory that it runs on."""

    @property
    def expanded(self) -> list[Command]:
        """All commands, loops expanded."""
        return [command for _, command in expand(self.compiled.program, self.compiled.config)]

    @cached_property
    def operators(self) -> tuple[str, ...]:
        """The operator that each command belongs to, loops expanded."""
        return command_operators(self.compiled)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The operators that are shown together."""
        return group_operators(self.graph, self.compiled.config.dim)

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """Where the time of one group ends and that of another begins."""
        return cut_program(operator_commands(self.compiled))

    @cached_property
    def commands(self) -> int:
        """How many commands there are, loops expanded."""
        return len(self.operators)

    @cached_property
    def work(self) -> ProgramWork:
        """What the commands move and multiply."""
        return program_work(self.compiled.program, self.compiled.config)

    @cached_property
    def prediction(self) -> GraphCycles:
        """The cycles that the program is expected to take."""
        return self.compiled.expected(self.timing)

    @cached_property
    def least_traffic(self) -> Traffic:
        """The bytes that no program could do without."""
        return graph_traffic(self.graph, [op.name for op in self.graph.ops])

    @cached_property
    def parts(self) -> dict[str, dict[str, Any]]:
        """What a `Measurement` has of each group before it runs."""
        commands = Counter[str]()
        for operator, count in Counter(self.operators).items():
            commands[group_name(operator)] += count
        predicted = add_predicted(self.groups, self.prediction)
        return {
            group.name: {
                "name": group.name,
                "macs": group.macs,
                "commands": commands[group.name],
                "least_traffic": graph_traffic(self.graph, group.operators),
                "predicted_cycles": predicted.get(group.name),
            }
            for group in self.groups
        }

    @cached_property
    def limit(self) -> Limit:
        """The cycles that no program could do without."""
        return graph_limit(self.graph, self.compiled.config, self.timing or MemoryTiming())

    @cached_property
    def on_chip(self) -> tuple[str, ...]:
        """The tensors that never are in memory."""
        made = dict.fromkeys(view.tensor for op in self.graph.ops for view in op.results)
        return tuple(name for name in made if name not in self.compiled.addresses)
