"""What every decoder's file begins and ends with: token numbers and mask in, logits out."""

from dataclasses import dataclass
from typing import Any, Final

from onnx import TensorProto

from celosia.lab.exports.writing import caches
from celosia.lab.exports.writing.block import Block

__all__ = ["Decoder", "begin"]

_TOKENS: Final = ("batch", "sequence")


@dataclass(frozen=True)
class Decoder:
    """A decoder that is being written."""

    block: Block
    tokens: str
    mask: str
    cache: caches.Cache | None

    def before(self) -> str | None:
        """How many tokens the cache holds, if there is one."""
        return self.cache and self.cache.length(0)

    def layer(self, index: int) -> caches.LayerCache | None:
        """The cache of a layer, if there is one."""
        return self.cache and self.cache.layer(index)

    def finish(self, logits: str) -> Any:
        """The model, with these logits and what the next step's cache holds as outputs."""
        tape = self.block.tape
        tape.output(logits, "logits", (*_TOKENS, self.block.size.vocabulary))
        if self.cache:
            self.cache.write_outputs()
        return tape.model()


def begin(block: Block, heads: int, *, cached: bool) -> Decoder:
    """A decoder whose caches, if it is `cached`, have so many heads."""
    tape = block.tape
    tokens = tape.input("input_ids", TensorProto.INT64, _TOKENS)
    cache = caches.Cache(tape, block.size, heads) if cached else None
    mask = tape.input("attention_mask", TensorProto.INT64, caches.mask_sizes(cache))
    return Decoder(block, tokens, mask, cache)
