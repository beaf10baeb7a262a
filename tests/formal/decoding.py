"""A decoder beside the contract: what it must make of every command of one funct, in every state.

A command is followed from stage 1 on, where it meets the state: a cycle later stage 2 has it, and
the cycle after that, if it moves on at once, the output has it.  That it does not change where it
waits is claimed by `flow`.
"""

from collections.abc import Sequence
from typing import Any, Final

from amaranth import Cat, Const, Value
from amaranth.lib import data

from celosia.hw.decode.configuration import State
from celosia.hw.decode.decoder import Decoder, Kind, hull_count
from celosia.hw.decode.ops import Space
from celosia.hw.decode.ranges import space_base, space_rows
from celosia.hw.lib.layouts import COMMAND
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FUNCT_BITS, Funct
from celosia.isa.state.state import ArchState
from tests.support.prover import Harness
from tests.support.symbolic import Failed, Outcomes
from tests.support.symbolic_contract import (
    PITCH,
    ghosts,
    kept,
    observed,
    outcomes,
    registers,
)
from tests.support.terms import Emitter, Product, Term, multiply, variable

__all__ = ["UNKNOWN", "flow", "follows_contract", "starts_as_contract"]

UNKNOWN: Final = tuple(sorted(set(range(1 << FUNCT_BITS)) - set(Funct)))
"""Functs of no command."""


class _Bench:
    """A decoder with free surroundings, and its stages."""

    def __init__(self, h: Harness, config: AcceleratorConfig):
        self.h, self.config = h, config
        self.dut = Decoder(config)
        self.inner = h.inside(self.dut, "dut")
        h.source(self.dut.commands, "commands")
        h.drive(self.dut.halt, "halt")
        h.drive(self.dut.o.ready, "ready")
        self.command = data.View(COMMAND, self.inner["s1_command"])
        self.goes = self.inner["s1_valid"] & self.inner["s1_moves"]
        """The command in stage 1 takes effect."""
        self.registers = {name: self._register(name) for name in registers(config)}
        unseen = {name: h.free(bits, name) for name, bits in ghosts(config).items()}
        words = {"rs1": self.command.rs1, "rs2": self.command.rs2}
        self._emitter = Emitter(h.m, self.registers | unseen | words, self._products())

    def _register(self, name: str) -> Value:
        first, _, rest = name.partition(".")
        if first not in State(self.config).members:
            return self.inner[f"{first}_{rest}"]
        value: Any = data.View(State(self.config), self.inner["_kept"])
        for part in name.split("."):
            value = value[part]
        return Value.cast(value)

    def _products(self) -> list[Product]:
        """What the decoder multiplies: blocks or lines, by strides."""
        found = []
        for index in range(hull_count(self.config)):
            place = f"next_s2_hull_{index}"
            if f"{place}_upper" not in self.inner:  # Rows one after the other.
                continue
            steps, spare, stride, lower, upper = (
                self.inner[f"{place}_{name}"]
                for name in ("steps", "spare", "stride", "lower", "upper")
            )
            half = len(steps) + len(stride) - len(upper)
            found.append(Product(steps - spare, stride, lower + (upper << half)))
        return found

    def of(self, term: Term | None) -> Value:
        """A term of the command in stage 1 and the state that it meets."""
        return Const(0) if term is None else self._emitter.of(term)

    def offered(self, name: str) -> Value:
        """What is at the output."""
        value: Any = self.dut.o.p
        for part in name.split("."):
            value = value[int(part) if part.isdecimal() else part]
        return Value.cast(value)


def _names(results: Sequence[dict[str, Any] | None]) -> list[str]:
    return sorted({name for result in results for name in result or ()})


