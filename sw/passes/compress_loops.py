"""Commands to fewer commands, some of which repeat others.

Assumes commands without REPEAT and STRIDE.  Guarantees commands that expand to just these
(`celosia.isa.operations.loops.expand`).  What repeats is found pass by pass, short loops that save
much first: each pass finds loops in what the one before has left, loops included.  Loops that save
little may stand in the way of longer ones, or be their bodies: programs are compressed with and
without such within a part, and the shorter one is taken.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, pairwise
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import REPEAT, Command, Funct
from celosia.sw.passes.loops.advances import stride
from celosia.sw.passes.loops.nodes import Bodies, Node, command_node
from celosia.sw.passes.loops.search import Reach, with_loops

__all__ = ["compress_loops"]

_WITHIN: Final = (
    Reach(longest=2, iterations=3, saved=0.3),
    Reach(longest=4, iterations=3, saved=0.3),
    Reach(longest=8, iterations=3, saved=0.3),
    Reach(longest=12, iterations=3, saved=0.2),
    Reach(longest=24, iterations=3, saved=0.2, partial=True),
    Reach(longest=60, iterations=3, saved=0.2, partial=True),
)
"""The passes over a part."""
_ACROSS: Final = (
    Reach(longest=120, saved=0.2, partial=True),
    Reach(longest=240, saved=0.2, partial=True),
)
"""The passes over all parts, if no others were over each of them."""
_LITTLE: Final = (
    Reach(longest=120, saved=0.1, partial=True),
    Reach(longest=240, partial=True),
    Reach(longest=120, partial=True),
)
"""The last passes, for loops that save little."""
_PART: Final = 1 << 14
"""Commands that are searched together at first, at most."""


def compress_loops(
    commands: Sequence[Command], config: AcceleratorConfig, starts: Iterable[int] = ()
) -> tuple[Command, ...]:
    """`commands` with loops, where `config` has any.  Raises `ValueError` if they have some.

    At the commands with the numbers `starts` something else begins: what repeats in the parts
    between them is looked for before these are taken together.
    """
    for index, command in enumerate(commands):
        if command.funct in (Funct.REPEAT, Funct.STRIDE):
            raise ValueError(f"command {index}: {command} is part of a loop already")
    if not config.loop_entries or not commands:
        return tuple(commands)
    cuts = sorted({*starts, *range(0, len(commands), _PART), len(commands)})
    bodies = Bodies(config.loop_entries)
    parts = [
        with_loops([command_node(each, bodies) for each in commands[start:end]], _WITHIN, bodies)
        for start, end in pairwise(cuts)
    ]
    little = [with_loops(part, _LITTLE, bodies) for part in parts]
    whole = min(
        (
            with_loops([*chain(*little)], _LITTLE, bodies),
            with_loops([*chain(*parts)], (*_ACROSS, *_LITTLE), bodies),
        ),
        key=lambda nodes: sum(node.cost for node in nodes),
    )
    return tuple(command for node in whole for command in _written(node, node, count()))


def _written(node: Node, whole: Node, places: Iterator[int]) -> Iterator[Command]:
    """The commands of `node`, a part of `whole` in which `places` counts commands."""
    if not node.count:
        place = next(places)
        rs1, rs2 = map(int, whole.first[place])
        yield Command(Funct(node.funct), rs1, rs2)
        for level in range(whole.strides[place]):
            yield stride(whole.advances[level, place])
        return
    parts = [list(_written(part, whole, places)) for part in node.body]
    left_out = sum(map(len, parts[len(parts) - node.left_out :]))
    length = sum(map(len, parts))
    yield REPEAT.encode(count=node.count, length=length, left_out=left_out)
    for part in parts:
        yield from part
