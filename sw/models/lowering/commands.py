"""Commands as data: lines of assembly, and where the tensors stand that they are about."""

from collections.abc import Mapping
from dataclasses import dataclass

from celosia.isa.encoding import Command
from celosia.isa.memory import MEMORY_BASE
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.driver.assembly import format_commands, parse_command
from celosia.sw.mlir.operation import Lines

__all__ = ["AssembledCommands"]


@dataclass(frozen=True, kw_only=True)
class AssembledCommands:
    """What a text has of the commands of a graph."""

    end: int
    """The first address behind all tensors."""
    addresses: Mapping[str, int]
    """The address of each tensor that is in memory."""
    program: tuple[str, ...]
    """The commands in order, each a line."""

    @classmethod
    def of(cls, compiled: CompiledGraph) -> "AssembledCommands":
        """The commands of a graph that all passes have compiled."""
        program = Lines(format_commands(compiled.program))
        return cls(end=compiled.end, addresses=compiled.addresses, program=program)

    def commands(self) -> tuple[Command, ...]:
        """The commands.  Raises `ValueError` that names the line that is none, and why."""
        return tuple(self._command(number, line) for number, line in enumerate(self.program))

    def check(self, graph_tensors: Mapping[str, int]) -> None:
        """Raise `ValueError` unless tensors of so many bytes have places that hold them."""
        for name, address in self.addresses.items():
            if name not in graph_tensors:
                raise ValueError(f"addresses: the graph has no tensor {name!r}")
            if not MEMORY_BASE <= address <= self.end - graph_tensors[name]:
                raise ValueError(
                    f"addresses: {name} at {address:#x} is not within "
                    f"{MEMORY_BASE:#x}..{self.end:#x}"
                )

    @staticmethod
    def _command(number: int, line: str) -> Command:
        try:
            return parse_command(line)
        except ValueError as error:
            raise ValueError(f"program[{number}]: {error}") from None
