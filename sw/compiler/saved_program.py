"""Programs that were compiled before: what their passes have left, to be taken up without them."""

from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from celosia.isa.encoding import Command, pack_ring, unpack_ring
from celosia.isa.operations.loops import unroll
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Compress, Expand, Pass, Schedule
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.reuse import Reuse
from celosia.sw.compiler.verified import verify_program
from celosia.sw.ir.print_program import print_program
from celosia.sw.ir.program import Written
from celosia.sw.ir.read_program import parse_program
from celosia.sw.planning.forms.plan import Plan

__all__ = ["SavedProgram"]


@dataclass(frozen=True, eq=False)
class SavedProgram:
    """What was compiled of a graph, as bytes; addresses, and commands of operations, are not."""

    plan: Plan
    ops: bytes
    """The text of the operations, in the order in which they are computed."""
    ring: bytes
    """The commands, what repeats written once, as they stand in a ring."""

    @classmethod
    def of(cls, compiled: CompiledGraph) -> "SavedProgram":
        """The program of a graph that was compiled with all passes."""
        text = print_program((each.operator, each.op) for each in compiled.ops)
        return cls(compiled.plan, text.encode(), pack_ring(compiled.program))

    def passes(self, *, reuse_memory: bool = False) -> tuple[Pass, ...]:
        """What takes the places of passes, so that nothing is decided, ordered or looked for.

        With `reuse_memory` tensors share bytes: other addresses than those of the commands, in
        which repeats are looked for again.

        Raises `ValueError` for bytes that are no program; what is one of another graph is refused
        by the passes.
        """
        found = parse_program(self.ops.decode())
        ops = tuple(Written(op, operator) for operator, op in found)
        ordered = Decide(self.plan), _Expanded(known=ops), _Scheduled()
        if reuse_memory:
            return *ordered, Reuse()
        return *ordered, _Compressed(known=tuple(unpack_ring(self.ring)))


@dataclass(frozen=True, kw_only=True)
class _Expanded(Expand):
    """Operations that are known, in the order in which they are computed."""

    known: tuple[Written, ...]

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """`compiled` with these operations."""
        return replace(compiled, graph=self.with_constants(compiled), ops=self.known)


@dataclass(frozen=True, kw_only=True)
class _Scheduled(Schedule):
    """Operations that are in order are only verified: a file has them."""

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """Raises `ValueError` for what is no program of the graph."""
        verify_program(compiled)
        names = {op.name for op in compiled.graph.ops}
        for written in compiled.ops:
            if written.operator not in names:
                raise ValueError(f"there is no operator {written.operator!r}")
        return compiled


@dataclass(frozen=True, kw_only=True)
class _Compressed(Compress):
    """Commands that are known: they stand for those of the operations."""

    known: tuple[Command, ...]

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """Raises `ValueError` for other commands."""
        flat, config = tuple(chain(*compiled.commands)), compiled.config
        found, wanted = ((unit for _, unit in unroll(each, config)) for each in (self.known, flat))
        for number, (one, other) in enumerate(zip_longest(found, wanted)):
            if one != other:
                raise ValueError(f"command {number} is {one}, not {other}")
        return replace(compiled, program=self.known)
