"""The published weights as an ONNX model give what the float encoder gives."""

import numpy as np

from celosia.lab.exports.bert import write_encoder
from celosia.lab.exports.writing.size import Size
from celosia.sw.reference.encoder import MINILM, Floats, encode
from celosia.sw.reference.published import read_embeddings, read_encoder, read_tensors, tokenize
from tests.support.onnx_runtime import run_session, runtime_session


class Published:
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


def test_the_model_computes_what_the_float_encoder_computes():
    texts = tokenize(["feathers", "a small plant whose flowers look like flames"])
    lengths = [len(text) for text in texts]
    tokens = np.zeros((2, max(lengths)), np.int64)
    for row, text in zip(tokens, texts, strict=True):
        row[: len(text)] = text
    shown = np.arange(max(lengths)) < np.array(lengths)[:, np.newaxis]
    inputs = {
        "input_ids": tokens,
        "attention_mask": shown.astype(np.int64),
        "token_type_ids": np.zeros_like(tokens),
    }
    model = write_encoder(Published(read_tensors()), "all-MiniLM-L6-v2", 13, "eager")
    (output,) = run_session(runtime_session(model), inputs)
    expected = encode(read_encoder(), read_embeddings().sums(texts), lengths)
    np.testing.assert_allclose(output[shown], expected, atol=2e-5)
