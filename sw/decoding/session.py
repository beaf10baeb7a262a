"""A text that a decoder goes on with on a device: the caches stay in the device's memory.

Tokens are taken 16 at a time; a step of fewer has 1, 2, 4, 8 or 16 rows, as few as they need.
Rows behind its tokens are of no token: what they leave in the caches is overwritten by the next
step, and no token sees it.  So a text can go back to a shorter one, too, by its length alone.
Programs are compiled once for 64 lengths of context each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from celosia.isa.memory import ALIGNMENT, MEMORY_BASE
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.decoding.bucket import Bucket, compile_bucket
from celosia.sw.decoding.decoder import Decoder, DecoderStep, check_shorter, check_tokens
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.driver.buffers import POISON
from celosia.sw.driver.device import Device, RunResult
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graph_interpret import Array
from celosia.sw.planning.choices import Choices
from celosia.sw.quantize.graphs.quantized import Execution
from celosia.sw.quantize.units.segments import Segment
from celosia.sw.reference.encoder import Floats

__all__ = [
    "BUCKET",
    "ROWS",
    "DecoderSession",
    "SegmentRun",
    "Step",
    "blank_cache",
    "session_bytes",
    "step_rows",
]

ROWS: Final = 16
"""The most rows of a step, a power of two: any smaller one is a number of rows, too."""
BUCKET: Final = 64
"""Lengths of context that share a program."""

_CHOICES: Final = Choices(schedule_loads=True)
"""A step reads every weight once: what counts is that the memory never waits."""


@dataclass(frozen=True)
class Step:
    """What the programs of a step did, one for each segment."""

    text: Text
    """The tokens before it, and those that it took."""
    rows: int
    """Its rows: those behind the tokens are of no token."""
    results: tuple[RunResult, ...]
    bytes: int
    """What the step has to read: weights, and keys and values of its text."""

    @property
    def cycles(self) -> int | None:
        """Cycles of all programs; None: the device has no clock."""
        found = [result.cycles for result in self.results]
        return None if None in found else sum(cycles or 0 for cycles in found)


def session_bytes(model: Decoder, context: int) -> int:
    """Bytes of memory that a session for so many tokens is content with."""
    return sum(_sizes(model, context))


def _sizes(model: Decoder, context: int) -> list[int]:
    """Bytes that programs of each segment are content with."""
    text, layout = Text(context - 1, ROWS), CacheLayout(1, context - 1 + ROWS)
    segments = model.step([text], layout, moving=True).model.segments
    return [_graph_bytes(segment.graph) for segment in segments]


def _graph_bytes(graph: Graph) -> int:
    tensors = sum(tensor.bytes + ALIGNMENT for tensor in graph.tensors.values())
    # Beside the graph's own constants there are those that programs need: a few for each column.
    whole = tensors + tensors // 4
    return whole + -whole % ALIGNMENT


@dataclass(frozen=True, eq=False)
class _Programs:
    """Steps for the lengths of a bucket: a graph, and programs of each segment."""

    step: DecoderStep
    buckets: tuple[Bucket, ...]


@dataclass(frozen=True, eq=False)
class SegmentRun:
    """A segment of a step that has ended, while its tensors are in memory."""

    run: GraphRun
    bucket: Bucket
    segment: Segment
    inputs: Mapping[str, Array]
    """Its inputs but caches."""
    rows: Sequence[tuple[str, int, Array]]
    """Rows that the host has written: their cache, the first of them, and what is in them."""
    length: int
    """Tokens of the text before the step."""


class DecoderSession:
    """One text of up to `context` tokens on `device`.

    `behind` is told each segment that has ended.  Raises `ValueError` for a context below 1.
    """

    def __init__(
        self,
        device: Device,
        model: Decoder,
        context: int,
        behind: Callable[[SegmentRun], object] = lambda _: None,
    ):
        if context < 1:
            raise ValueError(f"context: {context} tokens: it must hold at least one")
        self.device, self.model, self.context, self.behind = device, model, context, behind
        self.length = 0
        """Tokens of the text so far."""
        self._layout = CacheLayout(1, context - 1 + ROWS)
        self._programs: dict[tuple[int, int], _Programs] = {}
        self._bases: list[int] = []
        """Where each segment's memory begins."""
        self._kept: dict[int, dict[str, int]] = {}
        """Addresses of constants and caches, which all programs of a segment share."""

    def prepare(self, tokens: int) -> None:
        """Compile the programs that the next `tokens` begin with.

        Raises `ValueError` for an accelerator that does not have what they need.
        """
        self._bucket(step_rows(tokens))

    def append(self, tokens: Sequence[int]) -> tuple[Floats, list[Step]]:
        """The logits (tokens x vocabulary) of what follows each of `tokens`, and the steps.

        Raises `ValueError` for no tokens, more than the context has room for, or one outside the
        vocabulary, `DeviceError` for a device that stops, and what `behind` raises.
        """
        check_tokens(tokens, self.length, self.context, self.model.vocabulary)
        pieces = [tokens[start : start + ROWS] for start in range(0, len(tokens), ROWS)]
        logits, steps = zip(*map(self._step, pieces), strict=True)
        return np.concatenate(logits), list(steps)

    def go_back(self, length: int) -> None:
        """Forget all tokens behind the first `length`; nothing is moved in memory.

        Raises `ValueError` for a length that the text does not have.
        """
        check_shorter(length, self.length)
        self.length = length

    def _step(self, tokens: Sequence[int]) -> tuple[Floats, Step]:
        rows = step_rows(len(tokens))
        programs = self._bucket(rows)
        # The last rows are of no token.
        padded = [*tokens, *(0 for _ in range(rows - len(tokens)))]
        inputs = programs.step.float_graph.inputs(padded, [Text(self.length, rows)])
        execution = Execution(programs.step.model, inputs, count=False)
        running = _Running(self, programs, execution)
        outputs = execution.run(running.segment).outputs
        text = Text(self.length, len(tokens))
        read = programs.step.least_bytes(self.length + len(tokens))
        step = Step(text, rows, tuple(running.results), read)
        self.length += len(tokens)
        return programs.step.logits(outputs)[: len(tokens)], step

    def _bucket(self, rows: int) -> _Programs:
        """The programs for a context as long as the text is now."""
        first = self.length - self.length % BUCKET
        if (rows, first) not in self._programs:
            contexts = range(first, min(first + BUCKET, self.context))
            text = Text(contexts[-1], rows)
            step = self.model.step([text], self._layout, text.keys, moving=True)
            if not self._bases:
                self._place()
            if len(step.model.segments) != len(self._bases):
                raise ValueError(
                    f"{self.model.graph.name}: a step of {rows} tokens is "
                    f"{len(step.model.segments)} programs, one of {ROWS} is {len(self._bases)}: "
                    "caches cannot go from one to the other"
                )
            buckets = tuple(
                compile_bucket(segment.graph, contexts, self.device.config, base, _CHOICES)
                for segment, base in zip(step.model.segments, self._bases, strict=True)
            )
            self._programs[rows, first] = _Programs(step, buckets)
        return self._programs[rows, first]

    def _place(self) -> None:
        base = MEMORY_BASE
        for size in _sizes(self.model, self.context):
            self._bases.append(base)
            base += size


