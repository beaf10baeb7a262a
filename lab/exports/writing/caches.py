"""Keys and values of the tokens before, as optimum exports them: ``past_key_values``, ``present``.

Both are (batch, heads, tokens, head width); what goes out has the tokens of the step, too.
"""

from dataclasses import dataclass

from onnx import TensorProto

from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape

__all__ = ["Cache", "LayerCache", "mask_sizes", "places", "positions"]

_BEFORE = "past_sequence_length"
_ALL = f"{_BEFORE} + sequence"


@dataclass(frozen=True)
class LayerCache:
    """What one layer has."""

    cache: "Cache"
    index: int

    def extended(self, keys: str, values: str) -> list[str]:
        """Keys and values of the step behind those of the cache."""
        tape = self.cache.tape
        pair = zip(self.cache.inputs[self.index], (keys, values), strict=True)
        found = [tape.op("Concat", before, new, axis=2) for before, new in pair]
        self.cache.results[self.index] = found
        return found


class Cache:
    """The caches of all layers of a model that is being written."""

    def __init__(self, tape: Tape, size: Size, heads: int):
        self.tape = tape
        self._shape = "batch", heads, _BEFORE, size.head_width
        self.inputs = [
            [
                tape.input(f"past_key_values.{layer}.{part}", TensorProto.FLOAT, self._shape)
                for part in ("key", "value")
            ]
            for layer in range(size.layers)
        ]
        self.results: dict[int, list[str]] = {}

    def layer(self, index: int) -> LayerCache:
        """The cache of a layer."""
        return LayerCache(self, index)

    def length(self, index: int) -> str:
        """How many tokens the cache of a layer holds, as a scalar of the graph."""
        return self.tape.size(self.inputs[index][0], 2)

    def write_outputs(self) -> None:
        """Declare the caches of the next step as outputs."""
        shape = (*self._shape[:2], _ALL, self._shape[3])
        for index, pair in self.results.items():
            for part, value in zip(("key", "value"), pair, strict=True):
                self.tape.output(value, f"present.{index}.{part}", shape)


def mask_sizes(cache: Cache | None) -> tuple[str, str]:
    """The sizes of the attention mask: it has the tokens of the cache, too."""
    return "batch", "sequence" if cache is None else _ALL


def positions(tape: Tape, cache: Cache | None, length: str) -> str:
    """The positions of so many tokens behind those of the cache."""
    if cache is None:
        return tape.op("Range", tape.constant(0), length, tape.constant(1))
    before = cache.length(0)
    return tape.op("Range", before, tape.op("Add", before, length), tape.constant(1))


def places(tape: Tape, cache: Cache | None, length: str) -> str:
    """The positions (texts, tokens): an input behind a cache, as optimum has it, else the first."""
    if cache is None:
        return tape.unsqueeze(positions(tape, None, length), 0)
    return tape.input("position_ids", TensorProto.INT64, ("batch", "sequence"))
