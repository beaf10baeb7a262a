"""`celosia generate`: a text of the small language model or of your own, and what it costs."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.command.models.text_model import own_model, project_model
from celosia.sim.command.options.common import LatencyOption, PresetOption, RateOption
from celosia.sim.command.options.language import ModelOption, language_errors
from celosia.sim.command.options.report import CheckChoice, CheckOption
from celosia.sim.devices.devices import open_device
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.guard import WRONG
from celosia.sim.support.problems import InputError
from celosia.sw.decoding.comparison import Comparison, DifferenceError
from celosia.sw.decoding.decoder import Decoder, quantize_decoder
from celosia.sw.decoding.float_session import FloatSession
from celosia.sw.decoding.session import DecoderSession, Step, session_bytes
from celosia.sw.driver.device import Device, DeviceError
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.sampling import Sampler, Stepper, generate
from celosia.sw.reference.language.tokenizer import OwnTokenizer

__all__ = ["generate_text"]

_TIMING = MemoryTiming()
_PANEL: Final = "MODEL.onnx"


class Arithmetic(StrEnum):
    """What computes the logits."""

    VERILATOR = "verilator"
    AMARANTH = "amaranth"
    FUNCTIONAL = "functional"
    FLOAT = "float"


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
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL.onnx", help="A decoder of your own; default: the project's model."
        ),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            "--tokenizer",
            metavar="T.json",
            help="Its tokenizer, of Hugging Face's form.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--end",
            metavar="TOKEN",
            help="What ends a text; default: <|endoftext|>, </s> or the like.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            "--calibrate",
            metavar="TEXT",
            help="A text file to choose ranges by; default: random tokens.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    model: ModelOption = None,
    simulator: Annotated[
        Arithmetic,
        typer.Option("--sim", help="What computes; float: the reference, float32 in NumPy."),
    ] = Arithmetic.VERILATOR,
    preset: PresetOption = None,
    latency: LatencyOption = _TIMING.latency,
    rate: RateOption = _TIMING.bytes_per_cycle,
    check: CheckOption = CheckChoice.ALL,
) -> None:
    """Go on with a text by the small language model or your own, and print it as it comes.

    Unless told otherwise, every step's tensors in memory are compared with the integer graph: a
    difference ends the text.
    """
    with language_errors():
        sampler = Sampler(temperature=temperature, top_p=top_p, seed=seed)
        if file is None:
            _refuse_own(tokenizer=tokenizer, end=end, calibrate=calibration)
            found = project_model(model, prompt, tokens)
        else:
            if model is not None:
                raise InputError(f"--model {model}: {file} is the model")
            if tokenizer is None:
                raise InputError(f"{file}: give its --tokenizer")
            own = OwnTokenizer(tokenizer, end)
            with progress_bar() as tell:
                tell(f"reading {file}", None)
                found = own_model(file, own, prompt, tokens, calibration)

        def write(stepper: Stepper) -> None:
            typer.echo(prompt, nl=False)
            following = generate(stepper, found.begin, tokens, sampler, found.end)
            for piece in found.tokenizer.pieces(following):
                typer.echo(piece, nl=False)
            typer.echo()

        if simulator is Arithmetic.FLOAT:
            if preset:
                raise InputError("--sim float: computes on no accelerator: no --preset")
            session = FloatSession(found.graph, found.context)
            write(lambda tokens: session.append(tokens)[-1])
            return
        config = resolve_config(preset or "base", ())
        timing = MemoryTiming(latency=latency, bytes_per_cycle=rate)
        with progress_bar() as tell:
            tell("choosing integers", None)
            quantized = quantize_decoder(
                found.graph,
                found.windows,
                lambda what, done, total: tell(f"{what}: {done} of {total}", None),
            )
            size = session_bytes(quantized, found.context)
            device = open_device(simulator, config, timing, size, tell)
        with closing(device):
            stepper = _CountedStepper(device, quantized, found.context, check)
            stepper.prepare(len(found.begin))
            write(stepper)
    stepper.show(table_console(), rate)
    if found.note:
        typer.echo(f"note: {found.note}")


def _refuse_own(**given: object) -> None:
    """Raise `InputError` for an option that only models of the user's have."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name}: is for a MODEL.onnx, and there is none")


class _CountedStepper:
    """The logits that a session computes, what its steps took, and what of them was compared."""

    def __init__(self, device: Device, model: Decoder, context: int, check: CheckChoice):
        self._comparison = Comparison(outputs=check is CheckChoice.OUTPUTS)
        behind = [] if check is CheckChoice.NONE else [self._comparison]
        self._session = DecoderSession(device, model, context, *behind)
        self._steps: list[Step] = []

    def prepare(self, tokens: int) -> None:
        """Compile the programs for the first `tokens`.

        Raises `InputError` for an accelerator that cannot run them.
        """
        with progress_bar() as tell:
            tell("compiling the first steps", None)
            try:
                self._session.prepare(tokens)
            except ValueError as error:
                raise InputError(str(error)) from None

    def __call__(self, tokens: Sequence[int]) -> Floats:
        """Ends the command with exit code 1 if the device stops, or computes something else."""
        try:
            logits, steps = self._session.append(tokens)
        except (DeviceError, DifferenceError) as error:
            typer.echo(f"\ncelosia: {error}", err=True)
            raise typer.Exit(WRONG) from None
        self._steps += steps
        return logits[-1]

    def show(self, console: Console, rate: int) -> None:
        """A table of the steps, if there is a clock, and what was compared."""
        if self._steps[0].cycles is not None:
            table = Table(caption=f"limit: weights and caches at {rate} bytes per cycle")
            for name in ("steps", "number", "tokens", "cycles per step", "of the memory's limit"):
                table.add_column(name, justify="left" if name == "steps" else "right")
            for name, several in (("of several tokens", True), ("of one token", False)):
                steps = [step for step in self._steps if (step.text.rows > 1) is several]
                if steps:
                    table.add_row(name, *self._row(steps, rate))
            console.print(table)
        compared = self._comparison.elements
        what = "of the outputs" if self._comparison.outputs else "in memory"
        console.print(
            f"0 of {compared:,} elements {what} differ from the integer graph"
            if compared
            else "nothing was compared with the integer graph"
        )

    def _row(self, steps: Sequence[Step], rate: int) -> Iterator[str]:
        cycles = sum(step.cycles or 0 for step in steps)
        least = sum(step.bytes for step in steps) / rate
        yield f"{len(steps):,}"
        yield f"{sum(step.text.rows for step in steps):,}"
        yield f"{cycles / len(steps):,.0f}"
        yield f"{least / cycles:.1%}"
