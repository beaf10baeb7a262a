"""An ONNX file, as what can be pruned: cosines of its outputs, one run, a narrower file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto
from onnx.external_data_helper import load_external_data_for_model

from celosia.lab.prune.costs import Meter
from celosia.lab.prune.file_options import FileOptions
from celosia.lab.prune.files.channels import Hidden, find_hidden
from celosia.lab.prune.part import CRITERIA, Criterion, Gram, Part, kept_columns, repaired
from celosia.lab.prune.pruned import Narrower, Wanted
from celosia.lab.prune.share import Share
from celosia.sim.support.output import check_destination, write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sim.workloads.models.samples import read_samples
from celosia.sw.frontend.importer.import_model import Imported, import_model, translate
from celosia.sw.frontend.importer.source.model_file import checked_model, read_model
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.visible_rows import Rows, interpret_visibly
from celosia.sw.models.steps import Import, Model, Recognize, follow

__all__ = ["FileModel"]

_SUFFIX: Final = ".onnx"
_HELD_OUT: Final = 4
"""One of so many samples is not calibrated on, and is what outputs are compared on."""
_REAL: Final = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE})


@dataclass(frozen=True)
class _Expected:
    """What the model as it was makes of a sample."""

    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]
    rows: Mapping[str, Rows]


class FileModel:
    """The model in a file of `path`.

    Raises `ImportProblem`, and `InputError` for samples that do not fit and for a model without
    hidden channels.
    """

    criteria: Sequence[Criterion] = CRITERIA[:2]
    reason = "an ONNX file has no loss to take a gradient of"

    def __init__(self, path: Path, options: FileOptions, meter: Meter, tell: Progress):
        self.path, self.options, self.meter, self.tell = path, options, meter, tell
        if options.calibration is None:
            raise InputError(
                f"{path}: give --calibrate C.npz: what its channels are depends on its inputs"
            )
        tell(f"importing {path}", None)
        imported = import_model(path, options.sizes, options.fixed)
        self.samples = read_samples(options.calibration, imported.graph)
        self.proto = read_model(path).proto
        load_external_data_for_model(self.proto, str(path.parent))
        if self.proto.ByteSize() >= 1 << 31:
            raise InputError(f"{path}: an ONNX file of 2 GiB or more is not written")
        self.hidden, reasons = find_hidden(self.proto.graph)
        if not self.hidden:
            first = next((f", {name}: {why}" for name, why in reasons.items()), "")
            raise InputError(
                f"{path}: of {counted(len(reasons), 'product')} none reads hidden channels{first}"
            )
        held = max(len(self.samples) // _HELD_OUT, 1)
        self.fitted = self.samples[:-held] or self.samples
        recognized = follow(Recognize(), model=_imported(imported)).recognized.graph
        tell("computing what outputs are", None)
        self.expected = [
            _Expected(each, *interpret_visibly(recognized, each)) for each in self.samples[-held:]
        ]
        self.grams: list[Gram] | None = None

    def check_output(self, output: Path) -> None:
        """Another ONNX file."""
        if output.suffix != _SUFFIX:
            raise InputError(f"-o {output}: the name of an ONNX file ends with {_SUFFIX}")
        if output.resolve() == self.path.resolve():
            raise InputError(f"-o {output}: is the model itself; give another name")
        check_destination(output)

    def check_recovery(self) -> None:
        """It is not trained."""
        raise InputError(f"--recover: {self.path} is not trained; language models are")

    def as_it_was(self) -> Narrower:
        """The model in float32."""
        return self._measured(self.proto)

    def pruned(self, wanted: Wanted) -> Narrower:
        """The model with fewer hidden channels, in float32."""
        if wanted.heads is not None:
            raise InputError(
                f"{wanted.heads.option}: heads of an ONNX file stay; only hidden channels are "
                "removed of one: give --ffn"
            )
        assert wanted.ffn is not None
        proto = ModelProto()
        proto.CopyFrom(self.proto)
        found, _ = find_hidden(proto.graph)
        for hidden, gram in zip(found, self._calibrated(), strict=True):
            _narrow(hidden, gram, wanted, wanted.ffn)
        gone = frozenset[str]().union(*(each.tensors for each in found))
        kept = [each for each in proto.graph.value_info if each.name not in gone]
        del proto.graph.value_info[:]
        proto.graph.value_info.extend(kept)
        return self._measured(proto)

    def _calibrated(self) -> list[Gram]:
        """The Gram matrices of what is read of hidden channels."""
        if self.grams is None:
            proto = ModelProto()
            proto.CopyFrom(self.proto)
            names = [each.source for each in self.hidden]
            del proto.graph.output[:]
            proto.graph.output.extend(ValueInfoProto(name=name) for name in dict.fromkeys(names))
            recognized = follow(Recognize(), model=_imported(self._translated(proto))).recognized
            grams = [Gram(each.width) for each in self.hidden]
            for done, sample in enumerate(self.fitted):
                self.tell(f"calibrating: {done} of {len(self.fitted)} samples", None)
                outputs, rows = interpret_visibly(recognized.graph, sample)
                for gram, hidden in zip(grams, self.hidden, strict=True):
                    gram.add(_seen(outputs[hidden.source], rows.get(hidden.source)))
            self.grams = grams
        return self.grams

    def _translated(self, proto: ModelProto) -> Imported:
        return translate(checked_model(proto), self.options.sizes, fixed=self.options.fixed)

    def _measured(self, proto: ModelProto) -> Narrower:
        imported = self._translated(proto)
        recognized = follow(Recognize(), model=_imported(imported)).recognized.graph
        self.tell("comparing outputs", None)
        cosines = np.array([each for one in self.expected for each in _cosines(recognized, one)])
        sizes = ", ".join(f"{name}={size}" for name, size in self.options.sizes.items())
        return Narrower(
            weights=sum(
                int(np.prod(each.dims))
                for each in proto.graph.initializer
                if each.data_type in _REAL and len(each.dims) > 1
            ),
            quality={"mean cosine": float(cosines.mean()), "least cosine": float(cosines.min())},
            costs=[self.meter.cost(sizes or "one input", recognized)],
            save=lambda output: write_file(output, proto.SerializeToString()),
        )


def _imported(found: Imported) -> Model:
    return Model().with_made(Import, found)


def _narrow(hidden: Hidden, gram: Gram, wanted: Wanted, ffn: Share) -> None:
    """Leave fewer hidden channels.  Raises `InputError` for a share that leaves or takes none."""
    norms = [np.linalg.norm(each.values, axis=1 - each.axis) for each in hidden.makers]
    turned = hidden.reader.axis == 1
    reader = hidden.reader.values.T if turned else hidden.reader.values
    part = Part(
        unit=1,
        made=np.prod(norms, axis=0).astype(np.float32),
        reader=reader.astype(np.float32),
        gram=gram,
    )
    kept = kept_columns(part, wanted.criterion, ffn.channels(hidden.width, wanted.dim))
    hidden.keep(kept)
    if wanted.repair:
        rows, added = repaired(part, kept, bias=hidden.bias is not None)
        hidden.reader.set(rows.T if turned else rows)
        if hidden.bias is not None:
            bias = hidden.bias.values
            hidden.bias.set(bias + added.reshape(bias.shape).astype(np.float32))


def _cosines(graph: FloatGraph, expected: _Expected) -> Iterator[float]:
    """The cosine of each row of an output that somebody sees to what it was."""
    found = interpret(graph, expected.inputs)
    for name, real in expected.outputs.items():
        if real.dtype.kind != "f" or not real.size:
            continue
        rows = expected.rows.get(name)
        pairs = zip(_seen(real, rows), _seen(found[name], rows), strict=True)
        for mine, other in pairs:
            lengths = float(np.linalg.norm(mine) * np.linalg.norm(other))
            yield float(np.vdot(mine, other)) / lengths if lengths else 1.0


def _seen(value: Array, rows: Rows | None) -> Array:
    """The rows of tokens that somebody sees, in which elements of others are 0: (rows, columns)."""
    if rows is not None and rows.visible.any():
        if rows.visible.ndim < value.ndim:
            return value[rows.visible]
        value = np.where(rows.visible, value, 0)
    return value.reshape(-1, *value.shape[-1:] or (1,))
