"""Proof of the decoder: what becomes of every word, whatever was configured before.

A stage at a time, from any state: an operation has the operands of its command and what
configuration says, configuration changes in what a command names and in nothing else, and rows
that do not exist leave as an error.  Shapes and causes are compared with the contract in
simulation (`tests/hw/frontend/test_decoder.py`).
"""

from enum import IntEnum
from types import SimpleNamespace
from typing import Any, Final

from amaranth import Const, Mux, Signal, Value
from amaranth.lib import data

from celosia.hw.control.ops import Space
from celosia.hw.frontend.configuration import State
from celosia.hw.frontend.decoder import PRODUCT_HULLS, Decoder, Kind
from celosia.hw.frontend.layouts import COMMAND
from celosia.hw.issue.ranges import space_base, space_rows
from celosia.isa import encoding
from celosia.isa.address import ACCUMULATE_BIT, ACCUMULATOR_BIT, FULL_BIT
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct, Instruction
from celosia.isa.errors import Cause
from tests.formal.running import proof_tests
from tests.support.prover import Harness, Planted, Proof

CONFIG: Final = AcceleratorConfig(
    dim=2,
    bus_bits=32,
    scratchpad_kib=1,
    scratchpad_banks=2,
    accumulator_kib=1,
    parameter_rows=8,
    loop_entries=0,
)
LOADS: Final = encoding.LOADS
COMPUTES: Final = (encoding.COMPUTE_PRELOADED, encoding.COMPUTE_ACCUMULATED)
CONFIGS: Final = (Funct.CONFIG, Funct.CONFIG_DRAIN, Funct.CONFIG_TOKEN, Funct.PRELOAD)
OPERATIONS: Final = {
    Kind.LOAD: (Funct.MVIN, Funct.MVIN2, Funct.MVIN3, Funct.MVIN_PARAM),
    Kind.EXECUTE: (Funct.COMPUTE_PRELOADED, Funct.COMPUTE_ACCUMULATED),
    Kind.STORE: (Funct.MVOUT,),
    Kind.FENCE: (Funct.FENCE,),
}
KNOWN: Final = (*CONFIGS, *(f for functs in OPERATIONS.values() for f in functs), Funct.FLUSH)
_NAMES: Final = {
    encoding.CONFIG_DRAIN: {"block_stride": "drain_block_stride"},
    encoding.CONFIG_TOKEN: {
        "signal_id": "signal_token",
        "wait_id": "wait_token",
        "count": "wait_count",
    },
    encoding.PRELOAD: {},
}
"""Where the state calls an operand something else."""


class _Stage2:
    """The command that was resolved in the cycle before, the state that it met, and the result."""

    def __init__(self, h: Harness, inner: dict[str, Signal]):
        self.h, self.inner = h, inner
        self.resolved = h.past(inner["s1_valid"] & inner["s1_moves"])
        self.command = data.View(COMMAND, h.past(inner["s1_command"]))
        self.before = data.View(State(CONFIG), h.past(inner["_kept"]))
        self.state = data.View(State(CONFIG), inner["_kept"])
        self.valid, self.kind = inner["s2_valid"], inner["s2_kind"]
        self.cause = inner["s2_cause"]

    def one_of(self, *functs: IntEnum) -> Value:
        """The command is one of these."""
        return self.resolved & self.command.funct.matches(*functs)

    def fields(self, instruction: Instruction) -> Any:
        """Its operands, as the contract places them."""
        words = {"rs1": self.command.rs1, "rs2": self.command.rs2}
        return SimpleNamespace(**{
            field.name: words[field.register][field.low : field.low + field.bits]
            for field in instruction.fields
        })

    def becomes(self, when: Value, kind: str, wanted: dict[str, Any]) -> None:
        """Claim the fields of the operation of `kind`."""
        for name, value in wanted.items():
            found = self.inner[f"s2_{kind}_{name}"]
            self.h.claim(~(when & self.valid) | (found == Value.cast(value)[: len(found)]))


def _local(word: Value) -> dict[str, Any]:
    accumulator = word[ACCUMULATOR_BIT]
    return {"row": word, "space": Mux(accumulator, Space.ACCUMULATOR.value, Space.SCRATCHPAD.value)}


