"""The largest of what others may ask of the compiler: each number stands here, and once there.

A test that imports a bound from the code it tests holds with any bound.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from onnx import TensorProto

from celosia.isa.foreign_file import ForeignFileError
from celosia.sw.decoding.drafts.ngram_file import NgramError, load_ngrams
from celosia.sw.driver.program_file import ProgramError, load_program, parse_program
from celosia.sw.frontend.importer.source.model_file import read_model
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.importer.source.tensors import read_tensor
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.ir.graph import Graph, Tensor
from celosia.sw.ir.graph_verify import verify as verify_graph
from celosia.sw.ir.matmul import MatMul, verify
from celosia.sw.mlir.parser import parse_operation
from celosia.sw.quantize.graphs.files.archives import npz_types, read_npz
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError, read_saved
from celosia.sw.reference.language.calibration import (
    CALIBRATION,
    CalibrationError,
    load_calibration,
)
from celosia.sw.reference.language.model_file import (
    TOKENIZER,
    WEIGHTS,
    LanguageModelError,
    load_language_model,
    shipped_folder,
)
from celosia.sw.reference.language.shape_document import read_shape
from celosia.sw.reference.language.tokenizer import Tokenizer, TokenizerError
from tests.support.largest import larger_file, readers_of_files

MIB, GIB = 1 << 20, 1 << 30


def external(path: Path) -> object:
    """A tensor of one byte in the file."""
    tensor = TensorProto(name="x", data_type=TensorProto.INT8, dims=[1])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=path.name)
    return read_tensor(tensor, path.parent, lambda kind, size: None)


def language_model(path: Path) -> object:
    """The model whose weights are in the file."""
    (path.parent / TOKENIZER).write_bytes((shipped_folder() / TOKENIZER).read_bytes())
    return load_language_model(path.rename(path.parent / WEIGHTS).parent)


def calibration(path: Path) -> object:
    """The windows in the file."""
    return load_calibration(path.rename(path.parent / CALIBRATION).parent, 2, 2)


def saved(path: Path) -> object:
    """The saved model in the file."""
    with read_saved(path, "any") as found:
        return found


FILES: dict[str, list[tuple[Callable[[Path], object], type[Exception], int]]] = {
    "sw/decoding/drafts/ngram_file.py": [(lambda path: load_ngrams(path, 2), NgramError, 64 * MIB)],
    "sw/driver/program_file.py": [(load_program, ProgramError, 256 * MIB)],
    "sw/frontend/importer/source/model_file.py": [(read_model, ImportProblem, 2 * GIB - 1)],
    "sw/frontend/importer/source/tensors.py": [(external, ImportProblem, 1024 * GIB)],
    "sw/quantize/graphs/files/archives.py": [
        (npz_types, ForeignFileError, 8 * GIB),
        (read_npz, ForeignFileError, 8 * GIB),
    ],
    "sw/quantize/graphs/files/saved_file.py": [(saved, PlanFileError, 8 * GIB)],
    "sw/reference/language/calibration.py": [(calibration, CalibrationError, 64 * MIB)],
    "sw/reference/language/model_file.py": [(language_model, LanguageModelError, 256 * MIB)],
    "sw/reference/language/tokenizer.py": [(Tokenizer, TokenizerError, 64 * MIB)],
}
"""What opens files that somebody else wrote: who reads, what is raised, the most bytes."""


@pytest.mark.parametrize("file", FILES)
def test_a_larger_file_is_refused_with_the_most_that_it_may_have(file, tmp_path):
    for number, (reader, error, most) in enumerate(FILES[file]):
        path, message = larger_file(tmp_path / str(number), most)
        with pytest.raises(error, match=message):
            reader(path)


def test_each_reader_of_files_is_listed():
    assert readers_of_files("sw") == FILES.keys()


def program(size: int) -> object:
    """A program with so many bytes of memory."""
    return parse_program(f".preset tiny\n.memory {size}\nfence\n")


def compared(size: int) -> object:
    """A program of which so many bytes are compared."""
    return parse_program(f".preset tiny\n.memory {GIB}\n.check 0x80000000 {size}\nfence\n")


def product(size: int) -> object:
    """A product with so many rows."""
    return verify(MatMul(m=size, n=1, k=1))


def tensor(rows: int) -> object:
    """A graph with a tensor of so many rows, and nothing else."""
    tensors = {"x": Tensor("x", "int8", rows, 1)}
    return verify_graph(Graph(name="g", tensors=tensors, inputs=("x",), outputs=("x",), ops=()))


def levels(depth: int) -> object:
    """Lists in each other, in a text of MLIR."""
    return parse_operation('"a.b"() {x = ' + "[" * depth + "]" * depth + "} : () -> ()")


def layers(count: int) -> object:
    """A decoder of so many layers."""
    sizes = {"vocabulary": 8, "width": 8, "heads": 2, "key_heads": 1, "hidden": 8, "context": 8}
    return read_shape({**sizes, "layers": count})


def padded(size: int) -> object:
    """Windows of an axis with an element and padding, so many together."""
    along = {"kernel": (1,), "strides": (1,), "dilations": (1,), "before": (size - 1,)}
    image = TensorType("float32", (1, 1, 1))
    return OPERATORS["max_pool"].infer([image], {**along, "after": (0,)})


COUNTS: list[tuple[Callable[[int], object], int]] = [
    (program, 1 << 30),
    (compared, 1 << 30),
    (product, 1 << 24),
    (tensor, 1 << 24),
    (levels, 64),
    (layers, 1024),
    (padded, (1 << 31) - 1),
]


@pytest.mark.parametrize(("asked", "most"), COUNTS, ids=lambda each: getattr(each, "__name__", ""))
def test_one_more_is_refused(asked, most):
    asked(most)
    with pytest.raises(ValueError, match=r"\w"):
        asked(most + 1)
