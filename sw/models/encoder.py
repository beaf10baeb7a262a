"""Parts of the integer graphs of encoders: the normalization of the input, and layers."""

from collections.abc import Sequence
from dataclasses import replace

from celosia.sw.ir.graph import Graph, Op

__all__ = ["encoder_layer_graph", "first_norm_graph"]


def encoder_layer_graph(graph: Graph, index: int = 0) -> Graph:
    """Layer `index` of an encoder, which is not the last one.

    Its inputs are both results of the normalization before it, int8 and int16; its outputs are
    those of the one at its end.  Raises `ValueError` for a layer that is not there or the last.
    """
    last = max(int(op.name.split(".")[0]) for op in graph.ops[1:])
    if not 0 <= index < last:
        raise ValueError(f"layer: {index} is not in 0..{last - 1}")
    return _alone(graph, [op for op in graph.ops if op.name.startswith(f"{index}.")])


def first_norm_graph(graph: Graph) -> Graph:
    """The normalization before layer 0, whose outputs are the inputs of that layer."""
    return _alone(graph, graph.ops[:1])


def _alone(graph: Graph, ops: Sequence[Op]) -> Graph:
    """Some operators of a graph: what others write is an input, what others read an output."""
    read = dict.fromkeys(view.tensor for op in ops for view in op.operands)
    written = dict.fromkeys(view.tensor for op in ops for view in op.results)
    others = [op for op in graph.ops if op not in ops]
    wanted = {view.tensor for op in others for view in op.operands} | set(graph.outputs)
    used = read | written
    return replace(
        graph,
        tensors={name: tensor for name, tensor in graph.tensors.items() if name in used},
        inputs=tuple(name for name in read if name not in {*written, *graph.constants}),
        outputs=tuple(name for name in written if name in wanted),
        ops=tuple(ops),
        constants={name: value for name, value in graph.constants.items() if name in used},
    )
