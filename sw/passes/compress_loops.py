"""Commands to fewer commands, some of which repeat others.

Assumes commands without REPEAT and STRIDE.  Guarantees commands that expand to just these
(`celosia.isa.loops.expand`).  What repeats is found pass by pass, short loops that save much first:
each pass finds loops in what the one before has left, loops included.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import REPEAT, Command, Funct
from celosia.sw.loops.advances import stride
from celosia.sw.loops.nodes import Node, Shapes, command_node
from celosia.sw.loops.search import Reach, with_loops

__all__ = ["compress_loops"]

_PASSES: Final = (
    Reach(longest=2, iterations=3, saved=0.3),
    Reach(longest=4, iterations=3, saved=0.3),
    Reach(longest=8, iterations=3, saved=0.3),
    Reach(longest=12, iterations=3, saved=0.2),
    Reach(longest=60, iterations=3, saved=0.2),
    Reach(longest=120, saved=0.1),
    Reach(longest=240),
    Reach(longest=120),
)
_PART: Final = 1 << 14
"""Commands that are searched together."""


def compress_loops(commands: Sequence[Command], config: AcceleratorConfig) -> tuple[Command, ...]:
    """`commands` with loops, where `config` has any.  Raises `ValueError` if they have some."""
    for index, command in enumerate(commands):
        if command.funct in (Funct.REPEAT, Funct.STRIDE):
            raise ValueError(f"command {index}: {command} is part of a loop already")
    if not config.loop_entries:
        return tuple(commands)
    return tuple(
        command
        for start in range(0, len(commands), _PART)
        for node in _searched(commands[start : start + _PART], config.loop_entries)
        for command in _commands(node)
    )


def _searched(commands: Sequence[Command], entries: int) -> list[Node]:
    shapes = Shapes()
    nodes = [command_node(command, shapes) for command in commands]
    for reach in _PASSES:
        nodes = with_loops(nodes, reach, entries, shapes)
    return nodes


def _commands(node: Node) -> list[Command]:
    """The commands of `node`."""
    place = iter(range(len(node.levels)))
    return list(_written(node, node, place))


def _written(node: Node, whole: Node, places: Iterator[int]) -> Iterator[Command]:
    """The commands of `node`, a part of `whole` in which `places` counts commands."""
    if not node.count:
        place = next(places)
        rs1, rs2 = map(int, whole.first[place])
        yield Command(Funct(node.funct), rs1, rs2)
        for level in range(whole.strides[place]):
            yield stride(whole.advances[level, place])
        return
    body = [command for part in node.body for command in _written(part, whole, places)]
    yield REPEAT.encode(count=node.count, length=len(body))
    yield from body
