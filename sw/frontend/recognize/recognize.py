"""All recognizers, one after the other."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.twins import merge_twins
from celosia.sw.frontend.recognize.activations import (
    find_activations,
    find_limits,
    find_slopes,
    find_squares,
)
from celosia.sw.frontend.recognize.attention import find_attention
from celosia.sw.frontend.recognize.convolutions import (
    find_biases,
    find_convolutions,
    find_trims,
)
from celosia.sw.frontend.recognize.curves import find_curves
from celosia.sw.frontend.recognize.keys import find_key_biases
from celosia.sw.frontend.recognize.layouts import (
    find_affines,
    find_joined_sums,
    find_lookups,
    find_turned,
)
from celosia.sw.frontend.recognize.masks import find_masks
from celosia.sw.frontend.recognize.norms import find_head_norms, find_norms
from celosia.sw.frontend.recognize.orders import find_orders
from celosia.sw.frontend.recognize.parts import find_parts, find_stacks
from celosia.sw.frontend.recognize.rewrite import (
    Finder,
    Match,
    Refusal,
    Rewritten,
    rebuild,
    rewrite,
)
from celosia.sw.frontend.recognize.rotary import find_part_rotations, find_rotary
from celosia.sw.frontend.recognize.views import find_groups, find_long_views
from celosia.sw.rewriting.engine import Fault

__all__ = [
    "PASSES",
    "Recognized",
    "recognize",
    "recognized_graph",
    "recognized_loudly",
    "road",
    "without_roundings",
]

_LOG: Final = logging.getLogger("celosia")
"""Its warnings are lines on standard error, unless a program wants them elsewhere."""

PASSES: Final[dict[str, Finder]] = {
    "norms": find_norms,
    "head norms": find_head_norms,
    "activations": find_activations,
    "limits": find_limits,
    "slopes": find_slopes,
    "parts": find_parts,
    "trims": find_trims,
    "biases": find_biases,
    "convolutions": find_convolutions,
    "curves": find_curves,
    "rotary": find_rotary,
    "part rotations": find_part_rotations,
    "attention": find_attention,
    "stacks": find_stacks,
    "masks": find_masks,
    "groups": find_groups,
    "orders": find_orders,
    "keys": find_key_biases,
    "squares": find_squares,
    "affines": find_affines,
    "lookups": find_lookups,
    "joined sums": find_joined_sums,
    "layouts": find_turned,
    "views": find_long_views,
}
"""The recognizers by name, in their order: views are shortened when nobody adds to them."""

_Pass = Callable[[FloatGraph], Rewritten]


def road(*, padded: bool = True) -> Mapping[str, _Pass]:
    """All passes from an imported graph to a recognized one by name, in the order of the road.

    What is rounded to 16 bits comes first, then the recognizers, then what is computed twice.
    """
    finders = PASSES if padded else PASSES | {"masks": partial(find_masks, padded=False)}
    return {
        "roundings": _without_roundings,
        **{name: partial(rewrite, find=find, name=name) for name, find in finders.items()},
        "twins": _merge_twins,
    }


def without_roundings(graph: FloatGraph) -> FloatGraph:
    """The graph with the operand in the place of each number that is rounded to 16 bits.

    Exporters of float16 models round between the parts of a norm, which then is none that could be
    recognized.  What the accelerator computes is rounded to the steps of its own formats instead.
    """
    found = [node for node in graph.nodes if node.op == "round_float"]
    plain = {
        node.name: Match(
            what="a rounding",
            root=node.name,
            operands=node.inputs,
            build=lambda builder, operands: operands[0],
        )
        for node in found
    }
    return rebuild(graph, plain) if found else graph


def _without_roundings(graph: FloatGraph) -> Rewritten:
    return Rewritten(without_roundings(graph), (), {})


def _merge_twins(graph: FloatGraph) -> Rewritten:
    merged, gone = merge_twins(graph)
    return Rewritten(merged, (), gone)


@dataclass(frozen=True)
class Recognized:
    """A graph of transformers' operators, as far as they were recognized."""

    graph: FloatGraph
    refusals: tuple[Refusal, ...]
    """What looked like an operator, and why it is none."""
    absorbed: dict[str, str]
    """For nodes of the file that became part of another one's replacement, that node."""
    changed: tuple[str, ...] = field(default=(), kw_only=True)
    """The passes of the road that changed the graph."""

    @property
    def faults(self) -> tuple[str, ...]:
        """A sentence for each place at which a pass was left out because it raised an error."""
        return tuple(str(each) for each in self.refusals if isinstance(each, Fault))

    def origins(self, node: str) -> Iterator[str]:
        """The nodes of the file that may stand for `node` now: it first, then its absorbers."""
        yield node
        while node in self.absorbed:
            node = self.absorbed[node]
            yield node


def recognize(
    graph: FloatGraph, *, padded: bool = True, without: Collection[str] = ()
) -> Recognized:
    """The graph behind all passes, each node once.  Outputs stay, but for masks and 16 bits.

    What is rounded to 16 bits is computed in float32, without rounding.
    Masks are taken for right-padded: rows of 1s, one at least, and then 0s (`is_right_padded`);
    without `padded` they may be of any form, and are added to scores.
    Passes whose names are in `without` are left out.
    """
    refusals: list[Refusal] = []
    absorbed: dict[str, str] = {}
    changed = []
    for name, apply in road(padded=padded).items():
        if name in without:
            continue
        done = apply(graph)
        if done.graph.nodes != graph.nodes:
            changed.append(name)
        graph = done.graph
        refusals += done.refusals
        for node, root in done.absorbed.items():
            absorbed.setdefault(node, root)
    return Recognized(graph, tuple(refusals), absorbed, changed=tuple(changed))


def recognized_loudly(graph: FloatGraph) -> Recognized:
    """What `recognize` makes of a graph; where a pass is left out is a warning."""
    found = recognize(graph)
    for fault in found.faults:
        _LOG.warning("celosia: %s", fault)
    return found


def recognized_graph(graph: FloatGraph) -> FloatGraph:
    """The graph of `recognized_loudly`."""
    return recognized_loudly(graph).graph
