"""The pass that lets tensors take the bytes of others, in the place of the one that does not."""

from dataclasses import dataclass, replace

from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Encode
from celosia.sw.scheduling.memory.reuse import plan_memory

__all__ = ["Reuse"]


@dataclass(frozen=True, kw_only=True)
class Reuse(Encode):
    """Addresses of tensors, which may be those of others that nobody needs any more."""

    def placed(self, compiled: CompiledGraph) -> CompiledGraph:
        """`compiled` with addresses, and with what became of the bytes."""
        ops = [written.op for written in compiled.ops]
        memory = plan_memory(ops, compiled.graph, compiled.in_memory, compiled.config, self.base)
        addresses = dict(memory.addresses)
        return replace(compiled, addresses=addresses, end=memory.end, memory=memory)
