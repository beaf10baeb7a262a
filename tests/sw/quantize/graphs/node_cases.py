"""onnx's node tests on the accelerator: which ones it computes, and how near it comes.

python -m tests.sw.quantize.graphs.node_cases    writes accelerated_cases.txt again
"""

from pathlib import Path
from typing import Any, Final

import numpy as np

from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.importer.import_model import translate
from celosia.sw.frontend.importer.source.model_file import checked_model
from celosia.sw.frontend.nn.operators.operator import GraphError
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.ir import graph_interpret
from celosia.sw.quantize.graphs.quantized import interpreted, run_model
from tests.support.quantized_graph import quantize_graph
from tests.sw.frontend.importer.node_cases import array, cases

__all__ = ["LIST", "MODULES", "accelerated", "noise_of"]

LIST = Path(__file__).with_name("accelerated_cases.txt")
"""The names of the cases that the accelerator must compute."""
MODULES = (
    *("attention", "gelu", "gemm", "hardswish", "layernormalization", "matmul"),
    *("relu", "rmsnormalization", "softmax", "swish"),
)
LEAST_DB: Final = 25
CONFIG = resolve_config("base")

_PARAMETERS: Final = {
    "Gemm": (1, 2),
    "LayerNormalization": (1, 2),
    "MatMul": (1,),
    "RMSNormalization": (1,),
}
"""Operands that are weights in models: the cases have them as inputs."""
_COMPUTING: Final = {
    "attention",
    "gelu",
    "hardswish",
    "layernorm",
    "matmul",
    "relu",
    "rmsnorm",
    "silu",
    "softmax",
}
"""What the host has no part in."""


def noise_of(case: Any, *, to_the_bit: bool) -> float | None:
    """The least SQNR of an output in dB; None: the host computes the case, or has a part in it.

    With `to_the_bit`, a device computes every segment, and each element of it is compared.
    """
    (node,) = case.model.graph.node
    given = {
        value.name: array(each)
        for value, each in zip(case.model.graph.input, case.data_sets[0][0], strict=True)
    }
    weights = {node.input[i] for i in _PARAMETERS.get(node.op_type, ()) if i < len(node.input)}
    known = {k: v for k, v in given.items() if k in weights or v.dtype.kind in "iub"}
    graph = recognize(translate(checked_model(case.model), {}, known).graph).graph
    inputs = {name: given[name].astype(kind.dtype) for name, kind in graph.inputs.items()}
    try:
        model = quantize_graph(graph, [inputs])
    except GraphError:  # Infinite numbers among its inputs are refused.
        return None
    if not model.segments or _COMPUTING & model.host_operators.keys():
        return None
    found = run_model(model, inputs, _on_device if to_the_bit else interpreted).outputs
    pairs = zip(case.model.graph.output, case.data_sets[0][1], strict=True)
    return min(_decibels(array(wanted), found[value.name]) for value, wanted in pairs)


def _decibels(wanted: Any, found: Any) -> float:
    real = wanted.astype(np.float64)
    lost = np.square(real - found).sum()
    return 10 * float(np.log10(np.square(real).sum() / lost)) if lost else np.inf


def _on_device(_: int, graph: Any, given: Any) -> Any:
    compiled = compile_graph(graph, CONFIG)
    run = GraphRun(FunctionalDevice(CONFIG, memory_bytes=1 << 22, seed=1), compiled)
    run.load(given)
    run.run()
    expected = graph_interpret.interpret(graph, given)
    for tensor in run.written:
        np.testing.assert_array_equal(run.read(tensor), expected[tensor], tensor)
    return expected


def accelerated() -> list[str]:
    """The names of all cases that the accelerator computes, near enough to what is expected."""
    found = []
    for case in cases(MODULES):
        if len(case.model.graph.node) == 1:
            noise = noise_of(case, to_the_bit=False)
            if noise is not None and noise >= LEAST_DB:
                found.append(case.name)
    return sorted(found)


if __name__ == "__main__":
    LIST.write_text("".join(f"{name}\n" for name in accelerated()))
