"""Options keep their names, ranges and defaults, and what is given arrives under its own name.

python -m tests.sim.command.options.test_command_lines    prints what options.txt has
"""

from collections.abc import Iterator
from enum import Enum
from inspect import isclass
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin

import click
import pytest
from typer.main import get_command

from celosia.isa.memory import MemoryTiming
from celosia.sim.cli import app
from celosia.sim.command.options import run_options
from celosia.sim.command.options.common import IssueChoice, OutType, Simulator
from celosia.sim.command.options.groups import arguments_of
from celosia.sim.commands import COMMANDS

OPTIONS = Path(__file__).with_name("options.txt")


def commands(
    command: Any, context: click.Context, words: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """The commands of the simulators' package below one, each by its words."""
    if not hasattr(command, "list_commands"):
        yield " ".join(words), command
        return
    known = {each.name for each in COMMANDS}
    for name in command.list_commands(context):
        if words or name in known:
            yield from commands(command.get_command(context, name), context, (*words, name))


def line(words: str, option: Any) -> str:
    """An option as it is used: its names, what it takes, and what it is if it is left out."""
    taken = [option.metavar or ""]
    hint = option.type_descriptor.annotation
    kinds = [each for each in (hint, *get_args(hint)) if isclass(each) and issubclass(each, Enum)]
    taken += ["|".join(each.value for each in kind) for kind in kinds]
    taken += ["|".join(get_args(hint))] if get_origin(hint) is Literal else []
    if (option.min, option.max) != (None, None):
        taken.append("..".join("" if end is None else str(end) for end in (option.min, option.max)))
    default = option.default
    plain = default is None or default is False or callable(default)
    left_out = "" if plain else f" = {default}"
    many = " (repeatable)" if option.multiple else ""
    names = ",".join((*option.opts, *option.secondary_opts))
    return " ".join(filter(None, (words, names, *taken))) + left_out + many


def surface() -> list[str]:
    """All options of all commands."""
    root = get_command(app)
    with click.Context(cast(Any, root)) as context:
        return [
            line(words, each)
            for words, command in commands(root, context)
            for each in command.params
            if each.param_type_name == "option" and "--help" not in each.opts
        ]


def test_options_keep_their_names_ranges_and_defaults():
    """Scripts rely on them: one that is changed on purpose is changed in options.txt, too."""
    assert sorted({*OPTIONS.read_text().splitlines()} - {*surface()}) == []


GIVEN: dict[str, Any] = {
    "latency": 7,
    "rate": 8,
    "stalls": 9,
    "seed": 10,
    "channel_stalls": ["w=11"],
    "reorder": True,
    "late_ready": False,
    "faults": ["read:#3:slverr"],
}


def test_a_memory_is_what_its_options_say():
    found = run_options.memory(**arguments_of(run_options.memory, GIVEN))
    assert (found.latency, found.bytes_per_cycle, found.stall_percent, found.seed) == (7, 8, 9, 10)
    assert dict(found.channel_stalls) == {"w": 11}
    assert (found.reorder, found.ready_after_valid, len(found.faults)) == (True, False, 1)
    turned = GIVEN | {"reorder": False, "late_ready": True, "faults": None}
    found = run_options.memory(**arguments_of(run_options.memory, turned))
    assert (found.reorder, found.ready_after_valid, found.faults) == (False, True, ())


def test_a_target_is_what_its_options_say():
    timing = MemoryTiming(latency=3)
    found = run_options.target(
        preset="small",
        overrides=["dim=8", "dim=4"],
        simulator=Simulator.AMARANTH,
        issue=IssueChoice.RING,
        cycle_budget=5,
        timing=timing,
    )
    assert (found.preset, found.overrides) == ("small", ("dim=8", "dim=4"))
    assert (found.simulator, found.issue, found.cycle_budget) == ("amaranth", "ring", 5)
    assert found.timing is timing
    planned = run_options.planned_target(preset="tiny", overrides=["dim=8"], timing=timing)
    assert (planned.preset, planned.overrides, planned.timing) == ("tiny", ("dim=8",), timing)
    assert run_options.target(timing=timing).simulator == "verilator"


def test_how_a_graph_is_compiled_is_what_its_options_say():
    found = run_options.compiling(plan="p", schedule="s", stages="t", tuned="u")
    given = found.given
    assert (given.plan, given.schedule, given.stages, given.tuned) == ("p", "s", "t", "u")
    assert (found.optimize, found.reuse_memory) == (False, False)
    assert run_options.compiling(optimize=True).optimize
    assert run_options.compiling(reuse_memory=True).reuse_memory


def test_a_waveform_and_outputs_are_what_their_options_say():
    words = run_options.wave_words(wave=Path("w.vcd"), wave_window="1:2", wave_scope="a.b")
    assert (words.path, words.window, words.scope) == (Path("w.vcd"), "1:2", "a.b")
    found = run_options.outputs(
        json="j", report_to=Path("r"), trace=Path("t"), profile=False, owners=True, every=False
    )
    assert (found.json, found.report, found.trace) == ("j", Path("r"), Path("t"))
    assert (found.profile, found.owners, found.layers) == (False, True, False)
    assert run_options.outputs(every=True).layers


@pytest.mark.parametrize(
    ("given", "follows"),
    [
        ({}, False),
        ({"json": "j"}, False),
        ({"owners": True}, False),
        ({"profile": True}, True),
        ({"report_to": Path("r")}, True),
        ({"trace": Path("t")}, True),
    ],
)
def test_instructions_are_followed_only_for_what_shows_them(given, follows):
    assert run_options.outputs(**given).follows is follows


@pytest.mark.parametrize(
    ("group", "given", "found"),
    [
        (run_options.sizes, {"causal": False, "heads": None}, {}),
        (run_options.sizes, {"keys": 0, "heads": 2}, {"keys": 0, "heads": 2}),
        (run_options.sizes, {"dim": ["5"]}, {"dim": ("5",)}),
        (
            run_options.sizes,
            {"shape": "8x8", "causal": True, "window": 3, "dithered": True, "seq": 4},
            {
                "shape": "8x8",
                "causal": True,
                "window": 3,
                "dithered": True,
                "seq": 4,
            },
        ),
        (
            run_options.numbers,
            {"scale": 0.0, "relu": True, "out_type": OutType.INT16},
            {"scale": 0.0, "relu": True, "out_type": "int16"},
        ),
        (
            run_options.numbers,
            {"transpose_b": True, "unsigned_a": True},
            {"transpose_b": True, "unsigned_a": True},
        ),
        (
            run_options.operands,
            {"a": Path("a"), "b": Path("b"), "bias": Path("c")},
            {"a": Path("a"), "b": Path("b"), "bias": Path("c")},
        ),
        (
            run_options.model,
            {"model": "m", "layers": 2, "context": "3", "rows": 4, "weights": "w", "text": []},
            {"model": "m", "layers": 2, "context": "3", "rows": 4, "weights": "w"},
        ),
        (run_options.model_files, {"clip": "error"}, {}),
        (
            run_options.model_files,
            {
                "inputs": Path("i"),
                "calibration": Path("c"),
                "clip": "mean",
                "per_tensor": True,
                "fixed": ["x=1"],
                "precision": "auto",
                "least_sqnr": 20.0,
                "most_cycles": 9,
            },
            {
                "input": Path("i"),
                "calibrate": Path("c"),
                "clip": "mean",
                "per_tensor": True,
                "set_input": ("x=1",),
                "precision": "auto",
                "least_sqnr": 20.0,
                "most_cycles": 9,
            },
        ),
    ],
)
def test_what_is_given_has_its_own_name_and_nothing_else_is_there(group, given, found):
    assert group(**given) == found


if __name__ == "__main__":
    print("\n".join(sorted(surface())))
