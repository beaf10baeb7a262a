"""A text that a decoder goes on with on a device: the caches stay in the device's memory.

Tokens are taken 16 at a time, and one by one where a single one is left.  Where fewer than 16 are
taken, the rest of the step's rows are of no token: what they leave in the caches is overwritten by
the next step, and no token sees it.  Programs are compiled once for 64 lengths of context each.
After every step, all that it leaves in memory is compared with the integer graph: so the caches'
guard rows are, which nobody may write.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from celosia.isa.memory import ALIGNMENT
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.decoding.bucket import Bucket, compile_bucket
from celosia.sw.driver.buffers import POISON
from celosia.sw.driver.device import Device, RunResult
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graph_interpret import Array, interpret
from celosia.sw.models.decoder import CacheLayout, decoder_graph, position_angles
from celosia.sw.models.decoder_shape import Text
from celosia.sw.models.quantized_decoder import QuantizedDecoder
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.planning.choices import Choices
from celosia.sw.reference.encoder import Floats

__all__ = ["BUCKET", "ROWS", "DecoderSession", "DifferenceError", "Step", "session_bytes"]

ROWS: Final = 16
"""Rows of a step that takes several tokens."""
BUCKET: Final = 64
"""Lengths of context that share a program."""

_CHOICES: Final = Choices(schedule_loads=True)
"""A step reads every weight once: what counts is that the memory never waits."""


class DifferenceError(RuntimeError):
    """A device left something else in memory than the integer graph."""


@dataclass(frozen=True)
class Step:
    """What one program did."""

    text: Text
    """The tokens before it, and those that it took."""
    result: RunResult
    compared: int
    """Elements in memory that were compared with the integer graph."""


def session_bytes(model: QuantizedDecoder, context: int) -> int:
    """Bytes of memory that a session for so many tokens is content with."""
    graph = decoder_graph(model.decoder, [Text(context - 1, ROWS)], context - 1 + ROWS)
    tensors = sum(tensor.bytes + ALIGNMENT for tensor in graph.tensors.values())
    # Beside the graph's own constants there are those that programs need: a few for each column.
    return tensors + tensors // 4


class DecoderSession:
    """One text of up to `context` tokens on `device`.

    Unless `check` is false, every tensor in memory is compared with the integer graph's behind each
    step, which takes longer than a step on a real device.  Raises `ValueError` for a context below
    1.
    """

    def __init__(
        self, device: Device, model: QuantizedDecoder, context: int, *, check: bool = True
    ):
        if context < 1:
            raise ValueError(f"context: {context} tokens: it must hold at least one")
        self.device, self.model, self.context, self.check = device, model, context, check
        self.length = 0
        """Tokens of the text so far."""
        self._capacity = context - 1 + ROWS
        self._buckets: dict[tuple[int, int], Bucket] = {}
        self._kept: dict[str, int] = {}
        """Addresses of constants and caches, which all programs share."""
        shape = model.decoder.shape
        size = CacheLayout(1, self._capacity).rows, shape.cache_width
        self._caches: dict[str, Array] = {
            f"{layer}.{name}": np.full(size, POISON, np.uint8).view(np.int8)
            for layer in range(shape.layers)
            for name in ("keys", "values")
        }

    def prepare(self, tokens: int) -> None:
        """Compile the programs that the next `tokens` begin with.

        Raises `ValueError` for an accelerator that does not have what they need.
        """
        self._bucket(_rows(tokens))

    def append(self, tokens: Sequence[int]) -> tuple[Floats, list[Step]]:
        """The logits (tokens x vocabulary) of what follows each of `tokens`, and the steps.

        Raises `ValueError` for no tokens, more than the context has room for, or one outside the
        vocabulary; `DifferenceError` for a device that does something else than the integer graph,
        and `DeviceError` for one that stops.
        """
        self._check(tokens)
        pieces = [tokens[start : start + ROWS] for start in range(0, len(tokens), ROWS)]
        logits, steps = zip(*map(self._step, pieces), strict=True)
        return np.concatenate(logits), list(steps)

    def _check(self, tokens: Sequence[int]) -> None:
        size = len(self.model.embedding)
        if not len(tokens):
            raise ValueError("tokens: there are none")
        if self.length + len(tokens) > self.context:
            raise ValueError(
                f"tokens: {len(tokens)} after {self.length} are more than the {self.context} of "
                "the context"
            )
        for place, token in enumerate(tokens):
            if not 0 <= token < size:
                raise ValueError(f"token {place}: {token} is not in 0..{size - 1}")

    def _step(self, tokens: Sequence[int]) -> tuple[Floats, Step]:
        rows = _rows(len(tokens))
        bucket = self._bucket(rows)
        inputs = self._inputs(tokens, rows)
        # The graph of this length, at the addresses of the longest, by the patched program.
        compiled = replace(bucket.compiled, program=bucket.program(self.length))
        run = GraphRun(self.device, compiled)
        if self._check_kept(compiled):
            run.load_step(inputs)
        else:
            run.load(inputs)
        result = run.run()
        compared = 0
        if self.check:
            graph = self._graph(rows, bucket.contexts, self.length)
            compared = self._compare(run, graph, inputs)
        step = Step(Text(self.length, len(tokens)), result, compared)
        self.length += len(tokens)
        return self.model.logits(run.read("logits")[: len(tokens)]), step

    def _inputs(self, tokens: Sequence[int], rows: int) -> dict[str, Array]:
        """The inputs of a step, whose last rows are of no token."""
        embedding = np.zeros((rows, self.model.embedding.shape[1]), np.int16)
        embedding[: len(tokens)] = self.model.embedded(tokens, self.length)
        angles = position_angles(self.model.decoder.shape, [Text(self.length, rows)])
        return {"embedding": embedding, **angles, **self._caches}

    def _bucket(self, rows: int) -> Bucket:
        """The programs for a context as long as the text is now."""
        first = self.length - self.length % BUCKET
        if (rows, first) not in self._buckets:
            contexts = range(first, min(first + BUCKET, self.context))
            graph_of = partial(self._graph, rows, contexts)
            self._buckets[rows, first] = compile_bucket(
                graph_of, contexts, self.device.config, choices=_CHOICES
            )
        return self._buckets[rows, first]

    def _graph(self, rows: int, contexts: range, context: int) -> Graph:
        """A step behind `context` tokens; all steps of a bucket read as many keys."""
        keys = contexts[-1] + rows
        return decoder_graph(self.model.decoder, [Text(context, rows)], self._capacity, keys=keys)

    def _check_kept(self, compiled: CompiledGraph) -> bool:
        """Whether constants and caches are in memory, which is where other programs have them."""
        graph = compiled.graph
        kept = {
            name: address
            for name, address in compiled.addresses.items()
            if name in graph.constants or graph.tensors[name].cache
        }
        if not self._kept:
            self._kept = kept
            return False
        assert kept == self._kept, "programs of one session have constants at other addresses"
        return True

    def _compare(self, run: GraphRun, graph: Graph, inputs: dict[str, Array]) -> int:
        """The elements that were compared; the caches are now the integer graph's."""
        expected = interpret(short_scales(graph, self.device.config), inputs)
        self._caches = {name: expected[name] for name in self._caches}
        compared = 0
        for name in run.written:
            found = run.read(name)
            if differing := int(np.count_nonzero(found != expected[name])):
                raise DifferenceError(
                    f"{name}: {differing:,} of {found.size:,} elements in memory are not those of "
                    f"the integer graph, behind {self.length} tokens"
                )
            compared += found.size
        return compared


def _rows(tokens: int) -> int:
    """The rows of a step for so many tokens, or more."""
    return ROWS if tokens > 1 else 1
