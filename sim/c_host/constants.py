"""The contract as a C++ header, for the library behind `celosia.h`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Final

from celosia.isa import address
from celosia.isa.bert import STATISTICS
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.documents.registers import c_header
from celosia.isa.encoding import INSTRUCTIONS, KEEP_SCALE, Field, Instruction, Kind
from celosia.isa.encoding.gemmini_loops import LIBRARY_INSTRUCTIONS, LOOP_WS
from celosia.isa.encoding.loops import ADDEND_BITS, LANE_BITS, LANES
from celosia.isa.memory import MemoryTiming
from celosia.isa.operations.loops import MAX_LOOP_DEPTH
from celosia.isa.registers.errors import Cause, describe
from celosia.isa.registers.events import COUNTERS
from celosia.isa.registers.gemmini_events import ACTIVITIES, EVENTS, QUEUE_VALUES
from celosia.isa.registers.map import REGISTERS, configuration_words
from celosia.sim.verilator.harness.settings import (
    WATCHDOG_EDGES,
    WATCHDOG_LATENCIES,
    WATCHDOG_MARGIN,
)
from celosia.sim.verilator.probe import LINES, Probe

__all__ = ["isa_header", "presets_header"]

_HEAD: Final = """\
// Written by celosia.sim.c_host.constants.
#pragma once

#include <cstdint>

#include "command.h"

