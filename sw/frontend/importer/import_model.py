"""ONNX files to float graphs: sizes bound, functions inlined, what is known folded."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
from onnx import ValueInfoProto

from celosia.sw.frontend.importer.source.fixed import fixed_values
from celosia.sw.frontend.importer.source.model_file import OPSETS, Model, read_model
from celosia.sw.frontend.importer.source.problems import ImportProblem, Refusal
from celosia.sw.frontend.importer.source.quantization import Range
from celosia.sw.frontend.importer.source.scope import Scope, node_label
from celosia.sw.frontend.importer.source.sizes import bound_types, contradiction, prefixed
from celosia.sw.frontend.importer.translate import Translator
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, GraphError
from celosia.sw.frontend.nn.operators.table import OPERATORS

__all__ = ["Imported", "examine", "import_model", "translate"]

_LONGEST: Final = 64
"""Characters that names take from their file's."""


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
    path: Path,
    sizes: Mapping[str, int],
    fixed: Mapping[str, str] | None = None,
    beside: Sequence[Path] = (),
) -> Imported:
    """The model in a file, with these sizes bound, and these inputs `fixed` to a number.

    Those in files `beside` it are in the same graph: then names begin with their file's.

    Raises `ImportProblem` that names file, node and reason, also for a model with an output that
    depends on a node without a meaning.
    """
    found = examine(path, sizes, fixed, beside)
    for name, reason in found.lost.items():
        root, why = next(iter(found.refused.items()), (f"output {name}", reason))
        more = len(found.refused) - 1
        rest = f" (and {more} more nodes; celosia check lists them)" if more > 0 else ""
        raise ImportProblem(f"{_named(path, beside)}: {root}: {why}{rest}")
    return found


def examine(
    path: Path,
    sizes: Mapping[str, int],
    fixed: Mapping[str, str] | None = None,
    beside: Sequence[Path] = (),
) -> Imported:
    """What `import_model` returns, also for a model that has nodes without a meaning."""
    paths = [path, *beside]
    models = [read_model(each) for each in paths]
    prefixes = _prefixes(paths) if beside else [""]
    try:
        return _together(dict(zip(prefixes, models, strict=True)), sizes, {}, fixed or {})
    except (ImportProblem, GraphError, Refusal) as error:
        raise ImportProblem(f"{_named(path, beside)}: {error}") from None


def translate(
    model: Model,
    sizes: Mapping[str, int],
    known: Mapping[str, Array] | None = None,
    fixed: Mapping[str, str] | None = None,
) -> Imported:
    """The float graph of a model; raises `ImportProblem` and `GraphError`.

    Inputs whose values are `known`, or `fixed` to a number, become constants.
    """
    return _together({"": model}, sizes, known or {}, fixed or {})


def _together(
    models: Mapping[str, Model],
    sizes: Mapping[str, int],
    known: Mapping[str, Array],
    fixed: Mapping[str, str],
) -> Imported:
    """The float graph of all models, each with what names of it begin with."""
    inputs = [
        (prefix, value.name, prefixed(value, prefix))
        for prefix, model in models.items()
        for value in _given(model)
    ]
    kinds = bound_types([value for _, _, value in inputs], sizes)
    known = {**known, **fixed_values(kinds, fixed)}
    builder = GraphBuilder(" beside ".join(f"{each.graph.name}" for each in models.values()))
    scopes = {prefix: Scope(prefix=prefix) for prefix in models}
    for prefix, own, value in inputs:
        name, kind = value.name, kinds[value.name]
        if name in known:
            tensor = builder.constant(known[name].astype(kind.dtype), name)
        else:
            tensor = builder.input(name, kind)
        scopes[prefix].define(own, tensor)
    parts = [_Part(prefix, model, scopes[prefix], builder) for prefix, model in models.items()]
    outputs = {name: tensor for part in parts for name, tensor in part.outputs.items()}
    lost = {name: reason for part in parts for name, reason in part.lost.items()}
    read = {name for part in parts for name in part.translator.read}
    found = builder.finish(outputs, read if lost else ())
    _check_numbers(found)
    return Imported(
        found,
        {label: kind for part in parts for label, kind in part.labels.items()},
        {label: why for part in parts for label, why in part.translator.refused.items()},
        lost,
        (
            *(note for part in parts for note in part.notes()),
            *(f"input {name} is {text} from here on" for name, text in fixed.items()),
            *(note for part in parts for note in part.contradictions()),
        ),
        {
            name: each
            for part in parts
            for name, each in part.translator.quantization.ranges.items()
        },
    )


def _named(path: Path, beside: Sequence[Path]) -> str:
    """What messages call the files."""
    return " beside ".join(map(str, (path, *beside)))


def _prefixes(paths: Sequence[Path]) -> list[str]:
    """What names of each file's model begin with: ``encoder/``, and ``encoder_2/`` of another."""
    found = list[str]()
    for path in paths:
        word = re.sub(r"\W", "_", path.stem, flags=re.ASCII)[:_LONGEST]
        names = (f"{word}/" if number == 1 else f"{word}_{number}/" for number in count(1))
        found.append(next(name for name in names if name not in found))
    return found


def _given(model: Model) -> list[ValueInfoProto]:
    """The inputs of a model that have no value in its file."""
    stored = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in stored]


class _Part:
    """A model among those of a float graph."""

    def __init__(self, prefix: str, model: Model, scope: Scope, builder: GraphBuilder):
        self.model, self.scope, self.builder = model, scope, builder
        self.labels = {prefix + node_label(node): node.op_type for node in model.graph.node}
        self.translator = Translator(model, builder)
        self.translator.graph(model.graph, scope)
        self.outputs: dict[str, str] = {}
        self.lost: dict[str, str] = {}
        for value in model.graph.output:
            name = prefixed(value, prefix).name
            try:
                tensor = self.translator.tensor(value.name, scope)
            except Refusal as error:
                self.lost[name] = str(error)
                continue
            assert tensor is not None
            said = contradiction(value, builder.type(tensor))
            if said is not None:
                raise ImportProblem(f"output {name} is {builder.type(tensor)}, not {said}")
            self.outputs[name] = tensor

    def notes(self) -> Iterator[str]:
        """What was changed on the way."""
        for kind, size in self.translator.halves.items():
            yield f"{size:,} bytes of {kind} weights are converted to float32"
        if self.model.upgraded is not None:
            yield f"opset {self.model.upgraded} is upgraded to {OPSETS[0]} by onnx's converter"
        yield from self.translator.quantization.notes()

    def contradictions(self) -> Iterator[str]:
        """Where the file says something else of a tensor."""
        for value in self.model.graph.value_info:
            tensor = self.scope.tensors.get(value.name)
            kind = None if tensor is None else self.builder.type(tensor)
            said = None if kind is None else contradiction(value, kind)
            if said is not None:
                yield f"the file says that {self.scope.prefix}{value.name} is {said}; it is {kind}"


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
