"""Which words of a step's program depend on where its texts are, and by how much.

The program is compiled for other places, and the words that differ are found: an address in a cache
says whose it is by its row, and any other word by how much it changes when each text is shorter by
another number of tokens.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from celosia.isa.encoding import WORD_BITS, Command
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.decoding.texts import CacheLayout, Place

__all__ = ["Patch", "find_patches"]

_OPERANDS: Final = ("rs1", "rs2")
_WORDS: Final = 1 << WORD_BITS
_Word = tuple[int, Literal["rs1", "rs2"]]
"""The index of a command in the program, and one of its operands."""


@dataclass(frozen=True)
class Patch:
    """A word of a program that depends on where a text is."""

    entry: int
    """The index of its command in the program."""
    operand: Literal["rs1", "rs2"]
    text: int
    """The text, by its number in the step."""
    token: int = 0
    """What each token more adds to it, modulo 2^64."""
    slot: int = 0
    """What each slot further on adds to it, modulo 2^64."""

    def apply(self, command: Command, tokens: int, slots: int) -> Command:
        """The command for a text so many tokens longer, so many slots further on."""
        word = getattr(command, self.operand) + tokens * self.token + slots * self.slot
        return command._replace(**{self.operand: word % _WORDS})


def find_patches(
    compiled: CompiledGraph,
    layout: CacheLayout,
    places: Sequence[Place],
    contexts: range,
    compile_for: Callable[[Sequence[Place]], CompiledGraph],
) -> tuple[Patch, ...]:
    """The patches of the program of texts in `places`, for all slots and for these `contexts`.

    Raises `ValueError` for a program that is another one elsewhere, or of which a word depends on
    several texts.
    """
    patches = dict[_Word, Patch]()
    if layout.texts > 1:
        turned = [Place((place.slot + 1) % layout.texts, place.context) for place in places]
        for word, change in _changes(compiled, compile_for(turned)).items():
            patches[word] = _address(compiled, layout, word)
            text = patches[word].text
            if (turned[text].slot - places[text].slot) * patches[word].slot % _WORDS != change:
                raise _another(compiled)
    if len(contexts) > 1:
        for word, (text, change) in _longer(compiled, places, compile_for).items():
            patch = patches.get(word, Patch(*word, text))
            if patch.text != text:
                raise _another(compiled)
            patches[word] = replace(patch, token=change)
    return tuple(patches.values())


def _another(compiled: CompiledGraph) -> ValueError:
    return ValueError(f"graph {compiled.graph.name}: for other places it is another program")


def _changes(one: CompiledGraph, other: CompiledGraph) -> dict[_Word, int]:
    """What the other program adds to the words that differ, modulo 2^64."""
    pairs = list(zip(one.program, other.program, strict=False))
    alike = len(one.program) == len(other.program) and one.addresses == other.addresses
    if not alike or any(this.funct != that.funct for this, that in pairs):
        raise _another(one)
    return {
        (entry, operand): (getattr(that, operand) - getattr(this, operand)) % _WORDS
        for entry, (this, that) in enumerate(pairs)
        for operand in _OPERANDS
        if getattr(this, operand) != getattr(that, operand)
    }


def _address(compiled: CompiledGraph, layout: CacheLayout, word: _Word) -> Patch:
    """The patch of an address in a cache."""
    entry, operand = word
    address = getattr(compiled.program[entry], operand)
    for name, start in compiled.addresses.items():
        tensor = compiled.graph.tensors[name]
        if tensor.cache and start <= address < start + tensor.bytes:
            row_bytes = tensor.bytes // tensor.rows
            text = layout.slot((address - start) // row_bytes)
            return Patch(entry, operand, text, slot=layout.slot_rows * row_bytes)
    raise _another(compiled)


def _longer(
    compiled: CompiledGraph,
    places: Sequence[Place],
    compile_for: Callable[[Sequence[Place]], CompiledGraph],
) -> Mapping[_Word, tuple[int, int]]:
    """Each word that depends on the length of a text: the text, and what a token more adds."""

    def behind(tokens: Callable[[int], int]) -> dict[_Word, int]:
        """What words change when each text is shorter by this of its number."""
        moved = [
            Place(place.slot, place.context - tokens(number)) for number, place in enumerate(places)
        ]
        return _changes(compiled, compile_for(moved))

    one = behind(lambda number: 1)
    apart = behind(lambda number: number + 1) if len(places) > 1 else one
    found = dict[_Word, tuple[int, int]]()
    for word in sorted(one.keys() | apart.keys()):
        by_one, change = one.get(word, 0), apart.get(word, 0)
        texts = [n for n in range(len(places)) if by_one * (n + 1) % _WORDS == change]
        if not by_one or len(texts) != 1:
            raise _another(compiled)
        found[word] = texts[0], -by_one % _WORDS
    return found
