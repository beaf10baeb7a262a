"""Llama and its kin: RMSNorm as a chain, gates, rotary embeddings, queries that share keys.

Qwen2 adds a bias to queries, keys and values, Qwen3 normalizes each head of queries and keys,
Mistral's queries see a window of keys, and Gemma scales its embeddings and has GELU in its gates.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from onnx import TensorProto

from celosia.lab.exports.writing import attention, caches, masks
from celosia.lab.exports.writing.block import Block
from celosia.lab.exports.writing.decoder import begin
from celosia.lab.exports.writing.modules import gelu_tanh, silu
from celosia.lab.exports.writing.rotary import (
    SCALINGS,
    Waves,
    neighbours_rotated,
    repeated,
    rotated,
    waves,
)
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER

__all__ = [
    "beside",
    "gemma",
    "gemma2",
    "llama",
    "mistral",
    "narrowed",
    "olmo2",
    "qwen2",
    "qwen3",
    "scaled",
    "small_llama",
    "squared",
]

EPSILON = 1e-5
WORD_SPREAD = 0.02
"""Standard deviation of embeddings: so small that the first norm feels its epsilon."""
SCORE_CAP, LOGIT_CAP = 50.0, 30.0
"""What Gemma 2 keeps scores and logits below, by a tanh."""


@dataclass(frozen=True, kw_only=True)
class _Kin:
    """What a model has that Llama has not."""

    name: str
    late: bool = True
    """As of transformers 4.48: positions are an input, masks scattered, scores multiplied."""
    biased: bool = False
    """Queries, keys and values have a bias."""
    normed: bool = False
    """Each head of queries and keys is normalized."""
    windowed: bool = False
    """Queries see the window of the model's size."""
    tied: bool = False
    """The head's weights are the embeddings."""
    gemma: bool = False
    """Embeddings are scaled, factors of norms are stored less 1, gates have GELU."""
    capped: bool = False
    """Scores go through a tanh, and so do logits."""
    narrowed: bool = False
    """Logits go through a tanh."""
    scaling: str | None = None
    """How waves are scaled, by its name in `SCALINGS`."""
    beside: bool = False
    """Columns turn with their neighbours."""
    behind: bool = False
    """Norms are behind layers, not in front of them."""
    squared: bool = False
    """Feed-forward networks have the square of a ReLU, and no gate."""


def _model(kin: _Kin, size: Size, seed: int, *, opset: int = 14, cached: bool = False) -> Any:
    """The model with its head: token numbers and mask in, logits out.

    `cached`: and keys and values of tokens before in, those of all out.
    """
    tape = Tape(kin.name, opset)
    block = Block(tape, size, seed, biased=kin.biased)
    decoder = begin(block, size.key_heads, cached=cached)
    tokens, mask = decoder.tokens, decoder.mask
    with tape.inside("model"):
        x = _embedded(kin, block, tokens)
        before = decoder.before()
        if kin.late:
            bias = masks.causal_by_scatter(
                tape, mask, tokens, before, size.window if kin.windowed else None
            )
        else:
            bias = masks.causal(tape, mask, x, before)
        angles = _waves(kin, block, x, decoder.cache)
        for layer in range(size.layers):
            with tape.inside(f"layers.{layer}"):
                x = _layer(kin, block.layer(layer), x, bias, angles, decoder.layer(layer))
        x = _norm(kin, block, "norm", x)
    if kin.tied:
        logits = block.head("lm_head", x, "model.embed_tokens.weight")
    else:
        logits = block.read("lm_head", x, size.vocabulary, bias=False)
    if kin.capped or kin.narrowed:
        logits = _capped(tape, logits, LOGIT_CAP)
    return decoder.finish(logits)


llama = partial(_model, _Kin(name="llama", late=False))
"""Llama: the parameters and the result are those of `_model`, as for all of its kin."""
qwen2 = partial(_model, _Kin(name="qwen2", biased=True, tied=True))
qwen3 = partial(_model, _Kin(name="qwen3", normed=True, tied=True))
mistral = partial(_model, _Kin(name="mistral", windowed=True))
gemma = partial(_model, _Kin(name="gemma", gemma=True, tied=True))
narrowed = partial(_model, _Kin(name="narrowed", narrowed=True))
"""Llama whose logits go through a tanh."""
scaled = {name: partial(_model, _Kin(name=f"llama-{name}", scaling=name)) for name in SCALINGS}
"""Llama with scaled waves, by their name."""
small_llama = partial(_model, _Kin(name="small-llama", tied=True, scaling="llama3"))
"""Llama 3.2, whose small models have tied embeddings."""
beside = partial(_model, _Kin(name="beside", beside=True))
"""Llama whose columns turn with their neighbours, as Cohere's models do."""
olmo2 = partial(_model, _Kin(name="olmo2", behind=True))
"""Llama with its norms behind layers, as OLMo 2 has them."""
squared = partial(_model, _Kin(name="squared", squared=True))
"""Llama with the square of a ReLU in place of gates, as Nemotron and Persimmon have it."""
gemma2 = partial(_model, _Kin(name="gemma2", gemma=True, tied=True, capped=True))


