"""`celosia language speculation`: what drafts gain on the accelerator, in one table."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

import typer
from rich.table import Table

from celosia.isa.documents.record import Record
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.training.speculation import PROMPT, Clock, Gain, gain, go_on, prompts, replay
from celosia.lab.training.text.held_out import held_out_texts
from celosia.sim.command.models.drafts import little_model
from celosia.sim.command.options.common import JsonOption
from celosia.sim.command.options.drafting import DraftModelOption
from celosia.sim.command.options.language import ModelOption, language_errors, quantized_model
from celosia.sim.devices.devices import open_device
from celosia.sim.run.origin import Versions, versions, write_document
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG, guarded
from celosia.sim.support.output import check_destination
from celosia.sim.support.progress import Progress
from celosia.sw.decoding.decoder import Decoder
from celosia.sw.decoding.drafts.draft import Source, draft_of
from celosia.sw.decoding.drafts.lookup import look_up
from celosia.sw.decoding.drafts.ngram_file import NGRAMS, load_ngrams
from celosia.sw.decoding.session import DecoderSession
from celosia.sw.decoding.steps import session_bytes
from celosia.sw.driver.device import Device
from celosia.sw.reference.language.model_file import (
    LanguageModel,
    load_language_model,
    shipped_folder,
)
from celosia.sw.reference.language.sampling import Draft, Sampler
from celosia.sw.reference.language.tokenizer import END

__all__ = ["Speculation", "SpeculationRow", "speculation"]


_TEXTS: Final = 12
_UNTIL: Final = (64, 150)
"""Tokens of a text, with its prompt and the token before it."""
_MOST: Final = 7
"""Tokens of a draft, unless a row says otherwise."""
_KINDS: Final = {
    "greedy": Sampler(),
    "temperature 0.7": Sampler(temperature=0.7, top_p=0.9),
}
_HELD_OUT: Final = "held-out text"
_ROWS: Final = (
    *(("greedy", names, _MOST) for names in ("lookup", "n-grams")),
    *(("greedy", "lookup, n-grams", most) for most in (1, 3, _MOST, 15)),
    *(("temperature 0.7", names, _MOST) for names in ("lookup", "lookup, n-grams")),
    *((_HELD_OUT, names, _MOST) for names in ("lookup", "lookup, n-grams")),
)
_OF_LITTLE: Final = (
    *(("greedy", "little model", most) for most in (3, _MOST)),
    *((kind, "lookup, little model", _MOST) for kind in ("greedy", "temperature 0.7", _HELD_OUT)),
)
"""The rows of a little model, if there is one."""
_TIMING: Final = MemoryTiming()


@dataclass(frozen=True)
class SpeculationRow:
    """What a draft gains in texts of a kind."""

    kind: str
    """How tokens are drawn."""
    drafts: str
    """Where guesses come from."""
    most: int
    """Tokens that are foretold for a step at most."""
    gains: Mapping[int, Gain]
    """By the tokens of the texts."""


@dataclass(frozen=True, kw_only=True)
class Speculation(Record):
    """What drafts gain."""

    schema: Literal["celosia.speculation/1"] = "celosia.speculation/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    versions: Versions = field(default_factory=versions)
    """Versions of Python and of packages that results depend on; null: not installed."""
    rtl_texts: int
    """Texts that ran on the RTL step by step."""
    differ: Sequence[int]
    """The texts that the RTL goes on with otherwise."""
    rows: Sequence[SpeculationRow]
    """What a draft gains in texts of a kind, by their tokens."""


@guarded
def speculation(
    *,
    model: ModelOption = None,
    rtl_texts: Annotated[
        int,
        typer.Option(
            "--rtl-texts",
            min=0,
            max=_TEXTS,
            metavar="N",
            help="Run the first so many greedy texts on the RTL step by step, with drafts and "
            "without, all tensors compared.",
        ),
    ] = 1,
    draft_model: DraftModelOption = None,
    json: JsonOption = None,
) -> None:
    """Foretell texts behind 12 held-out prompts, and count cycles with drafts and without."""
    check_destination(json)
    with language_errors(), progress_bar() as tell:
        found = load_language_model(model)
        path = (model or shipped_folder()) / NGRAMS
        ngrams = load_ngrams(path, found.weights.shape.vocabulary)
        sources: dict[str, Source] = {"lookup": look_up, "n-grams": ngrams}
        if draft_model is not None:
            shape = found.weights.shape
            sources["little model"] = little_model(
                draft_model, found.tokenizer, shape.vocabulary, shape.context
            )
        tell("choosing integers", None)
        quantized = quantized_model(found, model)
        texts = dict(_texts(found, quantized, sources, tell))
        with closing(_open("verilator", quantized, tell)) as device:
            clock = Clock(device, quantized, max(_UNTIL))
            rows = list(_rows(texts, sources, clock, tell))
            wrong = _run(clock, texts["greedy"][:rtl_texts], sources, tell)
    _show(rows, rtl_texts, wrong, json)
    write_document(json, Speculation(rtl_texts=rtl_texts, differ=wrong, rows=rows))
    if wrong:
        raise typer.Exit(WRONG)


def _usual(sources: Mapping[str, Source]) -> Draft:
    """The draft that generates, unless told otherwise."""
    return draft_of(_MOST, sources["lookup"], sources["n-grams"])


def _open(simulator: str, model: Decoder, tell: Progress) -> Device:
    size = session_bytes(model, max(_UNTIL))
    return open_device(simulator, PRESETS["base"], _TIMING, size, tell)


def _texts(
    model: LanguageModel, quantized: Decoder, sources: Mapping[str, Source], tell: Progress
) -> Iterator[tuple[str, list[list[int]]]]:
    """The texts of each kind; the functional model makes those that are not held out."""
    documents = [model.tokenizer.encode(text) for _, text in held_out_texts()]
    begun = [[END, *prompt] for prompt in prompts(documents, _TEXTS)]
    yield _HELD_OUT, [[END, *tokens] for tokens in prompts(documents, _TEXTS, max(_UNTIL) - 1)]
    draft = _usual(sources)
    with closing(_open("functional", quantized, tell)) as device:
        session = DecoderSession(device, quantized, max(_UNTIL))
        for kind, sampler in _KINDS.items():
            made = []
            for number, begin in enumerate(begun):
                tell(f"writing texts, {kind}: {number} of {_TEXTS}", number / _TEXTS)
                count = max(_UNTIL) - len(begin)
                made.append([*begin, *go_on(session, begin, count, sampler, draft)[0]])
            yield kind, made


def _rows(
    texts: Mapping[str, Sequence[Sequence[int]]],
    sources: Mapping[str, Source],
    clock: Clock,
    tell: Progress,
) -> Iterator[SpeculationRow]:
    for kind, names, most in (*_ROWS, *(_OF_LITTLE if "little model" in sources else ())):
        tell(f"counting cycles: {kind}, {names}", None)
        draft = draft_of(most, *(sources[name] for name in names.split(", ")))
        gains = {
            until: gain(texts[kind], PROMPT + 1, draft, until, clock, _TIMING.bytes_per_cycle)
            for until in _UNTIL
        }
        yield SpeculationRow(kind, names, most, gains)


def _run(
    clock: Clock,
    texts: Sequence[Sequence[int]],
    sources: Mapping[str, Source],
    tell: Progress,
) -> list[int]:
    """The numbers of the texts that the RTL goes on with otherwise, or in other cycles."""
    wrong, begin, until = [], PROMPT + 1, max(_UNTIL)
    for number, text in enumerate(texts):
        for draft in (None, _usual(sources)):
            tell(f"the RTL writes text {number} of {len(texts)}", number / len(texts))
            found, steps = go_on(
                clock.session, text[:begin], until - begin, _KINDS["greedy"], draft
            )
            counted = clock.cycles(replay(text, begin, draft, until))
            if found != text[begin:] or sum(step.cycles or 0 for step in steps) != counted:
                wrong.append(number)
    return wrong


def _show(
    rows: Sequence[SpeculationRow], rtl_texts: int, wrong: Sequence[int], json: str | None
) -> None:
    console = table_console(json)
    table = Table(
        title=f"{_TEXTS} texts behind {PROMPT} held-out tokens, cycles behind the prompt",
        caption="to 64 and to 150 tokens; limit: weights and caches of a step of one token",
    )
    names = ("text", "drafts", "K", "right", "tokens per step", "per limit", "fewer cycles")
    for name in names:
        table.add_column(name, justify="left" if name in names[:2] else "right")
    for row in rows:
        gains = row.gains.values()
        table.add_row(
            row.kind,
            row.drafts,
            str(row.most),
            ", ".join(f"{each.accepted / max(each.foretold, 1):.0%}" for each in gains),
            ", ".join(f"{each.tokens / each.steps:.2f}" for each in gains),
            ", ".join(f"{each.tokens_per_limit:.2f}" for each in gains),
            ", ".join(f"{each.times:.2f} x" for each in gains),
        )
    console.print(table)
    what = f"texts {', '.join(map(str, wrong))} differ" if wrong else "none differs"
    if rtl_texts:
        console.print(f"{rtl_texts} of the greedy texts step by step on the RTL: {what}")