def _kinds(h: Harness, s: _Stage2) -> None:
    """Each funct becomes what it is, an error, or nothing."""
    error = s.valid & (s.kind == Kind.ERROR)
    h.claim(~error | (s.cause != Cause.NONE))
    for kind, functs in OPERATIONS.items():
        h.claim(~(s.one_of(*functs) & s.valid) | (s.kind == kind))
    h.claim(~s.one_of(Funct.FENCE, *OPERATIONS[Kind.EXECUTE]) | s.valid)
    h.claim(~s.one_of(Funct.FLUSH) | ~s.valid)
    h.claim(~s.one_of(*CONFIGS) | ~s.valid | error)
    unknown = s.resolved & ~s.command.funct.matches(*KNOWN)
    h.claim(~unknown | (error & (s.cause == Cause.UNKNOWN_FUNCT)))
    for known in (*LOADS, encoding.MVOUT):
        f = s.fields(known)
        some = (f.local_rows != 0) & (f.local_cols != 0)
        h.claim(~s.one_of(known.funct) | (s.valid == some))
    h.claim(~s.one_of(Funct.MVIN_PARAM) | (s.valid == (s.fields(encoding.MVIN_PARAM).count != 0)))


def _operations(s: _Stage2) -> None:
    """Operands, and what configuration adds to them."""
    before = s.before
    waits = {name: before[name] for name in ("wait", "wait_token", "wait_count")}
    for index, known in enumerate(LOADS):
        f, load = s.fields(known), before[f"load_{index}"]
        settings = {name: load[name] for name in ("stride", "block_stride", "scale", "shrunk")}
        wanted = {"address": f.dram, "rows": f.local_rows, "cols": f.local_cols}
        flags = {"zero": f.dram == 0, "accumulate": f.local[ACCUMULATE_BIT]}
        s.becomes(s.one_of(known.funct), "load", wanted | _local(f.local) | settings | flags)
        s.becomes(s.one_of(known.funct), "load", waits)
    f = s.fields(encoding.MVIN_PARAM)
    wanted = {"address": f.dram, "rows": Const(1), "cols": f.count, "row": f.row}
    wanted |= {"space": Const(Space.PARAMETER.value), "block_stride": Const(1)}
    wanted |= {name: Const(0) for name in ("zero", "accumulate", "shrunk")}
    s.becomes(s.one_of(Funct.MVIN_PARAM), "load", wanted | waits)
    f = s.fields(encoding.MVOUT)
    from_accumulator = f.local[ACCUMULATOR_BIT]
    own = before.drain_block_stride
    wanted = {"address": f.dram, "rows": f.local_rows, "cols": f.local_cols} | _local(f.local)
    wanted |= {"stride": before.store_stride, "scale": before.store_scale}
    wanted |= {"relu": before.store_relu, "full": from_accumulator & f.local[FULL_BIT]}
    wanted |= {"bias": from_accumulator & before.bias, "bias_row": before.bias_row}
    wanted |= {"block_stride": Mux(own == 0, CONFIG.dim, own)}
    wanted |= {"signal": before.signal, "signal_token": before.signal_token}
    s.becomes(s.one_of(Funct.MVOUT), "store", wanted)
    for known in COMPUTES:
        f = s.fields(known)
        wanted = {name: getattr(f, name) for name in ("a_rows", "a_cols", "d_cols", "d_rows")}
        named = {"a_row": f.a, "d_row": f.d, "w_row": before.b, "c_row": before.c}
        state = ("a_stride", "c_stride", "a_transpose", "a_unsigned", "c_cols")
        wanted |= {name: before[name] for name in state}
        wanted |= {"relu": before.execute_relu, "accumulate": before.c[ACCUMULATE_BIT]}
        wanted |= {"c_accumulator": before.c[ACCUMULATOR_BIT], "w_transpose": before.b_transpose}
        wanted |= {"load_weights": Const(known is encoding.COMPUTE_PRELOADED)}
        s.becomes(s.one_of(known.funct), "execute", wanted | named)