namespace celosia {
"""

_TAIL: Final = "\n}  // namespace celosia\n"

_DERIVED: Final = (
    "scratchpad_rows",
    "accumulator_rows",
    "bus_bytes",
    "max_blocks",
    "max_accumulator_blocks",
)
"""Properties of a configuration that the library needs."""


def isa_header() -> str:
    """`isa.h`: commands as classes, tables of instructions, causes, events and registers."""
    # An accelerator may know what a library does for others.
    known = {**INSTRUCTIONS, **{added.name: added for added in LIBRARY_INSTRUCTIONS}}.values()
    parts = [
        _HEAD,
        *_numbers(),
        *(_class(instruction) for instruction in known),
        *_instruction_table(known),
        *_cause_table(),
        *_counter_tables(),
        _TAIL,
        c_header(),
    ]
    return "\n".join(parts)


def presets_header(presets: Mapping[str, AcceleratorConfig]) -> str:
    """`presets.h`: the configurations that a library knows, the first one being its default."""
    rows = []
    for name, config in presets.items():
        words = ", ".join(
            f"{{{REGISTERS[register].offset}, {word}u}}"
            for register, word in configuration_words(config).items()
        )
        values = ", ".join(map(str, _values(config).values()))
        rows.append(f'    {{"{name}", {values}, {{{words}}}}},')
    config = next(iter(presets.values()))
    members = [f"  uint32_t {name};" for name in _values(config)]
    count = len(configuration_words(config))
    return "\n".join([
        _HEAD,
        "struct RegisterWord {\n  uint32_t offset, word;\n};\n",
        "// A configuration, under the names of celosia.isa.config.",
        "struct Configuration {",
        "  const char* name;",
        *members,
        f"  RegisterWord words[{count}];  // What its registers say.",
        "};\n",
        "constexpr Configuration kPresets[] = {",
        *rows,
        "};",
        _TAIL,
    ])


def _values(config: AcceleratorConfig) -> dict[str, int]:
    """Parameters that are numbers, and what is derived from them."""
    given = [field.name for field in fields(config) if isinstance(field.default, int)]
    return {name: int(getattr(config, name)) for name in (*given, *_DERIVED)}


def _numbers() -> Iterator[str]:
    for name, value in (
        ("Garbage", address.GARBAGE),
        ("AccumulatorBit", 1 << address.ACCUMULATOR_BIT),
        ("AccumulateBit", 1 << address.ACCUMULATE_BIT),
        ("FullBit", 1 << address.FULL_BIT),
        ("NormLow", address.NORM_LOW),
        ("NormMask", (1 << address.NORM_BITS) - 1),
        ("RowMask", (1 << address.ROW_BITS) - 1),
        ("KeepScale", KEEP_SCALE),
        ("MaxRequestBytes", MAX_REQUEST_BYTES),
        ("Statistics", STATISTICS),
        ("ToScratchpad", _mask(LOOP_WS, "to_scratchpad")),
        ("MaxLoopDepth", MAX_LOOP_DEPTH),
        ("LaneBits", LANE_BITS),
        ("Lanes", LANES),
        ("AddendBits", ADDEND_BITS),
        ("MemoryLatency", MemoryTiming.latency),
        ("MemoryRate", MemoryTiming.bytes_per_cycle),
        ("WatchdogEdges", WATCHDOG_EDGES + WATCHDOG_LATENCIES * MemoryTiming.latency),
        ("WatchdogMargin", WATCHDOG_MARGIN),
        ("ProbeAccepted", Probe.accepted.offset),
        ("ProbeFunct", Probe.funct.offset),
        ("ProbeRs1", Probe.rs1.offset),
        ("ProbeRs2", Probe.rs2.offset),
        ("WaveCommandBytes", LINES["command"]),
    ):
        yield f"constexpr uint32_t k{name} = {value}u;"


def _mask(instruction: Instruction, name: str) -> int:
    """Where a field is in its register."""
    field = next(field for field in instruction.fields if field.name == name)
    return field.limit - 1 << field.low


def _class(instruction: Instruction) -> str:
    default = instruction.encode()
    name = _camel(instruction.name)
    lines = [
        f"\n// {instruction.doc.partition('.  ')[0]}",
        f"struct {name} {{",
        f"  static constexpr uint32_t kFunct = {int(instruction.funct)};",
        f"  Command command{{kFunct, 0, {default.rs1:#x}u, {default.rs2:#x}u}};",
        f"  {name}() = default;",
        f"  explicit {name}(const Command& given) : command(given) {{}}",
    ]
    lines.append("  static bool matches(const Command& c) {")
    same = ["c.funct == kFunct"]
    for field in instruction.fields:
        if field.fixed is not None:
            word = f"c.{field.register} >> {field.low} & {field.limit - 1:#x}u"
            same.append(f"({word}) == {field.fixed:#x}u")
    lines += [f"    return {' && '.join(same)};", "  }"]
    for field in instruction.operands:
        word, mask = f"command.{field.register}", f"{field.limit - 1:#x}u"
        lines += [
            f"  uint64_t {field.name}() const {{ return {word} >> {field.low} & {mask}; }}",
            f"  {name}& {field.name}(uint64_t value) {{",
            f"    {word} = ({word} & ~(uint64_t({mask}) << {field.low})) |"
            f" (value & {mask}) << {field.low};",
            "    return *this;",
            "  }",
        ]
    return "\n".join([*lines, "};"])


def _instruction_table(known: Iterable[Instruction]) -> Iterator[str]:
    names = ", ".join(f"k{kind.name.capitalize()}" for kind in Kind)
    yield f"\nenum Kind : uint8_t {{ {names} }};"
    yield "struct Field {"
    yield "  const char* name;\n  uint8_t second, low, bits;\n  Kind kind;\n  bool fixed;"
    yield "  uint64_t value;  // That it must have, if fixed; else what text leaves out.\n};"
    yield "struct Instruction {"
    yield "  const char* name;\n  uint32_t funct, count;\n  const Field* fields;\n};"
    rows = []
    for instruction in known:
        name = f"kFieldsOf{_camel(instruction.name)}"
        if instruction.fields:
            yield f"constexpr Field {name}[] = {{"
            yield "\n".join(_field_row(field) for field in instruction.fields)
            yield "};"
        count = len(instruction.fields)
        place = name if count else "nullptr"
        rows.append(f'    {{"{instruction.name}", {int(instruction.funct)}, {count}, {place}}},')
    yield "constexpr Instruction kInstructions[] = {"
    yield "\n".join([*rows, "};"])


def _field_row(field: Field) -> str:
    second, fixed = int(field.register == "rs2"), field.fixed is not None
    kind = f"k{field.kind.name.capitalize()}"
    value = field.default if field.fixed is None else field.fixed
    return (
        f'    {{"{field.name}", {second}, {field.low}, {field.bits}, {kind}, {int(fixed)}, '
        f"{int(value):#x}u}},"
    )


def _cause_table() -> Iterator[str]:
    yield "\nenum Cause : uint32_t {"
    yield "\n".join(f"  kCause{_camel(cause.name.lower())} = {int(cause)}," for cause in Cause)
    yield "};\nstruct CauseText {\n  const char *name, *text;\n};"
    yield "constexpr CauseText kCauses[] = {"
    yield "\n".join(f'    {{"{cause.name}", "{describe(cause)}"}},' for cause in Cause)
    yield "};"


def _counter_tables() -> Iterator[str]:
    """Sources are numbered: the accelerator's counters, the memory's, then lengths of queues."""
    sources = [*(counter.name for counter in COUNTERS), *ACTIVITIES, *QUEUE_VALUES]
    yield "\nconstexpr const char* kCounterNames[] = {"
    yield "\n".join(f'    "{counter.name}",' for counter in COUNTERS)
    yield f"}};\nconstexpr uint32_t kCounters = {len(COUNTERS)}, kActivities = {len(ACTIVITIES)};"
    yield f"constexpr uint32_t kSources = {len(sources)};"
    yield "constexpr uint32_t kCounterOffsets[] = {"
    for counter in COUNTERS:
        yield f"    {REGISTERS[f'COUNTER_{counter.name.upper()}_LO'].offset},"
    queues = REGISTERS["DEBUG_QUEUES"]
    lows = {field.name: (field.low, field.limit - 1) for field in queues.fields}
    yield "};\nstruct QueueField {\n  uint32_t low, mask;\n};"
    yield f"constexpr uint32_t kQueueRegister = {queues.offset};"
    yield "constexpr QueueField kQueueFields[] = {"
    yield "\n".join(f"    {{{lows[name][0]}, {lows[name][1]}u}}," for name in QUEUE_VALUES)
    most = max(len(event.sources) for event in EVENTS)
    yield "};\nstruct Event {\n  uint32_t number, external, count;"
    yield f"  uint32_t sources[{most}];\n}};"
    yield "constexpr Event kEvents[] = {"
    for event in EVENTS:
        numbers = ", ".join(str(sources.index(name)) for name in event.sources)
        yield f"    {{{event.number}, {int(event.external)}, {len(event.sources)}, {{{numbers}}}}},"
    yield "};"


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
