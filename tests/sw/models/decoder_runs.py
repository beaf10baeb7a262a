"""Small decoders, and their graphs computed step by step, each with the caches of the last."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sw.compiler.pipeline import Decide, compile_graph
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.decoder import decoder_graph, position_angles
from celosia.sw.models.decoder_shape import DecoderShape, Form
from celosia.sw.models.integer_decoder import IntegerDecoder
from celosia.sw.models.random_decoder import random_decoder
from celosia.sw.planning.choices import Choices

CAPACITY = 24
MEMORY = 4 << 20


@cache
def model(form: Form = "gpt2", layers=2, width=32, heads=4, key_heads=4):
    shape = DecoderShape(
        form=form,
        layers=layers,
        width=width,
        heads=heads,
        key_heads=key_heads,
        hidden=2 * width,
        vocabulary=50,
    )
    return random_decoder(shape, 7)


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
            choices = Choices(schedule_loads=len(inputs["embedding"]) <= 2 * config.dim)
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

    decoder: IntegerDecoder
    compute: Callable = interpreted
    texts: int = 1
    capacity: int = CAPACITY
    caches: dict = field(default_factory=dict)
    lengths: list = field(default_factory=list)

    def __post_init__(self):
        shape = self.decoder.shape
        rows = CacheLayout(self.texts, self.capacity).rows
        random = np.random.default_rng(3)
        for layer in range(shape.layers):
            for name in ("keys", "values"):
                garbage = random.integers(-128, 128, (rows, shape.cache_width))
                self.caches[f"{layer}.{name}"] = garbage.astype(np.int8)
        self.lengths = [0] * self.texts

    def step(self, embedding, rows=None, keys=None):
        """The logits of tokens, so many `rows` of each text."""
        rows = rows or [len(embedding)]
        texts = [Text(length, count) for length, count in zip(self.lengths, rows, strict=True)]
        graph = decoder_graph(self.decoder, texts, self.capacity, keys=keys)
        angles = position_angles(self.decoder.shape, texts)
        inputs = {"embedding": embedding, **angles, **self.caches}
        found = self.compute(graph, inputs)
        self.caches = {name: found[name] for name in self.caches}
        self.lengths = [text.keys for text in texts]
        return found["logits"]