def _configuration(h: Harness, s: _Stage2) -> None:
    """A command changes what it names, if it breaks no rule, and nothing else."""
    changes: dict[str, tuple[Value, Value]] = {}
    select = s.command.rs1[:2]
    forms = (encoding.CONFIG_EX, encoding.CONFIG_LD, encoding.CONFIG_ST)
    ex, ld, st = (s.fields(form) for form in forms)
    turned = ex.a_transpose & ex.b_transpose
    fits = ex.strides_only | (ex.weight_stationary & ~turned)
    config = s.one_of(Funct.CONFIG)
    is_ex, is_st = config & (select == 0) & fits, config & (select == 2)
    is_st = is_st & (st.pool_stride == 0) & (st.activation <= 1)
    for name in ("a_stride", "c_stride"):
        changes[name] = is_ex, getattr(ex, name)
    for name in ("a_transpose", "b_transpose", "a_unsigned"):
        changes[name] = is_ex & ~ex.strides_only, getattr(ex, name)
    changes["execute_relu"] = is_ex & ~ex.strides_only, ex.activation == 1
    changes["store_stride"] = is_st, st.stride
    changes["store_scale"] = is_st & (st.scale != encoding.KEEP_SCALE), st.scale
    changes["store_relu"] = is_st, st.activation == 1
    for known, names in _NAMES.items():
        fields = vars(s.fields(known))
        for field in known.operands:
            changes[names.get(field.name, field.name)] = s.one_of(known.funct), fields[field.name]
    for name, shape in State(CONFIG).members.items():
        if isinstance(shape, data.StructLayout):
            index = int(name[-1])
            is_ld = config & (select == 1) & (ld.set == index) & (ld.pixel_repeats <= 1)
            for field in shape.members:
                value = Mux(is_ld, getattr(ld, field), s.before[name][field])
                h.claim(s.state[name][field] == value)
            continue
        when, value = changes.pop(name)
        h.claim(s.state[name] == Mux(when, value, s.before[name]))
    assert not changes
    broken = config & ~is_ex & ~is_st & ~((select == 1) & (ld.set < 3) & (ld.pixel_repeats <= 1))
    wrong = s.valid & (s.cause == Cause.UNSUPPORTED)
    h.claim(~broken | wrong)
    h.claim(~s.one_of(*CONFIGS) | broken | ~s.valid)


def _rows(h: Harness, dut: Decoder, inner: dict[str, Signal]) -> None:
    """What was resolved goes on as it is, or as an error; rows that are named exist."""
    moved = h.past(inner["s2_moves"] & inner["s2_valid"])
    p = dut.o.p
    error = p.kind == Kind.ERROR
    for name, signal in inner.items():
        if name.startswith(("s2_load_", "s2_execute_", "s2_store_", "s2_tag")):
            h.claim(~moved | (inner[f"s3{name[2:]}"] == h.past(signal)))
    h.claim(~moved | (error == (p.cause != Cause.NONE)))
    h.claim(~moved | error | (Value.cast(p.kind) == h.past(inner["s2_kind"])))
    was_wrong = h.past(inner["s2_cause"]) != Cause.NONE
    h.claim(~(moved & was_wrong) | error)
    for index in range(PRODUCT_HULLS):
        rows, space = p.ranges[index], h.past(inner[f"s2_hull_{index}_space"])
        h.claim(~moved | (rows.valid == h.past(inner[f"s2_hull_{index}_valid"])))
        for each in Space:
            base, count = space_base(CONFIG, each), space_rows(CONFIG, each)
            there = (base <= rows.first) & (rows.first <= rows.last) & (rows.last < base + count)
            first = h.past(inner[f"s2_hull_{index}_row"]) + base
            here = moved & rows.valid & (space == each)
            h.claim(~here | error | (there & (rows.first == first)))


def decoder(h: Harness) -> None:
    """The decoder, with a stage that takes what comes whenever it likes."""
    dut = Decoder(CONFIG)
    inner = h.inside(dut, "dut")
    h.source(dut.commands, "commands")
    h.sink(dut.o, "o")
    h.drive(dut.halt, "halt")
    accepted = h.past(dut.accepted)
    h.claim(~accepted | (inner["s1_command"] == h.past(dut.commands.payload.as_value())))
    h.claim(~accepted | inner["s1_valid"])
    stage_2 = _Stage2(h, inner)
    h.claim(stage_2.resolved | (h.past(inner["_kept"]) == inner["_kept"]) | ~h.started)
    with h.m.If(h.started):
        _kinds(h, stage_2)
        _operations(stage_2)
        _configuration(h, stage_2)
        _rows(h, dut, inner)
    for kind in set(Kind) - {Kind.TRANSFORM}:
        h.reach(dut.o.valid & (dut.o.p.kind == kind))
    h.reach(dut.o.valid & (dut.o.p.cause == Cause.LOCAL_RANGE))


_PROOFS: Final = (
    Proof(
        decoder,
        2,
        Planted(
            "celosia.hw.frontend.decode",
            "op.zero.eq(fields.dram == 0)",
            "op.zero.eq(fields.dram[:32] == 0)",
        ),
        induction=True,
    ),
)

test_it_is_proved, test_a_planted_fault_is_noticed = proof_tests(_PROOFS)
