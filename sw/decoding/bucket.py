"""Programs for places that change: one is compiled, and a few of its words patched for others.

What depends on where a text is are addresses and the position that a causal mask begins with.  All
are linear in its length and its slot, and so is the program: compiled again for other places, it
tells which words change, by how much, and for which text.  If both ends are right, all between them
are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.memory import MEMORY_BASE
from celosia.sw.compiler.choose import SEARCHED_TILES, searched_choices
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.passes import Compress, Encode
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.probe import product_tiles
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.decoding.moved import moved
from celosia.sw.decoding.patches import Patch, find_patches
from celosia.sw.decoding.texts import CacheLayout, Place
from celosia.sw.ir.graph import Graph
from celosia.sw.passes.check_addresses import check_addresses
from celosia.sw.planning.choices import DEFAULT, Choices

__all__ = ["Bucket", "choose_step", "compile_bucket"]

_SIZES: Final = ("piece_tiles", "spare_tiles")
"""Choices of a step that depend on its sizes: its rows are one block."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Bucket:
    """A graph for texts in some places, compiled for others."""

    compiled: CompiledGraph
    """The graph for `places`, and its program."""
    layout: CacheLayout
    places: tuple[Place, ...]
    """A place for each text: the slot of its number, and a length that no other text has."""
    contexts: range
    """The lengths that the program can be patched for."""
    patches: tuple[Patch, ...]
    """What has to be patched."""
    choices: Choices
    """How all its programs are planned: chosen at its longest."""

    def graph(self, places: Sequence[Place]) -> Graph:
        """The graph for texts in these places.  Raises `ValueError` as `program` does."""
        self._check(places)
        return moved(self.compiled.graph, self.layout, self.places, places)

    def moved_row(self, row: int, places: Sequence[Place]) -> int:
        """Where a row is that a text at its longest writes to, in the slot of its number."""
        number = self.layout.slot(row)
        moved = self.layout.first(places[number].slot) - self.layout.first(number)
        return row + moved + places[number].context - self.contexts[-1]

    def _check(self, places: Sequence[Place]) -> None:
        if len(places) != len(self.places):
            raise ValueError(f"places: there are {len(places)}, not {len(self.places)}")
        if len({place.slot for place in places}) < len(places):
            raise ValueError("slot: two texts have the same one")
        for place in places:
            if place.context not in self.contexts:
                first, last = self.contexts[0], self.contexts[-1]
                raise ValueError(f"context: {place.context} is not in {first}..{last}")
            if place.slot not in range(self.layout.texts):
                raise ValueError(f"slot: {place.slot} is not in 0..{self.layout.texts - 1}")

    def program(self, places: Sequence[Place]) -> tuple[Command, ...]:
        """The program for texts in these places.

        Raises `ValueError` for other numbers of texts, two in a slot, a slot that there is not,
        and a length outside the bucket.
        """
        self._check(places)
        program = list(self.compiled.program)
        for patch in self.patches:
            old, new = self.places[patch.text], places[patch.text]
            program[patch.entry] = patch.apply(
                program[patch.entry], new.context - old.context, new.slot - old.slot
            )
        return tuple(program)


def choose_step(graph: Graph, config: AcceleratorConfig, choices: Choices) -> Choices:
    """`choices` with those sizes that are expected to be best for a small decoder's step, `graph`.

    A load that is needed at once waits for the piece before it, and what is spared for short
    transforms is what queues of loads and stores need: that differs from graph to graph.
    """
    if product_tiles(graph, config) > SEARCHED_TILES:
        return choices
    return searched_choices(graph, config, None, choices, _SIZES)


def compile_bucket(
    graph: Graph,
    layout: CacheLayout,
    contexts: range,
    config: AcceleratorConfig,
    base: int = MEMORY_BASE,
    choices: Choices = DEFAULT,
    *,
    texts: int = 1,
) -> Bucket:
    """Programs of `graph`, a step of `texts` behind the last of `contexts`, each for all of these.

    The slot of each text is its number; programs are for any slots of `layout`.  Raises
    `ValueError` for a graph whose program for other places is another one, for fewer `contexts`
    than two for each text, if those are several, and as `compile_graph` does, and `AssertionError`
    for a program that would leave its tensors.
    """
    if texts > 1 and len(contexts) < 2 * texts:
        raise ValueError(f"contexts: {len(contexts)} are not {2 * texts}, two for each text")
    longest = [Place(number, contexts[-1]) for number in range(texts)]
    # Texts of one length would share what sets their masks.
    places = tuple(Place(number, contexts[-1] - number) for number in range(texts))
    graph = moved(graph, layout, longest, places)
    choices = choose_step(graph, config, choices)
    # A loop over texts would be right for places at equal distances alone.
    how = Decide(choices), Encode(base=base), Compress(loops=texts == 1)
    compiled = compile_graph(graph, config, *how)
    patches = find_patches(
        compiled,
        layout,
        places,
        contexts,
        lambda elsewhere: compile_graph(moved(graph, layout, places, elsewhere), config, *how),
    )
    bucket = Bucket(
        compiled=compiled,
        layout=layout,
        places=places,
        contexts=contexts,
        patches=patches,
        choices=choices,
    )
    # Every address is linear in the place, and so is what may be written: both ends say it all.
    for context in dict.fromkeys((contexts[0], contexts[-1])):
        for first in dict.fromkeys((0, layout.texts - texts)):
            ends = [Place(first + number, context) for number in range(texts)]
            program, written = bucket.program(ends), bucket.graph(ends)
            check_addresses(program, config, written, compiled.addresses)
    return bucket
