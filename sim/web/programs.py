"""What the page can run: programs of the compiler, on configurations small enough for a browser."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config
from celosia.sw.models import cases
from celosia.sw.models.cases import Case
from celosia.sw.reference.encoder import EncoderShape

__all__ = ["MACHINES", "PROGRAMS", "Choice", "Machine"]

_SEED: Final = 0
_LAYER: Final = EncoderShape(layers=2, width=64, heads=2, hidden=128)
_TOKENS: Final = 32


@dataclass(frozen=True)
class Machine:
    """A configuration that the page has a module of."""

    preset: str
    overrides: tuple[str, ...] = ()
    note: str = ""
    """What it has beside the preset, in words."""

    @property
    def config(self) -> AcceleratorConfig:
        """The configuration."""
        return resolve_config(self.preset, self.overrides)

    @property
    def title(self) -> str:
        """What the page calls it."""
        dim = self.config.dim
        return f"{self.preset}{self.note}: {dim}x{dim}"


@dataclass(frozen=True)
class Choice:
    """A program that the page can run."""

    title: str
    make: Callable[[], Case]
    """The graph and its inputs: the same whenever it is called."""


@cache
def _layer() -> Case:
    return cases.encoder_layer_case(cases.random_quantized_encoder(_LAYER, _SEED), [_TOKENS], _SEED)


MACHINES: Final = (
    Machine("tiny"),
    Machine("small", ("normalization=true",), " with the normalization unit"),
    Machine("base"),
)
"""The smallest first."""

PROGRAMS: Final[Mapping[str, Choice]] = {
    "product": Choice("A product of 64x64x64", lambda: cases.matmul_case(64, 64, 64, _SEED)),
    "small-product": Choice("A product of 8x8x8", lambda: cases.matmul_case(8, 8, 8, _SEED)),
    "row-product": Choice(
        "A row times a matrix, 1x64x64", lambda: cases.matmul_case(1, 64, 64, _SEED)
    ),
    "softmax": Choice("Softmax of 32 rows of 64", lambda: cases.softmax_case(32, 64, _SEED)),
    "layernorm": Choice("LayerNorm of 32 rows of 64", lambda: cases.layernorm_case(32, 64, _SEED)),
    "attention": Choice(
        f"Attention: 2 heads, {_TOKENS} tokens, 16 wide",
        lambda: cases.attention_case(2, _TOKENS, 16, _SEED),
    ),
    "layer": Choice(
        f"A layer of an encoder: {_TOKENS} tokens, {_LAYER.width} wide, {_LAYER.heads} heads",
        _layer,
    ),
}
"""The programs by name; the page begins with the first."""
