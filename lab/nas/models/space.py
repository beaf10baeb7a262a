"""The models that a search may choose from: a depth, a width, and heads and channels per layer."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final

import numpy as np

from celosia.isa.foreign_file import MIB, parse_toml
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError
from celosia.sw.reference.language.shape import LayerShape, LlamaShape

__all__ = ["DEFAULT", "TINY", "Space", "read_space"]

VOCABULARY: Final = 2048
CONTEXT: Final = 256
_MOST_VALUES: Final = 64
_MOST: Final[Mapping[str, int]] = {
    "depths": 16,
    "widths": 1024,
    "heads": 32,
    "hidden": 4096,
    "head_width": 256,
    "together": 32,
}
"""What sizes may be: a supernet is trained here."""

Random = np.random.Generator


@dataclass(frozen=True, kw_only=True)
class Space:
    """Values of each size, ascending.  Raises `ValueError` for those that no model has."""

    depths: tuple[int, ...]
    widths: tuple[int, ...]
    """Elements of a token between operators: one for all layers of a model."""
    heads: tuple[int, ...]
    """Heads of a layer."""
    hidden: tuple[int, ...]
    """Channels of a layer's feed-forward network."""
    head_width: int = 32
    together: int = 2
    """Heads that share keys and values."""

    def __post_init__(self):
        for name, most in _MOST.items():
            found = getattr(self, name)
            values = (found,) if isinstance(found, int) else found
            if not values:
                raise ValueError(f"{name}: there are none, so no model is legal")
            if len(values) > _MOST_VALUES:
                raise ValueError(f"{name}: {len(values)} are more than {_MOST_VALUES} values")
            for value in values:
                if not 1 <= value <= most:
                    raise ValueError(f"{name}: {value} is not in 1..{most}")
            if list(values) != sorted(set(values)):
                raise ValueError(f"{name}: {list(values)} do not ascend")
        if self.head_width % 2:
            raise ValueError(f"head_width: {self.head_width} has no two halves")
        legal = tuple(count for count in self.heads if count % self.together == 0)
        if not legal:
            raise ValueError(
                f"heads: of {list(self.heads)} none is a multiple of the {self.together} together "
                "that share keys, so no model is legal"
            )
        object.__setattr__(self, "heads", legal)

    @property
    def layers(self) -> tuple[LayerShape, ...]:
        """All layers, the smallest first and the largest last."""
        return tuple(
            self.layer(heads, hidden) for heads, hidden in product(self.heads, self.hidden)
        )

    @property
    def size(self) -> int:
        """The number of models."""
        return len(self.widths) * sum(len(self.layers) ** depth for depth in self.depths)

    @property
    def largest(self) -> LlamaShape:
        """The model that all others are a part of."""
        return self.model(self.widths[-1], (self.layers[-1],) * self.depths[-1])

    @property
    def smallest(self) -> LlamaShape:
        """The model that is a part of all others."""
        return self.model(self.widths[0], (self.layers[0],) * self.depths[0])

    def layer(self, heads: int, hidden: int) -> LayerShape:
        """A layer with so many heads and channels."""
        return LayerShape(
            heads=heads,
            key_heads=heads // self.together,
            head_width=self.head_width,
            hidden=hidden,
        )

    def model(self, width: int, layers: tuple[LayerShape, ...]) -> LlamaShape:
        """A model of these sizes."""
        return LlamaShape(vocabulary=VOCABULARY, context=CONTEXT, width=width, layers=layers)

    def uniform(self) -> Iterator[LlamaShape]:
        """The models whose layers are alike."""
        for width, depth, layer in product(self.widths, self.depths, self.layers):
            yield self.model(width, (layer,) * depth)

    def drawn(self, random: Random) -> LlamaShape:
        """A model at random: each of its sizes is as probable as any other."""
        width, depth = (
            self.widths[_index(random, self.widths)],
            self.depths[_index(random, self.depths)],
        )
        layers = [self.layers[_index(random, self.layers)] for _ in range(depth)]
        return self.model(width, tuple(layers))

    def changed(self, model: LlamaShape, random: Random, rate: float) -> LlamaShape:
        """`model` with each of its sizes drawn anew with the probability `rate`."""
        width = self._or(random, rate, model.width, self.widths)
        depth = self._or(random, rate, len(model.layers), self.depths)
        layers = []
        for index in range(depth):
            old = model.layers[min(index, len(model.layers) - 1)]
            heads = self._or(random, rate, old.heads, self.heads)
            layers.append(self.layer(heads, self._or(random, rate, old.hidden, self.hidden)))
        return self.model(width, tuple(layers))

    def crossed(self, one: LlamaShape, other: LlamaShape, random: Random) -> LlamaShape:
        """A model whose sizes are each those of `one` or of the `other`."""
        pair = one, other
        depth = len(pair[random.integers(2)].layers)
        layers = [
            found.layers[min(index, len(found.layers) - 1)]
            for index in range(depth)
            for found in (pair[random.integers(2)],)
        ]
        return self.model(pair[random.integers(2)].width, tuple(layers))

    def _or(self, random: Random, rate: float, value: int, values: tuple[int, ...]) -> int:
        return values[_index(random, values)] if random.random() < rate else value

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in asdict(self).items())


def _index(random: Random, values: tuple[Any, ...]) -> int:
    return int(random.integers(len(values)))


DEFAULT: Final = Space(
    depths=(2, 3, 4, 5, 6),
    widths=(128, 160, 192),
    heads=(2, 4, 6),
    hidden=(128, 256, 384, 512, 640),
)
"""What is searched unless told otherwise: up to 3.3 million weights."""
TINY: Final = Space(depths=(1, 2, 3), widths=(64, 96), heads=(2, 4), hidden=(64, 128, 192))
"""What `--small` searches."""


def read_space(path: str) -> Space:
    """The space in a TOML file.  Raises `InputError` that names the place and the rule."""
    text = read_text(path, MIB)
    try:
        found = parse_toml(text)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    lists, numbers = ("depths", "widths", "heads", "hidden"), ("head_width", "together")
    for name, value in found.items():
        if name not in (*lists, *numbers):
            raise InputError(f"{path}: {name}: there are {', '.join((*lists, *numbers))}")
        values = value if name in lists and isinstance(value, list) else [value]
        if (name in lists) != isinstance(value, list) or any(
            type(each) is not int for each in values
        ):
            kind = "a list of whole numbers" if name in lists else "a whole number"
            raise InputError(f"{path}: {name}: {value!r} is not {kind}")
    for name in lists:
        if name not in found:
            raise InputError(f"{path}: {name}: is missing")
    try:
        return Space(
            depths=tuple(found["depths"]),
            widths=tuple(found["widths"]),
            heads=tuple(found["heads"]),
            hidden=tuple(found["hidden"]),
            head_width=found.get("head_width", Space.head_width),
            together=found.get("together", Space.together),
        )
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
