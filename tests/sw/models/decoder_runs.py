"""Small decoders, and their graphs computed step by step, each with the caches of the last."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.decoding.decoder import Decoder, DecoderStep
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.decoder_shape import DecoderShape, Form
from celosia.sw.models.random_decoder import random_decoder
from celosia.sw.planning.choices import Choices
from celosia.sw.reference.language.shape import LayerShape

CAPACITY = 24
MEMORY = 4 << 20


@dataclass(frozen=True, eq=False)
class Model:
    """A decoder of random integers, from sums of embeddings on."""

    shape: DecoderShape
    decoder: Decoder

    def step(self, texts: Sequence[Text], capacity: int, keys: int | None = None) -> DecoderStep:
        """A step, of programs that can be patched if it reads so many `keys`."""
        layout = CacheLayout(len(texts), capacity)
        return self.decoder.step(texts, layout, keys, named=True, moving=keys is not None)

    def graph(self, texts: Sequence[Text], capacity: int, keys: int | None = None) -> Graph:
        """The graph of a step."""
        (segment,) = self.step(texts, capacity, keys).model.segments
        return segment.graph


@cache
def model(form: Form = "gpt2", layers=2, width=32, heads=4, key_heads=4, vocabulary=50, whole=True):
    layer = LayerShape(
        heads=heads, key_heads=key_heads, head_width=width // heads, hidden=2 * width
    )
    shape = DecoderShape(
        form=form,
        width=width,
        vocabulary=vocabulary,
        layers=(layer,) * layers,
    )
    return Model(shape, random_decoder(shape, 7, 64, whole=whole))


def tokens(decoder, count, seed=1):
    """Sums of embeddings of so many tokens."""
    values = np.random.default_rng(seed).normal(0, 2000, (count, decoder.shape.width))
    return np.clip(np.rint(values), -32768, 32767).astype(np.int16)


def interpreted(graph, inputs):
    """What the graph's interpreter makes of it."""
    return interpret(graph, inputs)


def on_device(preset, simulator="functional"):
    """What a device leaves in memory, caches and their guards included."""
    config = resolve_config(preset, ())

    def run(graph, inputs, compiled=None):
        if compiled is None:
            rows = len(inputs["embedding.wide"])
            choices = Choices(schedule_loads=rows <= 2 * config.dim)
            compiled = compile_graph(graph, config, Decide(choices))
        device = open_device(simulator, config, MemoryTiming(), MEMORY)
        try:
            started = GraphRun(device, compiled)
            started.load(inputs)
            started.run()
            return {name: started.read(name) for name in started.written}
        finally:
            device.close()

    return run


@dataclass
class Session:
    """A decoder whose caches go from one step to the next."""

    decoder: Model
    compute: Callable = interpreted
    texts: int = 1
    capacity: int = CAPACITY
    caches: dict = field(default_factory=dict)
    lengths: list = field(default_factory=list)

    def __post_init__(self):
        shape = self.decoder.shape
        rows = CacheLayout(self.texts, self.capacity).rows
        random = np.random.default_rng(3)
        keys = "rotate_key" if shape.form == "llama" else "key"
        for index, layer in enumerate(shape.layers):
            for name in (keys, "value"):
                garbage = random.integers(-128, 128, (rows, layer.key_width))
                self.caches[f"{index}.{name}.cache"] = garbage.astype(np.int8)
        self.lengths = [0] * self.texts

    def step(self, embedding, rows=None, keys=None):
        """The logits of tokens, so many `rows` of each text."""
        rows = rows or [len(embedding)]
        texts = [Text(length, count) for length, count in zip(self.lengths, rows, strict=True)]
        step = self.decoder.step(texts, self.capacity, keys)
        (segment,) = step.model.segments
        inputs = {"embedding.wide": embedding, **step.tables(segment, texts), **self.caches}
        found = self.compute(segment.graph, inputs)
        self.caches = {name: found[name] for name in self.caches}
        self.lengths = [text.keys for text in texts]
        return found["vocabulary.sums"]
