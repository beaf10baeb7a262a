"""ONNX files to float graphs: sizes bound, functions inlined, what is known folded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from celosia.sw.frontend.importer.source.fixed import fixed_values
from celosia.sw.frontend.importer.source.model_file import OPSETS, Model, read_model
from celosia.sw.frontend.importer.source.problems import ImportProblem, Refusal
from celosia.sw.frontend.importer.source.quantization import Range
from celosia.sw.frontend.importer.source.scope import Scope, node_label
from celosia.sw.frontend.importer.source.sizes import bound_types, contradiction
from celosia.sw.frontend.importer.translate import Translator
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, GraphError
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["Imported", "examine", "import_model", "translate"]


@dataclass(frozen=True)
class Imported:
    """A model as far as it has a meaning here."""

    graph: FloatGraph
    """All of it if `lost` is empty; else as much as the nodes in `refused` let it be."""
    labels: Mapping[str, str]
    """The operator of each node of the file, by what messages call the node."""
    refused: Mapping[str, str]
    """The reason for each node that has no meaning, or depends on one that has none."""
    lost: Mapping[str, str]
    """The reason for each output that is not in the graph."""
    notes: tuple[str, ...]
    """What was changed on the way, a sentence for each."""
    ranges: Mapping[str, Range] = field(default_factory=dict)
    """The ranges of tensors that the file quantizes: they are not quantized in the graph."""


def import_model(
    path: Path, sizes: Mapping[str, int], fixed: Mapping[str, str] | None = None
) -> Imported:
    """The model in a file, with these sizes bound, and these inputs `fixed` to a number.

    Raises `ImportProblem` that names file, node and reason, also for a model with an output that
    depends on a node without a meaning.
    """
    found = examine(path, sizes, fixed)
    for name, reason in found.lost.items():
        root, why = next(iter(found.refused.items()), (f"output {name}", reason))
        more = len(found.refused) - 1
        rest = f" (and {more} more nodes; celosia check lists them)" if more > 0 else ""
        raise ImportProblem(f"{path}: {root}: {why}{rest}")
    return found


def examine(
    path: Path, sizes: Mapping[str, int], fixed: Mapping[str, str] | None = None
) -> Imported:
    """What `import_model` returns, also for a model that has nodes without a meaning."""
    model = read_model(path)
    try:
        return translate(model, sizes, fixed=fixed)
    except (ImportProblem, GraphError, Refusal) as error:
        raise ImportProblem(f"{path}: {error}") from None


def translate(
    model: Model,
    sizes: Mapping[str, int],
    known: Mapping[str, Array] | None = None,
    fixed: Mapping[str, str] | None = None,
) -> Imported:
    """The float graph of a model; raises `ImportProblem` and `GraphError`.

    Inputs whose values are `known`, or `fixed` to a number, become constants.
    """
    graph = model.graph
    builder = GraphBuilder(graph.name or "model")
    scope = Scope()
    stored = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in stored]
    kinds = bound_types(inputs, sizes)
    known = {**(known or {}), **fixed_values(kinds, fixed or {})}
    for name, kind in kinds.items():
        if name in known:
            scope.define(name, builder.constant(known[name].astype(kind.dtype), name))
        else:
            scope.define(name, builder.input(name, kind))
    translator = Translator(model, builder)
    translator.graph(graph, scope)
    outputs, lost = {}, {}
    for value in graph.output:
        try:
            tensor = translator.tensor(value.name, scope)
        except Refusal as error:
            lost[value.name] = str(error)
            continue
        assert tensor is not None
        said = contradiction(value, builder.type(tensor))
        if said is not None:
            raise ImportProblem(f"output {value.name} is {builder.type(tensor)}, not {said}")
        outputs[value.name] = tensor
    found = builder.finish(outputs, translator.read if lost else ())
    _check_numbers(found)
    notes = [
        f"{size:,} bytes of {kind} weights are converted to float32"
        for kind, size in translator.halves.items()
    ]
    if model.upgraded is not None:
        notes.append(f"opset {model.upgraded} is upgraded to {OPSETS[0]} by onnx's converter")
    notes += translator.quantization.notes()
    notes += [f"input {name} is {text} from here on" for name, text in (fixed or {}).items()]
    for value in graph.value_info:
        tensor = scope.tensors.get(value.name)
        said = None if tensor is None else contradiction(value, builder.type(tensor))
        if tensor is not None and said is not None:
            notes.append(f"the file says that {value.name} is {said}; it is {builder.type(tensor)}")
    return Imported(
        found,
        {node_label(node): node.op_type for node in graph.node},
        translator.refused,
        lost,
        tuple(notes),
        translator.quantization.ranges,
    )


def _check_numbers(graph: FloatGraph) -> None:
    """Raise `ImportProblem` for a constant that is NaN somewhere, and for infinite weights."""
    for name, value in graph.constants.items():
        # A sum is NaN if a term is, or if infinities cancel: only then look at each.
        with np.errstate(over="ignore", invalid="ignore"):
            doubtful = value.dtype.kind == "f" and np.isnan(np.sum(value))
        if doubtful and np.isnan(value).any():
            count = int(np.isnan(value).sum())
            raise ImportProblem(f"tensor {name}: NaN in {count:,} of its {value.size:,} elements")
    for node in graph.nodes:
        for name in node.inputs[1:] if OPERATORS[node.op].weights else ():
            value = graph.constants.get(name)
            # Masks may be infinite; factors and addends of products and norms may not.
            if value is not None and np.isinf(value).any():
                count = int(np.isinf(value).sum())
                raise ImportProblem(
                    f"{node.origin}: tensor {name}: infinity in {count:,} of its {value.size:,} "
                    "elements"
                )
