"""A graph as blocks: operators that are computed together, and what they take alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from celosia.sw.ir.graph import Graph, Op
from celosia.sw.planning.forms.groups import groups, members
from celosia.sw.planning.rules.verify import depend

__all__ = ["Block", "Branches", "blocks_of", "part_of"]


@dataclass(frozen=True)
class Block:
    """Operators that are computed together."""

    number: int
    ops: tuple[Op, ...]
    needs: frozenset[int]
    """The blocks that must be over before it."""


Branches = tuple[tuple[Block, ...], ...]
"""The branches of a stage: chains of blocks that do not depend on each other."""


def blocks_of(graph: Graph) -> tuple[Block, ...]:
    """The blocks of a verified `graph` in its order, each with those that it depends on.

    Neighbors that need the same, and that the same blocks need, are one: nothing is gained if they
    are apart, such as queries, keys and values.
    """
    return _joined(_single_blocks(graph))


def _joined(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks of which neighbors that are alike to all others are one."""
    readers = [
        {other.number for other in blocks if block.number in other.needs} for block in blocks
    ]
    found: list[Block] = []
    places: dict[int, int] = {}
    for block in blocks:
        same = block.number > 0 and readers[block.number] == readers[block.number - 1] != set()
        if same and block.needs == blocks[block.number - 1].needs:
            found[-1] = replace(found[-1], ops=(*found[-1].ops, *block.ops))
        else:
            needs = frozenset(places[each] for each in block.needs)
            found.append(Block(len(found), block.ops, needs))
        places[block.number] = len(found) - 1
    return tuple(found)


def _single_blocks(graph: Graph) -> list[Block]:
    found: list[Block] = []
    for group in groups(graph, fused_norms=True):
        ops = members(group)
        needs = frozenset(each.number for each in found if _depend(each, ops, graph))
        found.append(Block(len(found), ops, needs))
    return found


def part_of(graph: Graph, blocks: Sequence[Block]) -> Graph:
    """`graph` with the operators of these blocks alone: it reads what nobody writes."""
    return replace(graph, ops=tuple(op for block in blocks for op in block.ops))


def _depend(earlier: Block, later: Sequence[Op], graph: Graph) -> bool:
    return any(depend(one, other, graph.moving) for one in earlier.ops for other in later)
