"""Models of the catalog behind `Import` and `Recognize`, as any other file of ONNX."""

from pathlib import Path
from tempfile import TemporaryDirectory

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import STANDARD, Size
from celosia.sw.models.steps import Import, Model, Recognize, follow

__all__ = ["imported_export"]


def imported_export(name: str, size: Size = STANDARD, *, batch: int = 1, tokens: int) -> Model:
    """An export for `batch` texts of `tokens`, where its sizes are open, with the weights of 0."""
    sizes = {"batch": batch, "sequence": tokens, "encoder_sequence": 3 * tokens // 4}
    model = EXPORTS[name].build(size)
    shapes = (value.type.tensor_type.shape.dim for value in model.graph.input)
    opened = {each.dim_param for shape in shapes for each in shape}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        bound = {key: sizes[key] for key in opened & sizes.keys()}
        return follow(Import(path, bound), Recognize())
