"""Steps of texts on a device: their keys and values stay in slots of the device's memory.

A step takes up to 16 tokens of one text, or one token of each of up to 16 texts, in 1, 2, 4, 8 or
16 rows, as few as they need.  Rows behind its tokens are of no token: what they leave in the caches
is overwritten by the next step, and no token sees it.  Programs are compiled once for 64 lengths of
context each, and patched for the places of the texts (`Bucket`).  Those of several texts read as
many keys of each as the longest has: masks hide what is behind the others.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from celosia.isa.memory import ALIGNMENT, MEMORY_BASE
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.decoding.bucket import Bucket, compile_bucket
from celosia.sw.decoding.decoder import Decoder, DecoderStep
from celosia.sw.decoding.rings import rings_of
from celosia.sw.decoding.texts import CacheLayout, Place, Text
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
    "Behind",
    "SegmentRun",
    "Step",
    "StepPrograms",
    "Steps",
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

    texts: tuple[Text, ...]
    """Each text: the tokens before the step, and those that it took."""
    rows: int
    """Its rows: those behind the tokens are of no token."""
    results: tuple[RunResult, ...]
    bytes: int
    """What the step has to read: weights, and keys and values of its texts."""

    @property
    def text(self) -> Text:
        """The text of a step of one."""
        (text,) = self.texts
        return text

    @property
    def cycles(self) -> int | None:
        """Cycles of all programs; None: the device has no clock."""
        found = [result.cycles for result in self.results]
        return None if None in found else sum(cycles or 0 for cycles in found)


def session_bytes(model: Decoder, context: int, slots: int = 1) -> int:
    """Bytes of memory that steps of so many texts of up to `context` tokens are content with."""
    return sum(_sizes(model, _layout(context, slots)))


def _layout(context: int, slots: int) -> CacheLayout:
    # Several texts are told from each other by lengths that differ (`compile_bucket`).
    longest = context - 1 if slots == 1 else max(context - 1, 2 * slots)
    # Places in a ring go on within a bucket; texts beside each other are in rounds of their own.
    return CacheLayout(slots, longest + ROWS, BUCKET if slots == 1 else None)


def _sizes(model: Decoder, layout: CacheLayout) -> list[int]:
    """Bytes that programs of each segment are content with."""
    longest = layout.capacity - ROWS
    kinds = [[Text(longest, ROWS)], [Text(longest, 1)] * layout.texts]
    steps = [model.step(texts, layout, moving=True).model.segments for texts in kinds]
    return [max(_graph_bytes(each.graph) for each in alike) for alike in zip(*steps, strict=False)]


def _graph_bytes(graph: Graph) -> int:
    tensors = sum(tensor.bytes + ALIGNMENT for tensor in graph.tensors.values())
    # Beside the graph's own constants there are those that programs need: a few for each column.
    whole = tensors + tensors // 4
    return whole + -whole % ALIGNMENT


@dataclass(frozen=True, eq=False)
class StepPrograms:
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
    places: Sequence[Place]
    """Where its texts are, before the step."""


Behind = Callable[[SegmentRun], object]
"""What is told each segment that has ended."""


class Steps:
    """Steps of texts of up to `context` tokens in as many `slots`.

    Raises `ValueError` for a context below 1, and for slots that are no power of two up to `ROWS`.
    """

    def __init__(
        self,
        device: Device,
        model: Decoder,
        context: int,
        slots: int = 1,
        behind: Behind = lambda _: None,
    ):
        if context < 1:
            raise ValueError(f"context: {context} tokens: it must hold at least one")
        if slots != step_rows(slots):
            raise ValueError(f"slots: {slots} is no power of two in 1..{ROWS}")
        self.device, self.model, self.context, self.behind = device, model, context, behind
        self.slots = slots
        self._layout = _layout(context, slots)
        self.rings = tuple(rings_of(model.graph, self._layout).values())
        """The rings among caches."""
        self._programs: dict[tuple[int, int, int], StepPrograms] = {}
        self._bases: list[int] = []
        """Where each segment's memory begins."""
        self._kept: dict[int, dict[int, Array | str]] = {}
        """Constants and caches of each segment, by address: all its programs share them."""
        self._loaded: set[int] = set()
        """Segments whose constants and caches are in memory."""

    def prepare(self, places: Sequence[Place], tokens: int = 1) -> None:
        """Compile the programs of a step of texts in these places, with so many tokens each.

        Raises `ValueError` for an accelerator that does not have what they need.
        """
        self.programs(len(self._filled(places)), step_rows(tokens), _longest(places))

    def pieces(self, length: int, tokens: Sequence[int]) -> Iterator[Sequence[int]]:
        """The tokens of each step behind `length` others: none goes on at a ring's other end."""
        while len(tokens):
            size = min(ROWS, BUCKET - length % BUCKET) if self.rings else ROWS
            yield tokens[:size]
            length, tokens = length + size, tokens[size:]

    def take(
        self, places: Sequence[Place], tokens: Sequence[Sequence[int]]
    ) -> tuple[list[Floats], Step]:
        """The logits (tokens x vocabulary) of what follows each token of each text, and the step.

        Raises `DeviceError` for a device that stops, and what `behind` raises.
        """
        filled = self._filled(places)
        rows = step_rows(len(tokens[0])) if len(places) == 1 else 1
        programs = self.programs(len(filled), rows, _longest(places))
        # The last rows are of no token.
        padded = [*tokens, *([] for _ in filled[len(tokens) :])]
        given = [token for text in padded for token in (*text, *[0] * (rows - len(text)))]
        inputs = programs.step.float_graph.inputs(
            given, [Text(place.context, rows) for place in filled]
        )
        execution = Execution(programs.step.model, inputs, count=False)
        running = _Running(self, programs, filled, execution)
        logits = programs.step.logits(execution.run(running.segment).outputs)
        texts = [Text(p.context, len(t)) for p, t in zip(places, tokens, strict=True)]
        read = programs.step.least_bytes(texts)
        step = Step(tuple(texts), rows * len(filled), tuple(running.results), read)
        return [logits[n * rows :][: len(text)] for n, text in enumerate(tokens)], step

    def _filled(self, places: Sequence[Place]) -> list[Place]:
        """The places of a step: of more than one text, as many as there are programs for."""
        taken = {place.slot for place in places}
        free = (Place(slot, 0) for slot in range(self.slots) if slot not in taken)
        more = step_rows(len(places)) - len(places)
        return [*places, *(place for place, _ in zip(free, range(more), strict=False))]

    def programs(self, texts: int, rows: int, longest: int) -> StepPrograms:
        """The programs for so many texts, the longest of which has this context.

        They are compiled when they are asked for the first time; raises `ValueError` as `prepare`
        does.
        """
        first = longest - longest % BUCKET
        if (texts, rows, first) not in self._programs:
            last = min(first + BUCKET, self._layout.capacity - ROWS + 1)
            # Texts beside the longest may be of any length.
            contexts = range(first if texts == 1 else 0, last)
            text = Text(contexts[-1], rows)
            shorter = contexts[-1] - contexts[0]
            step = self.model.step(
                [text] * texts, self._layout, text.keys, shorter=shorter, moving=True
            )
            if not self._bases:
                self._place()
            if len(step.model.segments) != len(self._bases):
                what = f"{rows} tokens" if texts == 1 else f"{texts} texts"
                raise ValueError(
                    f"{self.model.graph.name}: a step of {what} is "
                    f"{len(step.model.segments)} programs, one of {ROWS} is {len(self._bases)}: "
                    "caches cannot go from one to the other"
                )
            buckets = tuple(
                compile_bucket(
                    segment.graph,
                    self._layout,
                    contexts,
                    self.device.config,
                    base,
                    _CHOICES,
                    texts=texts,
                )
                for segment, base in zip(step.model.segments, self._bases, strict=True)
            )
            for number, pair in enumerate(zip(step.model.segments, buckets, strict=True)):
                self._check_kept(number, *pair)
            self._programs[texts, rows, first] = StepPrograms(step, buckets)
        return self._programs[texts, rows, first]

    def _check_kept(self, number: int, segment: Segment, bucket: Bucket) -> None:
        """Every program of a segment finds constants and caches where the first one has them."""
        kept = {**segment.caches, **bucket.compiled.graph.constants}
        found = {bucket.compiled.addresses[name]: what for name, what in kept.items()}
        known = self._kept.setdefault(number, found)
        same = found.keys() == known.keys() and all(
            np.array_equal(what, known[address]) for address, what in found.items()
        )
        assert same, "programs of one session have constants at other addresses"

    def _place(self) -> None:
        base = MEMORY_BASE
        for size in _sizes(self.model, self._layout):
            self._bases.append(base)
            base += size


