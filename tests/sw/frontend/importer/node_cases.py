"""onnx's own node tests, run by the importer and the float graph.

python -m tests.sw.frontend.importer.node_cases    writes docs/onnx-node-tests.md again
"""

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from celosia.sw.frontend.importer.import_model import Imported, translate
from celosia.sw.frontend.importer.source.model_file import checked_model
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.importer.translate import MALFORMED
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import GraphError

PAGE = Path(__file__).parents[4] / "docs" / "onnx-node-tests.md"

ACCELERATED = Path(__file__).parents[2] / "quantize" / "graphs" / "accelerated_cases.txt"

_PACKAGE = "onnx.backend.test.case.node"
_ROUNDED = {"float16": 2.0**-9, "bfloat16": 2.0**-6}
"""Two units of the last place: the float graph computes in float32, and onnx rounds each step."""
_DEPENDS = "known only when the model runs"


def cases(modules: Iterable[str] = ()) -> list[Any]:
    """All cases, or those of some modules of onnx's, without loading the others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package = import_module(_PACKAGE)
        if not modules:
            return package.collect_testcases(None)
        for module in modules:
            import_module(f"{_PACKAGE}.{module}")
        named = {f"{_PACKAGE}.{module}" for module in modules}
        loaded = [import_module(name) for name in named]
    operators = {name for module in loaded for name in dir(module)}
    return [c for c in package._NodeTestCases if operator(c) in operators]


def operator(case: Any) -> str:
    """The operator that a case is about: its only node, or what its expansion was named after."""
    nodes = [node.op_type for node in case.model.graph.node]
    if len(nodes) == 1:
        return nodes[0]
    found = re.match(r"(\w+?)_test_", "".join(case.model.graph.node[0].output))
    return found[1] if found else nodes[-1]


def judge(case: Any) -> str:
    """Nothing if all outputs are right, or the reason of a refusal; an error for anything else."""
    values = [[array(each) for each in inputs] for inputs, _ in case.data_sets]
    try:
        found = _imported(case, {})
        if any(_DEPENDS in reason for reason in found.refused.values()):
            # These operands are constants in models; the cases have them as inputs.
            names = [value.name for value in case.model.graph.input]
            given = dict(zip(names, values[0], strict=True))
            found = _imported(case, {n: v for n, v in given.items() if _is_parameter(n, v)})
    except (ImportProblem, GraphError) as error:
        return str(error)
    assert not any(MALFORMED in reason for reason in found.refused.values()), found.refused
    if found.lost:
        return next(iter([*found.refused.values(), *found.lost.values()]))
    for inputs, (_, outputs) in zip(values, case.data_sets, strict=True):
        _compare(case, found, inputs, [array(each) for each in outputs])
    return ""


def _imported(case: Any, known: dict[str, Any]) -> Imported:
    return translate(checked_model(case.model), {}, known)


def array(value: Any) -> Any:
    """A value of a case as an array; sequences stay what they are."""
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    return value if isinstance(value, list) else np.asarray(value)


def _is_parameter(name: str, value: Any) -> bool:
    if isinstance(value, list):
        return False
    return name == "scales" or value.ndim == 0 or (value.ndim == 1 and value.dtype.kind in "iub")


def _compare(case: Any, found: Imported, inputs: list[Any], outputs: list[Any]) -> None:
    graph = found.graph
    names = [value.name for value in case.model.graph.input]
    given = {
        name: value.astype(graph.inputs[name].dtype)
        for name, value in zip(names, inputs, strict=True)
        if name in graph.inputs
    }
    results = interpret(graph, given)
    for value, expected in zip(case.model.graph.output, outputs, strict=True):
        dtype, result = str(expected.dtype), results[value.name]
        wanted = expected.astype(np.float32) if dtype in _ROUNDED else expected
        assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype), case.name
        relative = _ROUNDED.get(dtype) or case.rtol
        np.testing.assert_allclose(result, wanted, relative, case.atol, err_msg=case.name)


def page() -> str:
    """The page that says for each operator how many cases are right, and why others are not."""
    right, refused = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for case in cases():
        reason = judge(case)
        if reason:
            refused[operator(case)][_general(reason)] += 1
        else:
            right[operator(case)] += 1
    count, good = sum(map(Counter.total, refused.values())) + right.total(), right.total()
    rows = "".join(_rows(name, right[name], refused[name]) for name in sorted({*right, *refused}))
    return _HEAD.format(good=good, refused=count - good, count=count) + rows + accelerated()


def accelerated() -> str:
    """The section about the cases that the accelerator computes."""
    names = ACCELERATED.read_text().split()
    return _ACCELERATED.format(count=len(names)) + "".join(f"- {name}\n" for name in names)


def _general(reason: str) -> str:
    """A reason without the names of one case."""
    reason = re.sub(r"\S*\S+ \(\w+\): ", "", reason)
    reason = re.sub(r"of type U?(INT|FLOAT)[248](?!\d)\w*", "of 8 or fewer bits", reason)
    reason = re.sub(r"^(in|out)put \w+", r"an \1put", re.sub(r" \([^)]*\)", "", reason))
    return re.sub(r"\w+\[[\dx]*\]", "it", reason).replace("|", "/")


def _rows(name: str, right: int, refused: Counter[str]) -> str:
    reasons = "; ".join(f"{reason} ({count})" for reason, count in sorted(refused.items()))
    return f"| {name} | {right} | {refused.total()} | {reasons} |\n"


_HEAD = """\
# onnx's node tests

Printed by `python -m tests.sw.frontend.importer.node_cases`; a test compares. Of the {count} cases
that onnx 1.23 brings, {good} are right in the float graph at their own tolerance (results of 16
bits, which it computes in float32: within two units of the last place), and {refused} are refused
with the reason below. Operands that are constants in models (axes, shapes, pads) are known when a
case is imported.

| operator | right | refused | why |
|---|--:|--:|---|
"""

_ACCELERATED = """
## On the accelerator

These {count} cases of MatMul, Gemm, Softmax, LayerNormalization, RMSNormalization, Gelu, Swish,
Relu and Attention are quantized on their own input and computed by the accelerator, every element
as the integer graph has it, and at least 25 dB from what onnx expects. Weights (of a norm, and the
second operands of products) are constants, as in models. `test_node_cases.py` in
`tests/sw/quantize/graphs` runs them, `python -m tests.sw.quantize.graphs.node_cases` finds them.
Not in the list are norms over several axes and a softmax along another one than the last, attention
with its scores as an output, rows of scores that no key is shown to (the accelerator gives the mean
of all values there, not 0), and a softmax of numbers beyond 32.
Attention with a softcap is in it where calibration finds a factor for it.

"""

if __name__ == "__main__":
    PAGE.write_text(page())
