"""Programs for lengths that change: one is compiled, and a few of its words patched for a length.

What depends on the length are addresses and the position that a causal mask begins with.  Both are
linear in it, and so is the program: two compiled ones, a token apart, tell which words change and
by how much, and if both ends of a bucket are right, all lengths between them are.
"""

from dataclasses import dataclass
from typing import Final, Literal

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import WORD_BITS, Command
from celosia.isa.memory import MEMORY_BASE
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Encode
from celosia.sw.compiler.pipeline import Decide, compile_graph
from celosia.sw.decoding.moved import moved
from celosia.sw.ir.graph import Graph
from celosia.sw.passes.check_addresses import check_addresses
from celosia.sw.planning.choices import DEFAULT, Choices

__all__ = ["Bucket", "Patch", "compile_bucket"]

_WORDS: Final = 1 << WORD_BITS


@dataclass(frozen=True)
class Patch:
    """A word of a program that depends on the length."""

    entry: int
    """The index of its command in the program."""
    operand: Literal["rs1", "rs2"]
    step: int
    """What each token more adds to it, modulo 2^64."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Bucket:
    """A graph for some lengths of context, compiled for the longest."""

    compiled: CompiledGraph
    """The graph and its program for the last of `contexts`."""
    contexts: range
    """The lengths that the program can be patched for."""
    patches: tuple[Patch, ...]
    """What has to be patched."""

    def graph(self, context: int) -> Graph:
        """The graph for `context` tokens.  Raises `ValueError` as `program` does."""
        return moved(self.compiled.graph, self._behind(context))

    def _behind(self, context: int) -> int:
        """How many tokens more than the longest; negative, or 0."""
        if context not in self.contexts:
            first, last = self.contexts[0], self.contexts[-1]
            raise ValueError(f"context: {context} is not in {first}..{last}")
        return context - self.contexts[-1]

    def program(self, context: int) -> tuple[Command, ...]:
        """The program for `context` tokens.

        Raises `ValueError` for a length outside the bucket.
        """
        tokens = self._behind(context)
        program = list(self.compiled.program)
        for patch in self.patches:
            command = program[patch.entry]
            word = (getattr(command, patch.operand) + tokens * patch.step) % _WORDS
            program[patch.entry] = command._replace(**{patch.operand: word})
        return tuple(program)


def compile_bucket(
    graph: Graph,
    contexts: range,
    config: AcceleratorConfig,
    base: int = MEMORY_BASE,
    choices: Choices = DEFAULT,
) -> Bucket:
    """Programs of `graph`, a step behind the last of `contexts`, for all of these lengths.

    Raises `ValueError` for a graph whose program for a token less is another one, and as
    `compile_graph` does, and `AssertionError` for a program that would leave its tensors.
    """
    how = Decide(choices), Encode(base=base)
    compiled = compile_graph(graph, config, *how)
    patches: tuple[Patch, ...] = ()
    if len(contexts) > 1:
        shorter = compile_graph(moved(graph, -1), config, *how)
        patches = _differences(shorter, compiled)
    bucket = Bucket(compiled=compiled, contexts=contexts, patches=patches)
    # Every address is linear in the length, and so is what may be written: both ends say it all.
    for context in dict.fromkeys((contexts[0], contexts[-1])):
        check_addresses(bucket.program(context), config, bucket.graph(context), compiled.addresses)
    return bucket


def _differences(shorter: CompiledGraph, longer: CompiledGraph) -> tuple[Patch, ...]:
    """The words of two programs that differ, whose lengths differ by a token."""
    pairs = list(zip(shorter.program, longer.program, strict=False))
    alike = len(shorter.program) == len(longer.program) and shorter.addresses == longer.addresses
    if not alike or any(one.funct != other.funct for one, other in pairs):
        raise ValueError(f"graph {longer.graph.name}: one token less is another program")
    return tuple(
        Patch(entry, operand, (getattr(other, operand) - getattr(one, operand)) % _WORDS)
        for entry, (one, other) in enumerate(pairs)
        for operand in ("rs1", "rs2")
        if getattr(one, operand) != getattr(other, operand)
    )