def _embedded(kin: _Kin, block: Block, tokens: str) -> str:
    if not kin.tied:
        return block.lookup("embed_tokens", tokens, block.size.vocabulary, WORD_SPREAD)
    words = block.lookup_words("embed_tokens", tokens)
    return (
        block.tape.op("Mul", words, block.tape.number(block.size.width**0.5))
        if kin.gemma
        else words
    )


def _norm(kin: _Kin, block: Block, path: str, x: str) -> str:
    return block.raised_rms_norm(path, x) if kin.gemma else block.rms_norm(path, x, EPSILON)


def _waves(kin: _Kin, block: Block, x: str, cache: caches.Cache | None) -> Waves:
    tape = block.tape
    if kin.late:
        places = caches.places(tape, cache, tape.size(x, 1))
        scaling = SCALINGS[kin.scaling] if kin.scaling else None
        return waves(tape, places, block.size.head_width, scaling, beside=kin.beside)
    with tape.inside("rotary_emb"):
        limit = tape.cast(tape.size(x, 1), TensorProto.INT64)
        places = tape.unsqueeze(caches.positions(tape, cache, limit), 0)
    return waves(tape, places, block.size.head_width)


def _layer(
    kin: _Kin, block: Block, x: str, bias: str, angles: Waves, cache: caches.LayerCache | None
) -> str:
    tape, size = block.tape, block.size
    normed = x if kin.behind else _norm(kin, block, "input_layernorm", x)
    with tape.inside("self_attn"):
        context = _attention(kin, block, normed, bias, angles, cache)
        joined = block.join(
            "o_proj", context, size.heads * size.head_width, CONTEXT_POWER, bias=False
        )
        x = _joined(kin, block, x, joined, "post_attention_layernorm")
    normed = x if kin.behind else _norm(kin, block, "post_attention_layernorm", x)
    with tape.inside("mlp"):
        hidden = _hidden(kin, block, normed)
        joined = block.join("down_proj", hidden, size.hidden, bias=False)
    return _joined(kin, block, x, joined, "post_feedforward_layernorm")


def _hidden(kin: _Kin, block: Block, x: str) -> str:
    tape, count = block.tape, block.size.hidden
    if kin.squared:
        raised = tape.op("Relu", block.read("up_proj", x, count, bias=False))
        return tape.op("Pow", raised, tape.number(2))
    gate = block.read("gate_proj", x, count, bias=False)
    with tape.inside("act_fn"):
        gate = gelu_tanh(tape, gate) if kin.gemma else silu(tape, gate)
    return tape.op("Mul", gate, block.read("up_proj", x, count, bias=False))


def _joined(kin: _Kin, block: Block, x: str, joined: str, name: str) -> str:
    """The residual sum behind a part of a layer, which is normalized first if norms are behind."""
    return block.tape.op("Add", x, _norm(kin, block, name, joined) if kin.behind else joined)


def _attention(
    kin: _Kin, block: Block, x: str, bias: str, angles: Waves, cache: caches.LayerCache | None
) -> str:
    tape, size = block.tape, block.size
    batch, length = tape.size(x, 0), tape.size(x, 1)
    queries, keys, values = _heads(kin, block, x, batch, length)
    turn = neighbours_rotated if kin.beside else rotated
    queries, keys = (turn(tape, part, angles) for part in (queries, keys))
    if cache:
        keys, values = cache.extended(keys, values)
    keys, values = (repeated(tape, size, part) for part in (keys, values))
    scores = tape.op("MatMul", queries, tape.op("Transpose", keys, perm=[0, 1, 3, 2]))
    if kin.late:
        scores = tape.op("Mul", scores, tape.number(size.head_width**-0.5))
    else:
        scores = tape.op("Div", scores, tape.number(size.head_width**0.5))
    if kin.capped:
        scores = _capped(tape, scores, SCORE_CAP)
    context = attention.weighed(tape, scores, values, bias, casts=1)
    return attention.merge(tape, context, batch, length, size.heads * size.head_width)


def _heads(kin: _Kin, block: Block, x: str, batch: str, length: str) -> list[str]:
    """Queries, keys and values as (texts, heads, tokens, width)."""
    tape, size = block.tape, block.size
    width, parts = size.head_width, []
    narrow = size.key_heads * width
    for linear, heads, norm in (
        (block.score("q_proj", x, size.heads * width), size.heads, "q_norm"),
        (block.score("k_proj", x, narrow), size.key_heads, "k_norm"),
        (block.read("v_proj", x, narrow), size.key_heads, None),
    ):
        part = tape.reshape(linear, batch, length, heads, width)
        if kin.normed and norm:
            part = block.rms_norm(norm, part, EPSILON, width)
        parts.append(tape.op("Transpose", part, perm=[0, 2, 1, 3]))
    return parts


def _capped(tape: Tape, x: str, most: float) -> str:
    """``tanh(x / most) * most``."""
    below = tape.op("Tanh", tape.op("Div", x, tape.number(most)))
    return tape.op("Mul", below, tape.number(most))
