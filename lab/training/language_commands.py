"""The commands of the small language model.  They are thin: others do the work."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.training.compare import (
    compare_with_trigrams,
    held_out_tokens,
)
from celosia.lab.training.perplexity import Likelihood, score
from celosia.lab.training.recipe import RECIPES
from celosia.lab.training.scorers import device_scorer, float_scorer, integer_scorer
from celosia.lab.training.speculation_command import speculation
from celosia.lab.training.steps import Steps, check_training
from celosia.lab.training.text.corpora import Corpus, corpora_of, corpus_texts
from celosia.lab.training.text.manual import ManualError
from celosia.sim.command.options.language import ModelOption, language_errors, quantized_model
from celosia.sim.command.options.weights import WeightsChoice, WeightsOption, weight_types
from celosia.sim.command.outputs.folders import make_folder
from celosia.sim.devices.devices import open_device
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import guarded
from celosia.sim.support.progress import Progress
from celosia.sim.support.words import counted
from celosia.sw.decoding.steps import session_bytes
from celosia.sw.quantize.weight_types import WeightTypes
from celosia.sw.reference.language.model_file import LanguageModel, load_language_model
from celosia.sw.reference.language.shape import LITTLE

__all__ = ["language_app"]

ANOTHER_TEXT: Final = (
    "The documentation of this interpreter, or of this machine, is not the one that the model was "
    "trained on: the 3-grams are of another text."
)

_TRIGRAMS: Final[Mapping[Corpus, str]] = {
    "docstrings": "3-grams, interpolated Kneser-Ney",
    "manual": "3-grams of the manual as well",
}

language_app = typer.Typer(no_args_is_help=True, help="Train and measure the language model.")


@language_app.command()
@guarded
def perplexity(
    *,
    model: ModelOption = None,
    integers: Annotated[
        bool,
        typer.Option("--integers", help="Also in integers, by the interpreter of their graph."),
    ] = False,
    rtl_tokens: Annotated[
        int,
        typer.Option(
            "--rtl-tokens", min=0, metavar="N", help="Also the first so many tokens on the RTL."
        ),
    ] = 0,
    weights: WeightsOption = WeightsChoice.INT8,
) -> None:
    """Score the held-out documentation by a model, and by 3-grams of what it was trained on."""
    with language_errors(), progress_bar() as tell:
        found = load_language_model(model)
        tell("reading documentation", None)
        texts, missing = _learned(found)
        tell("scoring the held-out documentation", None)
        compared = compare_with_trigrams(found, texts)
        types = weight_types(weights)
        more = _in_integers(found, model, types, tell) if integers else None
        on_rtl = _on_rtl(found, model, types, rtl_tokens, tell) if rtl_tokens else None
    exact = compared.model.perplexity
    table = Table(
        title=f"{compared.model.tokens:,} held-out tokens",
        caption=missing or (None if compared.same_text else ANOTHER_TEXT),
    )
    table.add_column("model")
    table.add_column("perplexity", justify="right")
    table.add_column("over float32", justify="right")
    shape = found.weights.shape
    for corpus, trigrams in compared.trigrams.items():
        table.add_row(_TRIGRAMS[corpus], f"{trigrams.perplexity:.2f}")
    parameters = f"{shape.parameters:,} parameters, windows of {shape.context}"
    table.add_row(f"float32: {parameters}", f"{exact:.2f}", f"{1:.4f}")
    if more:
        value = more.perplexity
        table.add_row("the integer graph", f"{value:.2f}", f"{value / exact:.4f}")
    if on_rtl:
        value, reference = (likelihood.perplexity for likelihood in on_rtl)
        name = f"RTL, the first {on_rtl[0].tokens:,} (float32: {reference:.2f})"
        table.add_row(name, f"{value:.2f}", f"{value / reference:.4f}")
    table_console().print(table)


def _learned(model: LanguageModel) -> tuple[dict[Corpus, list[str]], str]:
    """The texts up to that which `model` learned, and what is missing, in a sentence."""
    texts: dict[Corpus, list[str]] = {}
    for corpus in corpora_of(model):
        try:
            texts[corpus] = corpus_texts(corpus)
        except ManualError as error:
            return texts, f"No 3-grams of the manual: {error}"
    return texts, ""


def _in_integers(
    model: LanguageModel, folder: Path | None, weights: WeightTypes, tell: Progress
) -> Likelihood:
    """The likelihood of the held-out tokens by the integer graph."""
    tell("choosing integers", None)
    scorer = integer_scorer(quantized_model(model, folder, weights))
    tell("scoring by the integer graph", None)
    return score(scorer, held_out_tokens(model), model.weights.shape.context)


def _on_rtl(
    model: LanguageModel, folder: Path | None, weights: WeightTypes, count: int, tell: Progress
) -> tuple[Likelihood, Likelihood]:
    """The likelihood of the first held-out tokens on the RTL, and in float32."""
    tokens, context = held_out_tokens(model)[: count + 1], model.weights.shape.context
    quantized = quantized_model(model, folder, weights)
    memory = session_bytes(quantized, context)
    with closing(open_device("verilator", PRESETS["base"], MemoryTiming(), memory, tell)) as device:
        tell(f"{counted(count, 'token')} on the RTL", None)
        found = score(device_scorer(device, quantized), tokens, context)
    return found, score(float_scorer(quantized.graph), tokens, context)


language_app.command()(speculation)


@language_app.command()
@guarded
def train(
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIRECTORY", help="For the model and a checkpoint.")
    ],
    corpus: Annotated[
        Corpus,
        typer.Option(
            "--corpus",
            help="What it learns: docstrings and topics, with the recipe of the small model; or "
            "the manual's sources as well (Debian's package python3.11-doc), with that of docs.",
        ),
    ] = "docstrings",
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="How many; default: the recipe's.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Of weights, batches and dropout.")
    ] = 0,
    little: Annotated[
        bool,
        typer.Option("--little", help="Few weights: for generate --draft-model."),
    ] = False,
) -> None:
    """Train a model anew on documentation of Python (extra `training`).

    The same command goes on where it was interrupted.
    """
    check_training()
    with language_errors(), progress_bar() as tell:
        usual = RECIPES[corpus]
        recipe = replace(
            usual,
            shape=LITTLE if little else usual.shape,
            steps=steps or usual.steps,
            seed=seed,
        )
        make = import_module("celosia.lab.training.make")
        tell("reading documentation", None)
        texts = corpus_texts(corpus)
        make.make_model(make_folder(out), recipe, corpus, texts, Steps(tell, recipe.steps))
    typer.echo(f"{out}: model.safetensors and tokenizer.json are written")