def starts_as_contract(h: Harness, config: AcceleratorConfig) -> None:
    """After reset the state is the contract's."""
    bench = _Bench(h, config)
    wanted = observed(ArchState.reset(config))
    found = kept(config)
    for name in _names(list(found.results())):
        value = bench.of(found.merged(lambda result, name=name: result.get(name)))
        there = found.where(lambda result, name=name: name in result)
        assert name in wanted or name.startswith(("pooling.", "signal", "wait")), name
        fact = bench.of(there) == (name in wanted)
        h.claim(h.started | (fact & (value == wanted[name] if name in wanted else 1)), name)
    h.reach(~h.started)


def follows_contract(
    h: Harness, config: AcceleratorConfig, functs: Sequence[int | tuple[int, ...]]
) -> None:
    """A command with any of these functs is what the contract says.

    Functs that stand together mean the same.
    """
    bench = _Bench(h, config)
    known = _row_stride_is_known(bench) if config.convolution else Const(1)
    for each in functs:
        same = each if isinstance(each, tuple) else (each,)
        found = outcomes(config, same[0])
        assert all(outcomes(config, other) == found for other in same[1:])
        assert not any(isinstance(result, Failed) for result in found.results())
        goes = bench.goes & bench.command.funct.matches(*same)
        name = Funct(each).name if isinstance(each, int) else "unknown"
        _offers(bench, found, goes & known, name)
        _changes(bench, found, goes & known, name)


def _row_stride_is_known(bench: _Bench) -> Value:
    """The decoder's bytes from one pooled row to the next are as many as the contract's.

    CONFIG_ST makes it so, and others keep it: `_changes`.
    """
    widths = registers(bench.config) | ghosts(bench.config)
    pitch, stride = (variable(name, widths[name]) for name in (PITCH, "store_stride"))
    known = bench.of(multiply(pitch, stride)) == bench.registers["row_stride"]
    return ~bench.registers["pools"] | known


def _offers(bench: _Bench, found: Outcomes, goes: Value, funct: str) -> None:
    """Claim that what comes out is what the contract says."""
    h, inner, o = bench.h, bench.inner, bench.dut.o
    some = bench.of(found.where(lambda result: result.offer is not None))
    resolved = h.past(goes)
    h.claim(~resolved | (inner["s2_valid"] == h.past(some)), funct)
    h.claim(~resolved | (bench.dut.ended == ~h.past(some)), funct)
    moved = h.past(resolved & inner["s2_moves"])

    def earlier(value: Value) -> Value:
        return h.past(h.past(value))

    h.claim(~moved | (o.valid == earlier(some)), funct)
    for name in _names([result.offer for result in found.results()]):
        value = bench.of(found.merged(lambda result, name=name: (result.offer or {}).get(name)))
        there = bench.of(found.where(lambda result, name=name: name in (result.offer or {})))
        h.claim(
            ~(moved & earlier(there)) | (bench.offered(name) == earlier(value)), f"{funct} {name}"
        )
    for kind, cause in sorted({
        (result.offer["kind"], result.offer["cause"]) for result in found.results() if result.offer
    }):
        h.reach(moved & o.valid & (Value.cast(o.p.kind) == kind) & (o.p.cause == cause))
    if not any(result.offer for result in found.results()):
        h.reach(moved & ~o.valid)


def _changes(bench: _Bench, found: Outcomes, goes: Value, funct: str) -> None:
    """Claim that the state becomes what the contract says."""
    h, after = bench.h, [result.after for result in found.results()]
    changes = bench.of(found.where(lambda result: result.after is not None))
    done, same = h.past(goes & ~changes), h.past(Cat(bench.registers.values()))
    h.claim(~done | (Cat(bench.registers.values()) == same), funct)
    if not any(after):
        return
    done = h.past(goes & changes)
    h.reach(done & (Cat(bench.registers.values()) != same))
    state = kept(bench.config)
    for name in _names(list(state.results())):
        wanted = bench.of(found.merged(lambda result, name=name: (result.after or {}).get(name)))
        wanted_there = found.where(lambda result, name=name: name in (result.after or {name: 0}))
        got = bench.of(state.merged(lambda result, name=name: result.get(name)))
        got_there = bench.of(state.where(lambda result, name=name: name in result))
        h.claim(~done | (got_there == h.past(bench.of(wanted_there))), f"{funct} {name}?")
        h.claim(~(done & got_there) | (got == h.past(wanted)), f"{funct} {name}")


