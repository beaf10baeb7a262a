"""The models by name, each with inputs to try it on."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.lab.exports.bart import bart_decoder
from celosia.lab.exports.bert import bert
from celosia.lab.exports.bert_dynamo import bert_dynamo
from celosia.lab.exports.bert_fused import bert_fused
from celosia.lab.exports.decoders.bloom import bloom
from celosia.lab.exports.decoders.gpt2 import gpt2
from celosia.lab.exports.decoders.gpt_neox import gpt_neox
from celosia.lab.exports.decoders.llama import gemma, llama, mistral, qwen2, qwen3
from celosia.lab.exports.decoders.opt import opt
from celosia.lab.exports.decoders.phi import phi
from celosia.lab.exports.hybrid import hybrid
from celosia.lab.exports.t5 import t5_encoder
from celosia.lab.exports.vit import CHANNELS, vit
from celosia.lab.exports.whisper import frames, whisper_encoder
from celosia.lab.exports.writing.size import STANDARD, Size

__all__ = ["EXPORTS", "Export", "Inputs"]

Inputs = dict[str, NDArray[Any]]
"""Arrays by the names of a model's inputs."""

_Draw = Callable[[Size, np.random.Generator, int, int], Inputs]


@dataclass(frozen=True)
class Export:
    """A model that can be built in any size, and drawn inputs for."""

    summary: str
    _build: Callable[[Size, int], Any]
    _draw: _Draw

    def build(self, size: Size = STANDARD, seed: int = 0) -> Any:
        """The `onnx.ModelProto` with the weights of `seed`."""
        return self._build(size, seed)

    def inputs(self, size: Size, seed: int, *, batch: int = 1, tokens: int = 64) -> Inputs:
        """Seeded inputs: `batch` samples of `tokens`, where the model's sizes are open.

        Masks show all tokens of the first sample, and fewer of the others: they are padded on the
        right.
        """
        return self._draw(size, np.random.default_rng(seed), batch, tokens)


def _text(size: Size, random: np.random.Generator, batch: int, tokens: int) -> Inputs:
    return {
        "input_ids": random.integers(0, size.vocabulary, (batch, tokens)),
        "attention_mask": _mask(random, batch, tokens),
    }


def _typed_text(size: Size, random: np.random.Generator, batch: int, tokens: int) -> Inputs:
    types = {"token_type_ids": np.zeros((batch, tokens), np.int64)}
    return _text(size, random, batch, tokens) | types


def _read_text(size: Size, random: np.random.Generator, batch: int, tokens: int) -> Inputs:
    """Text for a decoder, and what an encoder made of another, three quarters as long."""
    source = max(1, 3 * tokens // 4)
    return {
        "input_ids": random.integers(0, size.vocabulary, (batch, tokens)),
        "encoder_hidden_states": random.standard_normal((batch, source, size.width), np.float32),
        "encoder_attention_mask": _mask(random, batch, source),
    }


def _picture(size: Size, random: np.random.Generator, batch: int, tokens: int) -> Inputs:
    del tokens  # The image's size is fixed.
    shape = (batch, CHANNELS, size.image, size.image)
    return {"pixel_values": random.standard_normal(shape, np.float32)}


def _spectrogram(size: Size, random: np.random.Generator, batch: int, tokens: int) -> Inputs:
    del tokens  # The spectrogram's length is fixed.
    shape = (batch, size.mels, frames(size))
    return {"input_features": random.standard_normal(shape, np.float32)}


def _mask(random: np.random.Generator, batch: int, tokens: int) -> NDArray[np.int64]:
    lengths = np.concatenate([[tokens], random.integers(tokens // 2, tokens + 1, batch - 1)])
    return (np.arange(tokens) < lengths[:, np.newaxis]).astype(np.int64)


EXPORTS: Final = {
    "bert-13": Export("BERT by tracing, opset 13", bert, _typed_text),
    "bert-17": Export("BERT by tracing, opset 17", partial(bert, opset=17), _typed_text),
    "bert-sdpa": Export(
        "BERT by tracing, SDPA: scale on both sides, expanded masks",
        partial(bert, opset=17, form="sdpa"),
        _typed_text,
    ),
    "bert-sdpa-boolean": Export(
        "the same with a boolean mask, and a guard against rows without keys",
        partial(bert, opset=17, form="sdpa, boolean mask"),
        _typed_text,
    ),
    "bert-dynamo": Export(
        "BERT by torch's newer exporter: functions, transposed weights", bert_dynamo, _typed_text
    ),
    "bert-attention": Export(
        "the same optimized, opset 23: Attention and Gelu",
        partial(bert_dynamo, optimized=True),
        _typed_text,
    ),
    "bert-fused": Export("BERT fused by ONNX Runtime, masks as lengths", bert_fused, _typed_text),
    "bert-fused-mask": Export(
        "the same with masks as they are, and GELU by tanh",
        partial(bert_fused, lengths=False, approximate=True),
        _typed_text,
    ),
    "vit": Export("ViT: patches by a convolution, no mask", vit, _picture),
    "gpt2": Export("GPT-2 with its head: Gemm, causal by Where", gpt2, _text),
    "opt": Export("OPT with its head: causal by ScatterND", opt, _text),
    "llama": Export("Llama with its head: RMSNorm, SwiGLU, rotary, grouped queries", llama, _text),
    "qwen2": Export("Qwen2: Llama with biased queries, keys and values", qwen2, _text),
    "qwen3": Export("Qwen3: Llama with normalized queries and keys", qwen3, _text),
    "mistral": Export("Mistral: Llama whose queries see a window", mistral, _text),
    "gemma": Export("Gemma: Llama with scaled embeddings and GELU in gates", gemma, _text),
    "phi": Export("Phi: parallel branches, half of each head rotated", phi, _text),
    "gpt-neox": Export("GPT-NeoX: parallel branches, heads interleaved", gpt_neox, _text),
    "bloom": Export("BLOOM: ALiBi, heads interleaved", bloom, _text),
    "whisper-encoder": Export(
        "encoder of Whisper: 1-D convolutions", whisper_encoder, _spectrogram
    ),
    "bart-decoder": Export("decoder of BART: cross-attention", bart_decoder, _read_text),
    "t5-encoder": Export("encoder of T5: relative positions, no scale", t5_encoder, _text),
    "hybrid": Export("convolutions, then a transformer, then classes", hybrid, _picture),
}
"""The models by name."""
