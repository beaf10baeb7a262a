"""What a page is shown of each cycle: names that the RTL has, and values that are the array's."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Fragment, Signal
from amaranth.sim import Simulator

from celosia.hw.execute.mesh import Mesh
from celosia.hw.memory.accumulator import Accumulator
from celosia.hw.memory.parameters import ParameterMemory
from celosia.hw.memory.scratchpad import Scratchpad
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.events import TABLES
from celosia.sim.devices.rtl import DOMAIN, AmaranthDevice
from celosia.sim.reporting.data_path import BLOCKS
from celosia.sim.verilator.observed import ObservedTop
from celosia.sim.verilator.wasm.watched import CELLS, FLAGS, watched_words
from celosia.sim.verilator.wasm.watched_header import UnknownNameError, watch_header
from celosia.sw.driver.program_file import load_program
from tests.support.wasm_node import job_of, needs_node, needs_zig, on_node

TINY = PRESETS["tiny"]
DIM = TINY.dim
WORDS = watched_words(TINY)
PLACES = [(row, col) for row in range(DIM) for col in range(DIM)]
EXAMPLE = Path(__file__).parents[4] / "examples" / "product.cel"
PREFIX = "celosia_axi__DOT__accelerator__DOT__"


def signals(fragment: Any) -> Iterator[tuple[str, Signal]]:
    """The signals that are set in `fragment`, by their names below it."""
    for statements in fragment.statements.values():
        for statement in statements:
            for signal in statement._lhs_signals():
                yield signal.name, signal
    for part, name, _ in fragment.subfragments:
        for below, signal in signals(part):
            yield f"{name}.{below}", signal


def root(*without: str) -> str:
    """A header of a model that declares what is looked for."""
    mesh = "execute__DOT__array__DOT__mesh__DOT__"
    names = [f"{mesh}{name}_column_{col}" for name in CELLS for col in range(DIM)]
    names += [f"{mesh}shadow_{row}_0" for row in range(DIM)]
    names += [f"execute__DOT__sums___05F{DIM - 1}", f"{mesh}sum_{DIM - 1}_1"]
    for queue in WORDS["queues"]:
        prefix = f"issue__DOT__fifos__DOT__{queue}_queue__DOT__"
        names += [f"{prefix}level", f"{prefix}o___05Fvalid"]
    for flag in FLAGS:
        names += [*flag.signals, *[flag.state[0] for _ in [0] if flag.state]]
    return "".join(f"  CData/*7:0*/ {PREFIX}{name};\n" for name in names if name not in without)


def assigned(text: str) -> dict[int, str]:
    """What each word is set to."""
    lines = [line.strip().split(" = ", 1) for line in text.splitlines() if "w[" in line]
    return {int(target[2:-1]): value for target, value in lines}


def test_each_word_has_a_value_and_a_place_of_its_own():
    found = assigned(watch_header(TINY, root()))
    assert sorted(found) == list(range(WORDS["said"]["cycle"]))
    assert WORDS["size"] == WORDS["said"]["cycle"] + 4 + 8


def test_an_element_of_its_own_is_preferred_to_the_array_of_its_column():
    found = assigned(watch_header(TINY, root()))
    sums = WORDS["cells"]["sum"]
    assert "sum_column_0[3])" in found[sums + 3 * DIM]
    assert "mesh__DOT__sum_3_1)" in found[sums + 3 * DIM + 1]
    assert "sums___05F3)" in found[sums + 3 * DIM + 3]


@pytest.mark.parametrize(
    "name",
    [
        "scratchpad__DOT__weights_granted",
        "execute__DOT__array__DOT__mesh__DOT__weight_column_2",
        "issue__DOT__fifos__DOT__load_queue__DOT__level",
    ],
)
def test_a_name_that_is_gone_is_named(name):
    with pytest.raises(UnknownNameError, match=name):
        watch_header(TINY, root(name))


def test_without_a_mesh_there_is_nothing_to_look_at():
    with pytest.raises(UnknownNameError, match="the model has no execute__DOT__array__DOT__mesh"):
        watch_header(TINY, "")


def test_flags_are_of_blocks_of_the_figure():
    assert {flag.block for flag in FLAGS} <= set(BLOCKS)


def test_the_mesh_has_the_names_that_are_looked_for():
    names = {name for name, _ in signals(Fragment.get(Mesh(TINY), None))}
    for row, col in PLACES:
        assert {f"{each}_{row}_{col}" for each in ("weight", "activation", "sum")} <= names
    assert {f"shadow_{row}_0" for row in range(DIM)} <= names


@pytest.mark.nightly
def test_the_accelerator_has_the_names_that_are_looked_for():
    names = {name for name, _ in signals(Fragment.get(ObservedTop(TINY), None))}
    wanted = [name for flag in FLAGS for name in (*flag.signals, *(flag.state or ())[:1])]
    wanted += [
        f"issue__DOT__fifos__DOT__{queue}_queue__DOT__{name}"
        for queue in WORDS["queues"]
        for name in ("level", "o___05Fvalid")
    ]
    for name in wanted:
        *above, last = name.replace("__DOT__", ".").replace("___05F", "__").split(".")
        # What sleeps is a unit inside, whose signals are known outside, too.
        whole = ".".join(["accelerator", *above])
        assert {f"{whole}.{last}", f"{whole}.unit.{last}"} & names, name


class LookedAt(AmaranthDevice):
    """The accelerator in Amaranth's simulator: what is in the cells before each edge."""

    def _make_simulator(self) -> Simulator:
        self.cells: list[dict[tuple[str, int, int], int]] = []
        self.begins: list[bool] = []
        simulator = super()._make_simulator()
        simulator.add_testbench(self._look, background=True)
        return simulator

    async def _look(self, ctx: Any) -> None:
        known = {name.rsplit(".", 1)[1]: each for name, each in self._top.found if ".mesh." in name}
        places = [(name, row, col) for name in CELLS for row, col in PLACES]
        seen = [
            known[f"shadow_{row}_0"].word_select(col, 8).as_signed()
            if name == "shadow"
            else known[f"{name}_{row}_{col}"]
            for name, row, col in places
        ]
        taken = self._top.cmd_valid & self._top.cmd_ready
        while True:
            _, _, begins, *values = await ctx.tick(DOMAIN).sample(taken, *seen)
            self.begins.append(bool(begins))
            self.cells.append(dict(zip(places, values, strict=True)))