class _Running:
    """A step's segments on the device, one after the other."""

    def __init__(self, session: DecoderSession, programs: _Programs, execution: Execution):
        self.session, self.programs, self.execution = session, programs, execution
        self.results: list[RunResult] = []

    def segment(
        self, number: int, _graph: Graph, inputs: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """A segment: the graph of this length by the patched program of the longest."""
        session, bucket = self.session, self.programs.buckets[number]
        compiled = replace(bucket.compiled, program=bucket.program(session.length))
        found = self.programs.step.model.segments[number]
        run = GraphRun(session.device, compiled)
        if self._is_kept(number, compiled):
            run.load_step(inputs)
        else:
            run.load({**inputs, **{name: blank_cache(compiled, name) for name in found.caches}})
        rows = self._give_rows(found, compiled, session.length - bucket.contexts[-1])
        self.results.append(run.run())
        session.behind(SegmentRun(run, bucket, found, inputs, rows, session.length))
        return {name: run.read(name) for name in found.outputs}

    def _is_kept(self, number: int, compiled: CompiledGraph) -> bool:
        """Whether constants and caches are in memory, which is where other programs have them."""
        graph = compiled.graph
        kept = {
            name: address
            for name, address in compiled.addresses.items()
            if name in graph.constants or graph.tensors[name].cache
        }
        known = self.session._kept.setdefault(number, {})
        if not known:
            known |= kept
            return False
        assert kept == known, "programs of one session have constants at other addresses"
        return True

    def _give_rows(
        self, segment: Segment, compiled: CompiledGraph, moved: int
    ) -> list[tuple[str, int, Array]]:
        """Write the rows of caches that the host has."""
        written = []
        for rows in segment.given:
            matrix = self.execution.forms[rows.form]
            found = np.concatenate([matrix[part.slices] for part in rows.parts], axis=1)
            first, width = rows.first + moved, compiled.graph.tensors[rows.cache].cols
            place = compiled.addresses[rows.cache] + first * width
            self.session.device.write(place, found.tobytes())
            written.append((rows.cache, first, found))
        return written


def blank_cache(compiled: CompiledGraph, name: str) -> Array:
    """What a cache holds before anybody writes to it."""
    return np.full(compiled.graph.tensors[name].shape, POISON, np.uint8).view(np.int8)


def step_rows(tokens: int) -> int:
    """The rows of a step for so many tokens, or the first of more."""
    return 1 << (min(tokens, ROWS) - 1).bit_length()
