"""all-MiniLM-L6-v2 as an ONNX model, built from the published weights."""

from typing import Any

from celosia.sw.models.exports.bert import Attention, write_encoder
from celosia.sw.models.exports.writing.size import Size
from celosia.sw.reference.encoder import MINILM, Floats
from celosia.sw.reference.published import read_tensors

__all__ = ["minilm"]


def minilm(*, opset: int = 13, form: Attention = "eager") -> Any:
    """The model: token numbers, mask and token types in, the last hidden state out.

    Raises `MissingModelError` without the package that has the weights.
    """
    return write_encoder(_Published(read_tensors()), "all-MiniLM-L6-v2", opset, form)


class _Published:
    """The weights by name, matrices of products as (inputs, outputs)."""

    def __init__(self, tensors: dict[str, Floats]):
        self._tensors = tensors
        self.size = Size(
            layers=MINILM.layers,
            width=MINILM.width,
            heads=MINILM.heads,
            hidden=MINILM.hidden,
            vocabulary=len(tensors["embeddings.word_embeddings.weight"]),
            positions=len(tensors["embeddings.position_embeddings.weight"]),
        )

    def __getitem__(self, name: str) -> Floats:
        tensor = self._tensors[name]
        return tensor if tensor.ndim == 1 or name.startswith("embeddings") else tensor.T
