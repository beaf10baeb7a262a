"""Commands and loops of commands, as they stand one behind the other in a program.

What a loop repeats is the same in each iteration but for the operands of its commands: so a node
is a shape, and for each command in it the operands that it is issued with first and last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import Command
from celosia.isa.operations.loops import MAX_LOOP_DEPTH
from celosia.sw.passes.loops.advances import Advances, Words, advances, join, moves, possible, still

__all__ = ["Bodies", "Node", "command_node", "repeated"]


_NONE: Final = np.zeros(1, np.int64)
_STILL: Final = still((MAX_LOOP_DEPTH, 1, 2))
"""The advances of a command that is in no loop: all have the same ones, which nobody changes."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Node:
    """A command, as the defaults are for, or a loop."""

    shape: int
    """A number that those have in common that may be iterations of one loop."""
    count: int = 0
    """Iterations; 0: it is a command."""
    left_out: int = 0
    """Nodes at the end of the body that the last iteration leaves out."""
    body: tuple["Node", ...] = ()
    """The nodes of the first iteration."""
    funct: int = 0
    """The function code of the command, if the node is one."""
    depth: int = 0
    """The number of loops in each other."""
    first: Words
    """The operands that each command is issued with first."""
    last: Words
    levels: NDArray[np.int64]
    """The number of loops around each command."""
    advances: Advances
    """Level by level from inside, of each command."""
    strides: NDArray[np.int64]
    """The number of STRIDEs that each command needs."""
    cost: int = 1
    """The commands that it takes in the program."""


class Bodies:
    """What may be the body of a loop: so many commands at most, of shapes that have numbers."""

    def __init__(self, entries: int):
        self.entries = entries
        self._numbers: dict[tuple[int, ...], int] = {}

    def number(self, *key: int) -> int:
        """The number of a shape."""
        return self._numbers.setdefault(key, len(self._numbers))


def command_node(command: Command, bodies: Bodies) -> Node:
    """A node of one command."""
    words, funct = np.array([[command.rs1, command.rs2]], np.uint64), int(command.funct)
    return Node(
        shape=bodies.number(0, funct),
        funct=funct,
        first=words,
        last=words,
        levels=_NONE,
        advances=_STILL,
        strides=_NONE,
    )


def repeated(iterations: Sequence[Sequence[Node]], bodies: Bodies) -> Node | None:
    """The loop of these iterations, which are alike; None if there is none, or of more commands.

    The last one may be shorter than the others.  Of several iterations, fewer may make a loop.
    """
    head, tail = iterations[0], iterations[-1]
    depth = 1 + max(node.depth for node in head)
    if depth > MAX_LOOP_DEPTH:
        return None
    levels = np.concatenate([node.levels for node in head])
    within, last = _advances(head), _words(head, "last")
    known = still(last.shape)
    whole = iterations[: len(iterations) - (len(tail) < len(head))]
    if len(whole) > 1:
        within = join(within, np.stack([_advances(each) for each in whole[1:]]))
        firsts, lasts = (
            np.stack([_words(each, name) for each in whole]) for name in ("first", "last")
        )
        steps, last = advances(lasts[:-1], firsts[1:]), lasts[-1]
        known = join(steps[0], steps)
    if len(whole) < len(iterations):
        size = sum(len(node.levels) for node in tail)
        within[:, :size] = join(within[:, :size], _advances(tail)[None])
        step = advances(last[:size], _words(tail, "first"))
        known[:size] = join(known[:size], step[None]) if len(whole) > 1 else step
        last[:size] = _words(tail, "last")
    within[levels, np.arange(len(levels))] = known
    if not possible(within).all():
        return None
    moving = moves(within).any(-1)
    strides = np.where(moving, np.arange(1, MAX_LOOP_DEPTH + 1)[:, None], 0).max(0)
    before = sum(int(node.strides.sum()) for node in head)
    cost = sum(node.cost for node in head) + int(strides.sum()) - before
    if cost > bodies.entries:
        return None
    left_out = len(head) - len(tail)
    return Node(
        shape=bodies.number(len(iterations), left_out, *(node.shape for node in head)),
        count=len(iterations),
        left_out=left_out,
        body=tuple(head),
        depth=depth,
        first=_words(head, "first"),
        last=last,
        levels=levels + 1,
        advances=within,
        strides=strides,
        cost=1 + cost,
    )


def _words(nodes: Sequence[Node], name: str) -> Words:
    return np.concatenate([getattr(node, name) for node in nodes])


def _advances(nodes: Sequence[Node]) -> Advances:
    return np.concatenate([node.advances for node in nodes], axis=1)
