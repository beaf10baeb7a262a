"""The commands of the small language model.  They are thin: others do the work."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from celosia.sim.command.outputs import make_folder
from celosia.sim.support.display import Steps, progress_bar, table_console
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.guard import guarded
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sw.quantize.rehearsal import CHOICES, rehearse
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.model_file import LanguageModel, load_language_model
from celosia.sw.reference.language.perplexity import Likelihood, score
from celosia.sw.reference.language.sampling import Sampler, float_stepper, generate
from celosia.sw.reference.language.tokenizer import END
from celosia.sw.reference.language.training.compare import (
    calibration_windows,
    compare_with_trigrams,
    held_out_tokens,
)
from celosia.sw.reference.language.training.corpus import training_texts
from celosia.sw.reference.language.training.recipe import Recipe

__all__ = ["language_app", "register"]

EXTRA: Final = ("jax", "optax")
"""What the extra `training` has, and no other command needs."""

ANOTHER_TEXT: Final = (
    "The documentation of this interpreter is not the one that the model was trained on: "
    "the 3-grams are of another text."
)

ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model", metavar="DIRECTORY", help="What train wrote; default: the project's model."
    ),
]

language_app = typer.Typer(no_args_is_help=True, help="Train and measure the language model.")


class Arithmetic(StrEnum):
    """What computes the logits."""

    FLOAT = "float"


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("generate")(guarded(generate_text))
    app.add_typer(language_app, name="language")
    language_app.command("perplexity")(guarded(perplexity))
    language_app.command("train")(guarded(train))


def generate_text(
    *,
    prompt: Annotated[str, typer.Option("--prompt", help="What the text begins with.")],
    tokens: Annotated[int, typer.Option("--tokens", min=1, help="How many follow at most.")] = 64,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of what is drawn.")] = 0,
    temperature: Annotated[
        float, typer.Option("--temperature", help="0: always the most probable token.")
    ] = 0.7,
    top_p: Annotated[
        float, typer.Option("--top-p", help="Draw from the tokens that have this much together.")
    ] = 0.9,
    model: ModelOption = None,
    _simulator: Annotated[
        Arithmetic, typer.Option("--sim", help="float: the reference, float32 in NumPy.")
    ] = Arithmetic.FLOAT,
) -> None:
    """Go on with a text by the small language model, and print it as it comes.

    This is the float32 reference on the host: no accelerator is simulated.
    """
    with _input_errors():
        sampler = Sampler(temperature=temperature, top_p=top_p, seed=seed)
        found = load_language_model(model)
        begin = found.tokenizer.encode(prompt)
        _check_length(found, len(begin), tokens)
        stepper = float_stepper(found.weights, found.weights.shape.context)
        typer.echo(prompt, nl=False)
        for piece in found.tokenizer.pieces(generate(stepper, [END, *begin], tokens, sampler, END)):
            typer.echo(piece, nl=False)
        typer.echo()


def _check_length(model: LanguageModel, begin: int, tokens: int) -> None:
    """Raise `InputError` for a prompt without tokens, or a text that is longer than the context."""
    if not begin:
        raise InputError("--prompt '': is empty; write at least one letter")
    context = model.weights.shape.context
    if begin + tokens > context:
        raise InputError(
            f"--tokens {tokens}: with the {begin} of --prompt they are more than the {context} of "
            "the model's context"
        )


def perplexity(
    *,
    model: ModelOption = None,
    integers: Annotated[
        bool, typer.Option("--integers", help="Also with int8 and int16, rehearsed in float32.")
    ] = False,
) -> None:
    """Score the held-out documentation by a model, and by 3-grams of what it was trained on."""
    with _input_errors(), progress_bar() as tell:
        found = load_language_model(model)
        tell("reading the documentation of this interpreter", None)
        texts = training_texts()
        tell("scoring the held-out documentation", None)
        compared = compare_with_trigrams(found, texts)
        rehearsed = _rehearse(found, texts, Steps(tell, len(CHOICES))) if integers else {}
    exact = compared.model.perplexity
    table = Table(
        title=f"{compared.model.tokens:,} held-out tokens",
        caption=None if compared.same_text else ANOTHER_TEXT,
    )
    table.add_column("model")
    table.add_column("perplexity", justify="right")
    table.add_column("over float32", justify="right")
    shape = found.weights.shape
    table.add_row("3-grams, interpolated Kneser-Ney", f"{compared.trigrams.perplexity:.2f}")
    parameters = f"{shape.parameters:,} parameters, windows of {shape.context}"
    table.add_row(f"float32: {parameters}", f"{exact:.2f}", f"{1:.4f}")
    for name, likelihood in rehearsed.items():
        value = likelihood.perplexity
        table.add_row(name, f"{value:.2f}", f"{value / exact:.4f}")
    table_console().print(table)


def _rehearse(model: LanguageModel, texts: Sequence[str], steps: Steps) -> dict[str, Likelihood]:
    """The likelihood of the held-out tokens with each choice of integers."""
    tokens, calibration = held_out_tokens(model), calibration_windows(model, texts)
    found = {}
    for choice in CHOICES:
        steps.begin(choice.name)
        scorer = rehearse(model.weights, calibration, choice)
        found[choice.name] = score(scorer, tokens, model.weights.shape.context)
    return found


def train(
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIRECTORY", help="For the model and a checkpoint.")
    ],
    steps: Annotated[int, typer.Option("--steps", min=1, help="How many.")] = Recipe.steps,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Of weights, batches and dropout.")
    ] = 0,
) -> None:
    """Train a model anew on the documentation of this interpreter (extra `training`).

    The same command goes on where it was interrupted.
    """
    if missing := [name for name in EXTRA if find_spec(name) is None]:
        raise EnvironmentProblem(
            rf"{' and '.join(missing)}: not installed; pip install 'celosia[training]'"
        )
    with _input_errors(), progress_bar() as tell:
        recipe = Recipe(steps=steps, seed=seed)
        make = import_module("celosia.sw.reference.language.training.make")
        tell("reading the documentation of this interpreter", None)
        make.make_model(make_folder(out), recipe, _Steps(tell, steps))
    typer.echo(f"{out}: model.safetensors and tokenizer.json are written")


class _Steps:
    """Shows how far a training is, its loss and the time that is left."""

    def __init__(self, tell: Progress, steps: int):
        self._tell = tell
        self._steps = steps
        self._begun: tuple[int, float] | None = None

    def __call__(self, done: int, loss: float) -> None:
        now = time.monotonic()
        if self._begun is None:
            self._begun = done, now
        first, begun = self._begun
        left = (now - begun) / max(done - first, 1) * (self._steps - done) / 60
        text = f"step {done:,} of {self._steps:,}, loss {loss:.2f}, {left:,.0f} minutes left"
        self._tell(text, done / self._steps)


@contextmanager
def _input_errors() -> Iterator[None]:
    """What the model refuses, as what the user gave."""
    try:
        yield
    except LanguageError as error:
        raise InputError(str(error)) from None