class FoundTop(ObservedTop):
    """The usual accelerator, whose signals are known once it is simulated."""

    found: list[tuple[str, Signal]]

    def elaborate(self, platform) -> Fragment:
        fragment = super().elaborate(platform)
        self.found = list(signals(fragment))
        return fragment


@needs_node
@needs_zig
@pytest.mark.nightly
def test_each_cycle_of_a_product_is_that_of_amaranths_simulator(tmp_path):
    program = load_program(EXAMPLE)
    memory, timing = program.memory_image(), MemoryTiming()
    top: Any = FoundTop(TINY, memory_seed=timing.seed)
    with closing(LookedAt(TINY, timing, len(memory), top=top)) as device:
        device.write(MEMORY_BASE, memory)
        cycles = device.run(program.commands).cycles
        assert cycles is not None
        first = device.begins.index(True)
        expected = device.cells[first + 1 : first + 1 + cycles]
    job = job_of(memory, program.commands, timing, watch={"first": 1})
    (found,) = on_node(TINY, [job], len(memory), tmp_path)
    assert found["last"] == cycles == len(expected)
    for cycle, cells in enumerate(expected):
        words = found["words"][WORDS["size"] * cycle :]
        shown = {
            (name, row, col): words[WORDS["cells"][name] + DIM * row + col]
            for name in CELLS
            for row, col in PLACES
        }
        assert shown == cells, f"cycle {cycle + 1}"
    assert len({tuple(cells.values()) for cells in expected}) > 2 * DIM


@needs_node
@needs_zig
@pytest.mark.nightly
def test_owners_and_commands_of_each_cycle_add_up(tmp_path):
    program = load_program(EXAMPLE)
    memory = program.memory_image()
    jobs = [
        job_of(memory, program.commands, watch=watch)
        for watch in ({"first": 1}, {"first": 31, "count": 5}, {"budget": 20})
    ]
    whole, part, stopped = on_node(TINY, jobs, len(memory), tmp_path)
    size, events = WORDS["size"], WORDS["events"]
    rows = [whole["words"][at : at + size] for at in range(0, len(whole["words"]), size)]

    def event(row: list[int], name: str) -> int:
        word, low, mask = events[name]
        return row[word] >> low & mask

    for table in TABLES:
        busy = [event(row, table.name) for row in rows if event(row, "busy")]
        owned = Counter(table.owners[number].name for number in busy)
        counted = Counter({owner.name: whole["counters"][owner.name] for owner in table.owners})
        # The accelerator is busy for a little longer than its program takes.
        assert (counted - owned).total() == whole["counters"]["cycles"] - len(busy) in range(1, 4)
        assert not owned - counted
    said = WORDS["said"]
    assert [row[said["cycle"]] for row in rows] == list(range(1, whole["last"] + 1))
    assert rows[-1][said["accepted"]] == len(whole["taken"]) == len(program.commands)
    for turn in whole["turns"]:
        assert rows[turn["cycle"] - 1][said["product"]] == turn["command"]
        assert rows[turn["cycle"] - 2][said["turns"]]
    assert part["words"] == whole["words"][30 * size : 35 * size]
    assert part["digest"] == whole["digest"]
    assert stopped["problem"] == "it was stopped after 20 cycles"
    assert stopped["words"] == whole["words"][: len(stopped["words"])]


def test_a_flag_that_names_one_of_several_signals_names_all_of_them():
    """The accumulator has a stage for each of its halves."""
    (flag,) = [each for each in FLAGS if each.says == "a row is added or written"]
    names = {name for name, _ in signals(Fragment.get(Accumulator(TINY), None))}
    stages = {name for name in names if re.fullmatch(r"(\w+\.)*s1_valid_\d+", name)}
    assert len(stages) == 2
    assert {f"accumulator__DOT__{name.rpartition('.')[2]}" for name in stages} == {*flag.signals}


def test_each_access_to_a_memory_is_a_flag_of_its_block():
    """A port that reads is granted it; with a second row of parameters, it reads the first, too."""
    known = {
        "scratchpad": Scratchpad(TINY),
        "accumulator": Accumulator(TINY),
        "parameters": ParameterMemory(TINY),
    }
    for block, memory in known.items():
        names = {name.rpartition(".")[2] for name, _ in signals(Fragment.get(memory, None))}
        granted = {f"{block}__DOT__{name}" for name in names if name.endswith("_granted")}
        assert granted, block
        flags = [flag for flag in FLAGS if flag.block == block]
        named = {name for flag in flags for name in flag.signals if "_granted" in name}
        assert granted - {"parameters__DOT__transform2_granted"} == named
        assert sum(flag.state is not None for flag in flags) == 1
    assert {flag.block for flag in FLAGS} == {"decoder", *known}