def _longest(places: Iterable[Place]) -> int:
    return max(place.context for place in places)


class _Running:
    """A step's segments on the device, one after the other."""

    def __init__(
        self, steps: Steps, programs: StepPrograms, places: Sequence[Place], execution: Execution
    ):
        self.steps, self.programs, self.places = steps, programs, places
        self.execution = execution
        self.results: list[RunResult] = []

    def segment(
        self, number: int, _graph: Graph, inputs: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """A segment: the graph of these places by the patched program."""
        steps, bucket = self.steps, self.programs.buckets[number]
        compiled = replace(bucket.compiled, program=bucket.program(self.places))
        found = self.programs.step.model.segments[number]
        run = GraphRun(steps.device, compiled)
        if number in steps._loaded:
            run.load_step(inputs)
        else:
            run.load({**inputs, **{name: blank_cache(compiled, name) for name in found.caches}})
            steps._loaded.add(number)
        rows = self._give_rows(found, bucket)
        self.results.append(run.run())
        steps.behind(SegmentRun(run, bucket, found, inputs, rows, self.places))
        return {name: run.read(name) for name in found.outputs}

    def _give_rows(self, segment: Segment, bucket: Bucket) -> list[tuple[str, int, Array]]:
        """Write the rows of caches that the host has."""
        written = []
        for rows in segment.given:
            matrix = self.execution.forms[rows.form]
            found = np.concatenate([matrix[part.slices] for part in rows.parts], axis=1)
            first, width = bucket.moved_row(rows.first, self.places), found.shape[1]
            place = bucket.compiled.addresses[rows.cache] + first * width
            self.steps.device.write(place, found.tobytes())
            written.append((rows.cache, first, found))
        return written


def blank_cache(compiled: CompiledGraph, name: str) -> Array:
    """What a cache holds before anybody writes to it."""
    return np.full(compiled.graph.tensors[name].shape, POISON, np.uint8).view(np.int8)


def step_rows(tokens: int) -> int:
    """The rows of a step for so many tokens, or the first of more."""
    return 1 << (min(tokens, ROWS) - 1).bit_length()
