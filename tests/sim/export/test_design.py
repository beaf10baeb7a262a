"""What users build upon stays: names and ports of the tops, and the memories that are theirs."""

import re
from collections.abc import Mapping

import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.events import COUNTERS
from celosia.sim.export.choices import Memories, TopChoice
from tests.support.exports import exported

MASTER = {
    "ar": ">valid <ready >addr:64 >len:8 >size:3 >burst:2 >id:4",
    "r": "<valid >ready <data:W <resp:2 <last <id:4",
    "aw": ">valid <ready >addr:64 >len:8 >size:3 >burst:2 >id:4",
    "w": ">valid <ready >data:W >strb:S >last",
    "b": "<valid >ready <resp:2 <id:4",
}
ATTRIBUTES = ">lock >cache:4 >prot:3 >qos:4"
SLAVE = {
    "aw": "<valid >ready <addr:12 <prot:3",
    "w": "<valid >ready <data:32 <strb:4",
    "b": ">valid <ready >resp:2",
    "ar": "<valid >ready <addr:12 <prot:3",
    "r": ">valid <ready >data:32 >resp:2",
}
COMMON = "<clk <rst <cmd_valid >cmd_ready <cmd_funct:7 <cmd_rs1:64 <cmd_rs2:64 >busy"
CORE = (
    "<read_base:64 <read_limit:64 <write_base:64 <write_limit:64 >error_cause:4 >error_address:64 "
    ">error_tag:32 >queued_load:8 >queued_execute:8 >queued_store:8 >queued_transform:8 "
    ">waits_load:5 >waits_execute:5 >waits_store:5 >waits_transform:5 "
    "<counter_number:7 >counter_value:48"
)
AXI = ">interrupt >error >progress"


def ports(text: str, config: AcceleratorConfig, prefix: str = "") -> set[tuple[str, str, int]]:
    """``>name:bits`` is an output, ``<name`` an input of one bit."""
    widths = {"W": config.bus_bits, "S": config.bus_bytes}
    found = set()
    for word in text.split():
        name, _, bits = word[1:].partition(":")
        width = widths.get(bits) or int(bits or 1)
        found.add((prefix + name, "out" if word[0] == ">" else "in", width))
    return found


def bus(prefix: str, channels: Mapping[str, str], config: AcceleratorConfig):
    sets = (ports(text, config, f"{prefix}_{channel}") for channel, text in channels.items())
    return set().union(*sets)


def expected(top: TopChoice, config: AcceleratorConfig) -> set[tuple[str, str, int]]:
    wanted = ports(COMMON, config) | bus("m_axi", MASTER, config)
    if top is TopChoice.CORE:
        counters = {(f"counter_{counter.name}", "out", 48) for counter in COUNTERS}
        return wanted | ports(CORE, config) | counters
    attributes: dict[str, str] = dict.fromkeys(("ar", "aw"), ATTRIBUTES)
    return (
        wanted | ports(AXI, config) | bus("m_axi", attributes, config) | bus("s_axi", SLAVE, config)
    )


def declared(verilog: str, module: str) -> set[tuple[str, str, int]]:
    """The ports of `module` as the Verilog declares them."""
    (body,) = re.findall(rf"^module {module}\(.*?^endmodule", verilog, re.M | re.S)
    found = re.findall(r"^  (in|out)put (?:\[(\d+):0\] )?(\w+);", body, re.M)
    return {(name, way, int(high or 0) + 1) for way, high, name in found}


@pytest.mark.parametrize("top", TopChoice)
def test_the_ports_are_those_of_the_contract(top):
    design = exported(top, Memories.BLACKBOX)
    wanted = expected(top, design.config)
    assert declared(design.verilog, f"celosia_{top}") == wanted
    assert {(port.name, port.direction, port.bits) for port in design.ports} == wanted


@pytest.mark.parametrize("top", TopChoice)
def test_local_memories_are_black_boxes(top):
    design = exported(top, Memories.BLACKBOX)
    modules = {memory.path: memory.module for memory in design.memories}
    config = design.config
    for index in range(config.scratchpad_banks):
        name = f"celosia_ram_1rw_{config.scratchpad_bank_rows}x{8 * config.dim}_8"
        assert modules[f"accelerator.scratchpad.bank_{index}"] == name
    for index in range(config.accumulator_banks):
        name = f"celosia_ram_1r1w_{config.accumulator_bank_rows}x{32 * config.dim}_32"
        assert modules[f"accelerator.accumulator.bank_{index}"] == name


def test_each_black_box_has_a_model_and_instances():
    design = exported(TopChoice.AXI, Memories.BLACKBOX)
    names = {ram.name for ram in design.rams}
    assert names == set(re.findall(r"^module (\w+) \(", design.models, re.M))
    assert names == {memory.module for memory in design.memories} - {None}


def test_inferred_memories_are_all_in_the_verilog():
    boxes = exported(TopChoice.AXI, Memories.BLACKBOX)
    design = exported(TopChoice.AXI, Memories.INFERRED)
    assert design.models == ""
    assert "celosia_ram" not in design.verilog
    assert {memory.path for memory in design.memories} == {memory.path for memory in boxes.memories}


def test_assertions_are_for_those_who_ask():
    text = exported(TopChoice.AXI, Memories.INFERRED).verilog
    guarded = re.sub(r"^`ifdef CELOSIA_ASSERTIONS\n.*?^`endif\n", "", text, flags=re.M | re.S)
    assert "assert (" in text
    for word in ("assert (", "$write(", "$display("):
        assert word not in guarded


def test_the_head_says_what_it_is():
    text = exported(TopChoice.AXI, Memories.INFERRED).verilog
    assert text.startswith("// celosia_axi, by `celosia verilog` of Celosia ")
    assert "\n//   dim = 2\n" in text
    assert "Generated by" not in text
