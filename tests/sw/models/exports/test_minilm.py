"""The published weights as an ONNX model give what the float encoder gives."""

import numpy as np

from celosia.sw.models.exports.minilm import minilm
from celosia.sw.reference.encoder import encode
from celosia.sw.reference.published import read_embeddings, read_encoder, tokenize
from tests.support.onnx_runtime import run_session, runtime_session


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
    (output,) = run_session(runtime_session(minilm()), inputs)
    expected = encode(read_encoder(), read_embeddings().sums(texts), lengths)
    np.testing.assert_allclose(output[shown], expected, atol=2e-5)
