"""`celosia generate`: texts of the small language model or of your own, and what they cost."""

from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.command.models.again import write_again
from celosia.sim.command.models.checked_steps import CheckedSteps
from celosia.sim.command.models.drafts import choose_drafts
from celosia.sim.command.models.prompts import given_prompts
from celosia.sim.command.models.text_model import own_model, project_model
from celosia.sim.command.models.written_text import TextSetting, WrittenText
from celosia.sim.command.models.written_texts import WrittenTexts
from celosia.sim.command.options.common import (
    JsonOption,
    LatencyOption,
    PresetOption,
    RateOption,
)
from celosia.sim.command.options.drafting import DraftModelOption, DraftTextOption, SpeculateOption
from celosia.sim.command.options.language import ModelOption, language_errors
from celosia.sim.command.options.report import CheckChoice, CheckOption
from celosia.sim.command.options.weights import WeightsChoice, WeightsOption, weight_types
from celosia.sim.devices.devices import open_device
from celosia.sim.run.opening import open_for, prepare_run, watching_opener
from celosia.sim.run.options.options import RunOptions, Target, Told, Watching
from celosia.sim.support.display import progress_bar, table_console
from celosia.sim.support.output import check_destination
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import command_line
from celosia.sim.workloads.models.weights import parse_rule
from celosia.sw.decoding.decoder import Kinds, quantize_decoder
from celosia.sw.decoding.steps import session_bytes, step_rows
from celosia.sw.decoding.texts import Place
from celosia.sw.quantize.precision import Bounds
from celosia.sw.reference.language.sampling import Sampler
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
    prompt: Annotated[
        str | None, typer.Option("--prompt", help="What the text begins with.")
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            "--prompts",
            metavar="FILE",
            help="A prompt in each line: up to 16 texts share a step, and one that ends makes room "
            "for the next.",
        ),
    ] = None,
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
    speculate: SpeculateOption = None,
    draft_text: DraftTextOption = None,
    draft_model: DraftModelOption = None,
    weights: WeightsOption = WeightsChoice.INT8,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            metavar="FILE.toml",
            help="Which products have int4 weights or int16 operands: the file names them.",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="RUN.json",
            help="Run the last step's program again, follow each instruction, and write the run "
            "there: for celosia explain.",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Go on with a text by the small language model or your own, and print it as it comes.

    Unless told otherwise, every step's tensors in memory are compared with the integer graph: a
    difference ends the text.
    """
    check_destination(json)
    check_destination(profile)
    with language_errors():
        kinds = _kinds(precision, weights, simulator)
        sampler = Sampler(temperature=temperature, top_p=top_p, seed=seed)
        given = given_prompts(prompt, prompts)
        if prompts is not None and speculate is not None:
            raise InputError(f"--speculate {speculate}: is for one --prompt, not for --prompts")
        if file is None:
            _refuse_own(tokenizer=tokenizer, end=end, calibrate=calibration)
            found = project_model(model, given, tokens)
        else:
            if model is not None:
                raise InputError(f"--model {model}: {file} is the model")
            if tokenizer is None:
                raise InputError(f"{file}: give its --tokenizer")
            own = OwnTokenizer(tokenizer, end)
            with progress_bar() as tell:
                tell(f"reading {file}", None)
                found = own_model(file, own, given, tokens, calibration)
        drafts = choose_drafts(found, speculate, draft_text, draft_model)
        kept = {"model": found, "count": tokens, "sampler": sampler, "json": json}
        written = (
            WrittenText(prompt=given[0].text, drafts=drafts, **kept)
            if prompts is None
            else WrittenTexts(prompts=given, **kept)
        )
        if simulator is Arithmetic.FLOAT:
            _refuse_accelerator(preset=preset, profile=profile)
            written.go_on(None, TextSetting(simulator))
            return
        config = resolve_config(preset or "base", ())
        timing = MemoryTiming(latency=latency, bytes_per_cycle=rate)
        setting = TextSetting(simulator, preset or "base", timing)
        slots = step_rows(len(given))
        options = RunOptions(
            workload="generate",
            target=Target(simulator=simulator, preset=preset, timing=timing),
            watching=Watching(check=check.value, log=profile is not None),
            told=Told(command_line=command_line()),
        )
        opener = watching_opener(options.target, options.watching, open_device)
        with progress_bar() as tell:
            tell("choosing integers", None)
            quantized = quantize_decoder(
                found.graph,
                found.windows,
                lambda what, done, total: tell(f"{what}: {done} of {total}", None),
                weights=weight_types(weights),
                kinds=kinds,
            )
            size = session_bytes(quantized, found.context, slots)
            # A step reads nearly all that is in memory once: weights are most of it.
            cycles = tokens * size // rate
            prepare_run(options.target, opener, cycles, tell)
            device = open_for(opener, options.target, config, size, tell)
        with closing(device):
            checked = CheckedSteps(device, quantized, found.context, check, slots)
            checked.prepare([Place(0, 0)], len(found.begins[0]))
            written.go_on(checked, setting)
            write_again(profile, checked.last, options)
    for note in (found.note, *quantized.formats.notes, drafts.note):
        if note:
            table_console(json).print(f"note: {note}", markup=False)


def _kinds(precision: str | None, weights: WeightsChoice, simulator: Arithmetic) -> Kinds | None:
    """What the products multiply that a file names; None: there is none.

    Raises `InputError` for what has no meaning beside other options.
    """
    others = weights is not WeightsChoice.INT8
    rule = parse_rule(precision, None, None, weights.value if others else None)
    if isinstance(rule, Bounds):
        raise InputError("--precision auto: is of run and build; here a file names products")
    if simulator is Arithmetic.FLOAT and (rule or others):
        option = f"--precision {precision}" if rule else f"--weights {weights}"
        raise InputError(f"{option}: --sim float computes with none of these")
    return None if rule is None else rule.kinds


def _refuse_own(**given: object) -> None:
    """Raise `InputError` for an option that only models of the user's have."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name}: is for a MODEL.onnx, and there is none")


def _refuse_accelerator(**given: str | None) -> None:
    """Raise `InputError` for an option that computes on an accelerator, which float does not."""
    for name, value in given.items():
        if value:
            raise InputError(f"--sim float: computes on no accelerator: no --{name}")
