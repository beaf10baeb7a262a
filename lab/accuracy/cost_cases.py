"""Work for the cost model that it was not fitted to: random, and each single operator."""

import random
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models import cases
from celosia.sw.models.cases import Case
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder
from celosia.sw.reference.encoder import EncoderShape

__all__ = ["CostCase", "operator_cases", "random_cases"]

_PRESETS: Final = {"tiny": 40, "small": 120, "base": 400, "rebalanced": 400}
"""Each with the longest extent of a matrix; products have up to twice that."""
_OVERRIDES: Final = {"small": ("normalization=true",)}
_KINDS: Final = (
    *["matmul"] * 6,
    *("softmax", "layernorm", "gelu", "residual"),  # Of activations one: their steps are the same.
    *["attention"] * 4,
    *["encoder-layer"] * 4,
    *["encoder"] * 2,
)
_LATENCIES: Final = (1, 5, 20, 40, 40, 70, 100, 150)
_RATES: Final = {4: (2, 4, 4), 8: (4, 8, 8), 16: (2, 4, 8, 16, 16, 16)}
"""Bytes per cycle, by the bytes of the bus."""

_ACTIVATIONS: Final = {name: partial(cases.activation_case, name) for name in ACTIVATIONS}
_TRANSFORMS: Final = {
    "softmax": cases.softmax_case,
    "layernorm": cases.layernorm_case,
    **_ACTIVATIONS,
    "residual": cases.residual_case,
}
_TYPED: Final = {"softmax": cases.softmax_case, **_ACTIVATIONS}
"""The transforms whose results have a type that can be chosen."""
_TYPES: Final = ("uint8", "int8", "int16")
_OPERATORS: Final = (
    ("base", (128, 512), 40, 16),
    ("base", (50, 200), 100, 8),
    ("tiny", (33, 70), 40, 4),
    ("tiny", (20, 36), 10, 2),
)
"""Preset, rows and columns, latency, and bytes per cycle of each operator's cases."""


@dataclass(frozen=True, kw_only=True)
class CostCase:
    """Something to predict and to measure."""

    kind: str
    preset: str
    timing: MemoryTiming
    sizes: tuple[int, ...]
    """The sizes, by kind: M, N, K of a product; rows and columns of a transform; heads, rows and
    width of attention; heads, width of a head, hidden width over width, layers, and tokens of each
    text of an encoder."""
    form: tuple[Any, ...] = ()
    """Details of the kind.  A product: whether B is transposed, its scale, whether it has a bias. A
    softmax or an activation: the type of its result, if it is not uint8."""

    @property
    def config(self) -> AcceleratorConfig:
        """The configuration of the preset, always with a normalization unit."""
        return resolve_config(self.preset, _OVERRIDES.get(self.preset, ()))

    @property
    def name(self) -> str:
        """The case in words, for people."""
        timing = self.timing
        sizes = "x".join(map(str, self.sizes))
        notes = self._notes()
        memory = f"latency {timing.latency}, {timing.bytes_per_cycle} B/cycle"
        return " ".join([self.kind, sizes, *notes, f"on {self.preset}, {memory}"])

    def _notes(self) -> list[str]:
        if not self.form:
            return []
        if self.kind != "matmul":
            return [f"to {self.form[0]}"]
        transposed, scale, _ = self.form
        return ["B^T"] * transposed + ["int32"] * (scale is None)

    @property
    def product(self) -> MatMul | None:
        """The product, if it is one."""
        if self.kind != "matmul":
            return None
        (m, n, k), (transposed, scale, bias) = self.sizes, self.form
        return MatMul(m=m, n=n, k=k, b_transposed=transposed, scale=scale, bias=bias)

    def graph(self) -> Case:
        """The graph and its inputs, if it is no product."""
        if self.kind in _TRANSFORMS:
            rows, cols = self.sizes
            if not self.form:
                return _TRANSFORMS[self.kind](rows, cols, 0)
            return _TYPED[self.kind](rows, cols, 0, kind=self.form[0])
        if self.kind == "attention":
            heads, rows, width = self.sizes
            return cases.attention_case(heads, rows, width, 0)
        heads, width, ratio, layers, *lengths = self.sizes
        layer = self.kind == "encoder-layer"
        model = _model(heads, heads * width, ratio * heads * width, 2 if layer else layers)
        make = cases.encoder_layer_case if layer else cases.encoder_case
        return make(model, lengths, 0)


def random_cases(count: int, first: int = 0) -> tuple[CostCase, ...]:
    """The cases of `count` consecutive seeds from `first` on."""
    return tuple(_random_case(random.Random(seed)) for seed in range(first, first + count))


def operator_cases() -> tuple[CostCase, ...]:
    """Each operator alone, with results of each type that it has."""
    forms = [(kind, (kind_of,)) for kind in _TYPED for kind_of in _TYPES]
    forms += [(kind, ()) for kind in _TRANSFORMS if kind not in _TYPED]
    return tuple(
        CostCase(
            kind=kind,
            preset=preset,
            timing=MemoryTiming(latency=latency, bytes_per_cycle=rate),
            sizes=sizes,
            form=form,
        )
        for preset, sizes, latency, rate in _OPERATORS
        for kind, form in forms
    )


def _random_case(chance: random.Random) -> CostCase:
    kind = chance.choice(_KINDS)
    preset = chance.choice(("tiny", "base", "base", "rebalanced", "small"))
    config = resolve_config(preset)
    timing = MemoryTiming(
        latency=chance.choice(_LATENCIES),
        bytes_per_cycle=chance.choice(_RATES[config.bus_bytes]),
        seed=chance.randrange(100),
    )
    most, form = _PRESETS[preset], ()
    if kind == "matmul":
        sizes = (
            chance.choice((1, *(chance.randint(1, 2 * most) for _ in range(2)))),
            chance.randint(1, 2 * most),
            chance.randint(1, 2 * most),
        )
        form = (chance.random() < 0.3, chance.choice((None, 0.01)), chance.random() < 0.6)
    elif kind == "attention":
        sizes = (chance.randint(1, 6), chance.randint(1, most), _head_width(chance, config.dim))
    elif kind in _TRANSFORMS:
        sizes = (chance.randint(1, most), chance.randint(2, most))
    else:
        lengths = [chance.randint(1, most // 2) for _ in range(chance.choice((1, 1, 2, 3)))]
        width = chance.choice((1, 2, 4)) * config.dim
        sizes = (chance.randint(1, 4), width, chance.choice((2, 4)), chance.randint(1, 2), *lengths)
    return CostCase(kind=kind, preset=preset, timing=timing, sizes=tuple(sizes), form=form)


def _head_width(chance: random.Random, dim: int) -> int:
    return chance.choice((dim, 2 * dim, 4 * dim, chance.randint(1, 4 * dim)))


@cache
def _model(heads: int, width: int, hidden: int, layers: int) -> QuantizedEncoder:
    shape = EncoderShape(layers=layers, width=width, heads=heads, hidden=hidden)
    return cases.random_quantized_encoder(shape, 0)
