"""Small exports of the catalog, recognized and quantized, each made once."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.sw.frontend.importer.import_model import import_model
from celosia.sw.frontend.recognize.recognize import recognize
from tests.support.quantized_graph import quantize_graph

TOKENS, BATCH = 16, 2


@cache
def recognized(name, tokens=TOKENS):
    """The float graph of an export behind all recognizers."""
    sizes = {"batch": BATCH, "sequence": tokens, "encoder_sequence": 3 * tokens // 4}
    model = EXPORTS[name].build(SMALL)
    shapes = (value.type.tensor_type.shape.dim for value in model.graph.input)
    opened = {size.dim_param for shape in shapes for size in shape}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        graph = import_model(path, {key: sizes[key] for key in opened & sizes.keys()}).graph
    return recognize(graph).graph


def inputs(name, seed, tokens=TOKENS):
    """Seeded inputs of an export, those that its graph has."""
    drawn = EXPORTS[name].inputs(SMALL, seed, batch=BATCH, tokens=tokens)
    return {key: value for key, value in drawn.items() if key in recognized(name).inputs}


@cache
def quantized(name):
    """An export, quantized on seeds 1 to 8."""
    return quantize_graph(recognized(name), [inputs(name, seed) for seed in range(1, 9)])