def flow(h: Harness, config: AcceleratorConfig) -> None:
    """No command is lost, made up, overtaken or changed; rows that are named exist."""
    bench = _Bench(h, config)
    dut, inner = bench.dut, bench.inner
    h.offers_stand(dut.o, claim=True)
    _enters(bench)
    s2_valid, s2_moves, s2_tag = (inner[f"s2_{name}"] for name in ("valid", "moves", "tag"))
    s2 = [
        signal
        for name, signal in inner.items()
        if name.startswith("s2_") and name not in ("s2_valid", "s2_moves")
    ]
    waits = h.past(s2_valid & ~s2_moves)
    h.claim(~bench.goes | ~s2_valid | s2_moves)
    h.claim(~waits | (s2_valid & (Cat(s2) == h.past(Cat(s2)))))
    h.claim(~h.past(s2_moves & ~bench.goes) | ~s2_valid)
    h.claim(~s2_moves | ~dut.o.valid | dut.o.ready)
    h.claim(~h.past(s2_moves) | (dut.o.valid == h.past(s2_valid)))
    h.claim(dut.empty == ~(inner["s1_valid"] | s2_valid | dut.o.valid))
    operations = ["load", "execute", "store"] + ["transform"] * config.normalization
    resolved, moved = h.past(bench.goes), h.past(s2_moves & s2_valid)
    h.claim(~resolved | (s2_tag == h.past(inner["s1_tag"])))
    h.claim(~moved | (dut.o.p.tag == h.past(s2_tag)))
    for name in operations:
        tag = inner[f"s2_{name}_tag"]
        h.claim(~resolved | (tag == h.past(inner["s1_tag"])), name)
        h.claim(~moved | (dut.o.p[name].tag == h.past(tag)), name)
    _rows_exist(bench, h.past(resolved & s2_moves & s2_valid))
    h.reach(waits & dut.o.valid & ~dut.o.ready)
    h.reach(dut.o.valid & (dut.o.p.tag == 2))


def _enters(bench: _Bench) -> None:
    """A command is accepted, waits, and leaves stage 1; nothing else changes the state."""
    h, dut, inner = bench.h, bench.dut, bench.inner
    valid, moves, tag = (inner[f"s1_{name}"] for name in ("valid", "moves", "tag"))
    held = Cat(bench.command.as_value(), tag)
    h.claim(dut.accepted == (dut.commands.valid & dut.commands.ready))
    h.claim(~dut.accepted | (~dut.halt & (~valid | moves)))
    h.claim(~h.started | (dut.number == h.past((dut.number + dut.accepted)[: len(dut.number)])))
    entered = h.past(Cat(dut.commands.payload.as_value(), dut.number))
    h.claim(~h.past(dut.accepted) | (valid & (held == entered)))
    h.claim(~h.past(valid & ~moves) | (valid & (held == h.past(held))))
    h.claim(~h.past(~dut.accepted & (~valid | moves)) | ~valid)
    state = Cat(bench.registers.values())
    h.claim(~h.started | h.past(bench.goes) | (state == h.past(state)))


def _rows_exist(bench: _Bench, moved: Value) -> None:
    """Rows that an operation names are rows of their memory."""
    h, o = bench.h, bench.dut.o
    for index, rows in enumerate(o.p.ranges):
        space = h.past(bench.inner[f"s2_hull_{index}_space"])
        for each in Space:
            base, count = space_base(bench.config, each), space_rows(bench.config, each)
            there = (base <= rows.first) & (rows.first <= rows.last) & (rows.last < base + count)
            here = moved & rows.valid & (space == each) & (o.p.kind != Kind.ERROR)
            h.claim(~here | there, f"range {index}")
