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
from celosia.lab.prune.files.heads import attentions, find_heads
from celosia.lab.prune.files.narrower import fit, reader_rows, without_heads
from celosia.lab.prune.parts.part import CRITERIA, Criterion, Gram, Part, kept_columns
from celosia.lab.prune.parts.share import Share
from celosia.lab.prune.pruned import Narrower, Wanted
from celosia.sim.support.output import check_destination, write_file
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sim.workloads.models.samples import read_samples
from celosia.sw.frontend.importer.import_model import Imported, import_model, translate
from celosia.sw.frontend.importer.source.model_file import checked_model, read_model
from celosia.sw.frontend.importer.source.problems import ImportProblem
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

    Raises `ImportProblem`, and `InputError` for samples that do not fit.
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
        recognized = follow(Recognize(), model=_imported(imported)).recognized.graph
        self.hidden, self._stay = find_hidden(self.proto.graph)
        self.attention = attentions(recognized)
        self.heads, self._heads_stay = find_heads(self.proto.graph, self.attention)
        held = max(len(self.samples) // _HELD_OUT, 1)
        self.fitted = self.samples[:-held] or self.samples
        tell("computing what outputs are", None)
        self.expected = [
            _Expected(each, *interpret_visibly(recognized, each)) for each in self.samples[-held:]
        ]
        self.grams: dict[str, Gram] | None = None

    def check(self, wanted: Wanted) -> None:
        """Refuse what the file does not have."""
        wanted.check_smaller(str(self.path))
        if wanted.ffn is not None:
            self._check_found(self.hidden, "product", "reads hidden channels", self._stay)
            for each in self.hidden:
                wanted.ffn.channels(each.width, wanted.dim)
        if wanted.heads is not None:
            self._check_found(self.heads, "attention", "can lose heads", self._heads_stay)
            for each in self.heads:
                wanted.heads.heads(each.sizes.heads, each.sizes.together)

    def _check_found(
        self, found: Sequence[object], what: str, does: str, reasons: Mapping[str, str]
    ) -> None:
        if not found:
            first = next((f", {name}: {why}" for name, why in reasons.items()), "")
            none = f"of {counted(len(reasons), what)} none {does}"
            raise InputError(f"{self.path}: {none}{first}")

    def check_output(self, output: Path) -> None:
        """Another ONNX file."""
        if output.suffix != _SUFFIX:
            raise InputError(f"-o {output}: the name of an ONNX file ends with {_SUFFIX}")
        if output.resolve() == self.path.resolve():
            raise InputError(f"-o {output}: is the model itself; give another name")
        check_destination(output)

    def check_trained(self, option: str) -> None:
        """It is not trained."""
        raise InputError(f"{option}: {self.path} is not trained; language models are")

    def as_it_was(self) -> Narrower:
        """The model in float32."""
        return self._measured(self.proto)

    def pruned(self, wanted: Wanted) -> Narrower:
        """The model with fewer hidden channels and heads, in float32."""
        self.check(wanted)
        grams = self._calibrated()
        proto, gone = self.proto, set[str]()
        if wanted.heads is not None:
            gone.update(name for each in self.heads for name in each.tensors)
            read = [grams[each.source] for each in self.heads]
            proto = without_heads(proto, self.attention, read, wanted, self._run)
        narrow = ModelProto()
        narrow.CopyFrom(proto)
        if wanted.ffn is not None:
            for hidden in find_hidden(narrow.graph)[0]:
                _narrow(hidden, grams[hidden.source], wanted, wanted.ffn)
                gone |= hidden.tensors
        kept = [each for each in narrow.graph.value_info if each.name not in gone]
        del narrow.graph.value_info[:]
        narrow.graph.value_info.extend(kept)
        notes = []
        if wanted.heads is not None:
            notes = [f"heads stay: {name}: {why}" for name, why in self._heads_stay.items()]
        return self._measured(narrow, notes)

    def _run(self, proto: ModelProto) -> Mapping[str, Array]:
        """What a file makes of one sample."""
        found = self._translated(proto)
        for name, reason in found.lost.items():
            root, why = next(iter(found.refused.items()), (name, reason))
            raise ImportProblem(f"{root}: {why}")
        return interpret(found.graph, self.samples[-1])

    def _calibrated(self) -> Mapping[str, Gram]:
        """The Gram matrices of what is read of hidden channels and of heads, by its name."""
        if self.grams is None:
            proto = ModelProto()
            proto.CopyFrom(self.proto)
            grams = {each.source: Gram(each.width) for each in (*self.hidden, *self.heads)}
            del proto.graph.output[:]
            proto.graph.output.extend(ValueInfoProto(name=name) for name in grams)
            recognized = follow(Recognize(), model=_imported(self._translated(proto))).recognized
            for done, sample in enumerate(self.fitted):
                self.tell(f"calibrating: {done} of {len(self.fitted)} samples", None)
                outputs, rows = interpret_visibly(recognized.graph, sample)
                for name, gram in grams.items():
                    gram.add(_seen(outputs[name], rows.get(name)))
            self.grams = grams
        return self.grams

    def _translated(self, proto: ModelProto) -> Imported:
        return translate(checked_model(proto), self.options.sizes, fixed=self.options.fixed)

    def _measured(self, proto: ModelProto, notes: Sequence[str] = ()) -> Narrower:
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
            notes=notes,
        )


def _imported(found: Imported) -> Model:
    return Model().with_made(Import, found)


def _narrow(hidden: Hidden, gram: Gram, wanted: Wanted, ffn: Share) -> None:
    """Leave fewer hidden channels.  Raises `InputError` for a share that leaves or takes none."""
    norms = [np.linalg.norm(each.values, axis=1 - each.axis) for each in hidden.makers]
    part = Part(
        unit=1,
        made=np.prod(norms, axis=0).astype(np.float32),
        reader=reader_rows(hidden.reader),
        gram=gram,
    )
    kept = kept_columns(part, wanted.criterion, ffn.channels(hidden.width, wanted.dim))
    hidden.keep(kept)
    if wanted.repair:
        fit(hidden.reader, hidden.bias, part, kept)


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
