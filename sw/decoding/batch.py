"""Many texts beside each other: each goes on by a token in a step of all.

A text that ends leaves its slot to the next one.  Prompts are taken alone, up to 16 tokens in a
step.  Integers of a row do not depend on the rows beside it, so each text is the one that it is
alone.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from celosia.sw.decoding.session import SlotText
from celosia.sw.decoding.steps import Step, Steps
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.random_words import RandomWords
from celosia.sw.reference.language.sampling import Sampler

__all__ = ["Following", "generate_texts"]


@dataclass(frozen=True)
class Following:
    """What follows in one of the texts."""

    text: int
    """The number of its prompt."""
    token: int | None
    """None: nothing more follows."""


@dataclass
class _Going:
    """A text that goes on."""

    number: int
    text: SlotText
    random: RandomWords
    left: int
    """How many tokens may follow still."""
    last: int = -1
    """The token that the next step takes."""


def generate_texts(
    steps: Steps,
    prompts: Sequence[Sequence[int]],
    count: int,
    sampler: Sampler,
    *,
    end: int | None = None,
    told: Callable[[Step, bool], object] = lambda step, prompt: None,
) -> Iterator[Following]:
    """Up to `count` tokens that follow each of `prompts`, each as soon as it is known.

    Every text is what `generate` makes of its prompt, with random numbers of its own.  `told` is
    given each step, and whether it took tokens of a prompt.  Raises as `SlotText.append` does.
    """
    waiting, free = deque(enumerate(prompts)), deque(range(steps.slots))
    going: list[_Going] = []

    def chosen(text: _Going, logits: Floats) -> Iterator[Following]:
        """The token of a row of logits, and the end if it is the last."""
        text.last, text.left = sampler.choose(logits, text.random), text.left - 1
        if text.last != end:
            yield Following(text.number, text.last)
        if text.last == end or not text.left:
            yield Following(text.number, None)
            free.append(text.text.slot)
        else:
            going.append(text)

    while waiting or going:
        while waiting and free:
            number, prompt = waiting.popleft()
            text = _Going(number, SlotText(steps, free.popleft()), sampler.random(), count)
            logits, taken = text.text.append(prompt)
            for step in taken:
                told(step, True)
            yield from chosen(text, logits[-1])
        if going:
            before, going = going, []
            found, step = steps.take([t.text.place for t in before], [[t.last] for t in before])
            told(step, False)
            for text, (logits,) in zip(before, found, strict=True):
                text.text.length += 1
                yield from chosen(text, logits)
