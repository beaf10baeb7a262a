"""Proving what a unit promises: RTLIL, Yosys (of PyPI) to gates, and a SAT solver.

A harness is a `Module` that instantiates a unit, assumes what its surroundings promise, and asserts
what the unit promises.  Inputs of the harness are free in every cycle.
"""

import contextlib
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth import Assume, Cat, Module, ResetSignal, Signal, Value
from amaranth.back import rtlil  # pyright: ignore[reportAttributeAccessIssue]
from amaranth.hdl import Fragment, ValueLike
from amaranth.hdl import _ir as ir

from tests.support.gates import Aiger, read_aiger, refute, refute_anywhere, unreached
from tests.support.yosys import run_yosys

__all__ = [
    "Followed",
    "Harness",
    "Planted",
    "Proof",
    "planted",
    "prove",
    "prove_and_reach",
    "submodule",
    "translate",
]


class Harness:
    """A module under construction, with its free inputs."""

    def __init__(self) -> None:
        self.m = Module()
        self.inputs: list[Signal] = []
        self.places: list[str] = []
        """Where the claims stand, in order."""
        self._claims: list[Value] = []
        self._covers: list[Value] = []
        self.started = Signal()  # Not the first cycle.
        self._numbers = 0
        self.m.d.sync += self.started.eq(1)
        self.m.d.comb += Assume(~ResetSignal(), "no reset")

    def free(self, shape: Any, name: str) -> Any:
        """A signal that may have any value in any cycle."""
        signal = Signal(shape, name=name)
        self.inputs.append(Value.cast(signal))  # pyright: ignore[reportArgumentType]
        return signal

    def constant(self, shape: Any, name: str) -> Any:
        """A signal that may have any value, the same in all cycles."""
        signal = self.free(shape, name)
        self.stable(self.started, signal)
        return signal

    def drive(self, target: Any, name: str) -> Any:
        """Let `target`, an input of a unit, be free; returns it."""
        free = self.free(Value.cast(target).shape(), name)
        self.m.d.comb += Value.cast(target).eq(free)
        return target

    def past(self, value: ValueLike) -> Signal:
        """`value` in the cycle before; 0 in the first one."""
        self._numbers += 1
        signal = Signal(Value.cast(value).shape(), name=f"past_{self._numbers}")
        self.m.d.sync += signal.eq(value)
        return signal

    def count(self, event: Value, bits: int, name: str) -> Signal:
        """How often `event` was true in earlier cycles."""
        signal = Signal(bits, name=name)
        with self.m.If(event):
            self.m.d.sync += signal.eq(signal + 1)
        return signal

    def follow(self, enters: Value, what: Any, leaves: Value, capacity: int) -> "Followed":
        """Follow any one of the elements that enter; that it leaves in order is claimed.

        Where it leaves, the caller claims that it is `Followed.kept`.
        """
        what = Value.cast(what)
        mark = self.free(1, "mark")
        level = Signal(range(capacity + 2), name="level")
        ahead = Signal(range(capacity + 2), name="ahead")
        tracked, kept = Signal(name="tracked"), Signal(len(what), name="kept")
        self.m.d.sync += level.eq(level + enters - leaves)
        with self.m.If(enters & mark & ~tracked):
            self.m.d.sync += [tracked.eq(1), kept.eq(what), ahead.eq(level - leaves)]
        with self.m.Elif(tracked & leaves):
            self.m.d.sync += [ahead.eq(ahead - 1), tracked.eq(ahead != 0)]
        self.claim(~leaves | (level != 0))
        self.claim(level <= capacity)
        self.claim(~tracked | (ahead < level))
        self.reach(tracked & leaves & (ahead == 0))
        return Followed(level, ahead, tracked, kept)

    def stable(self, held: Value, value: ValueLike) -> None:
        """Assume that `value` is as in the cycle before, where `held`."""
        self.assume(~held | (self.past(value) == Value.cast(value)))

    def assume(self, fact: ValueLike) -> None:
        """What the surroundings promise."""
        self.m.d.comb += Assume(fact, "promised")

    def claim(self, fact: ValueLike, what: str = "") -> None:
        """What is to be proved; under a condition of `m`, only there.

        `what` tells claims of the same line apart.
        """
        caller = sys._getframe(1)
        place = f"{Path(caller.f_code.co_filename).name}:{caller.f_lineno}"
        self.places.append(f"{place} ({what})" if what else place)
        wrong = Signal(name=f"wrong_{len(self._claims)}")
        self.m.d.comb += wrong.eq(~Value.cast(fact).bool())
        self._claims.append(wrong)

    def reach(self, fact: ValueLike) -> None:
        """What must be possible; under a condition of `m`, there."""
        reached = Signal(name=f"reached_{len(self._covers)}")
        self.m.d.comb += reached.eq(Value.cast(fact).bool())
        self._covers.append(reached)

    def finish(self) -> list[Signal]:
        """The ports of the module: its inputs, and what is looked at."""
        outputs = []
        for name, signals in (("wrong", self._claims), ("reached", self._covers)):
            outputs.append(vector := Signal(len(signals), name=name))
            self.m.d.comb += vector.eq(Cat(signals))
        return [*self.inputs, *outputs]

    def offers_stand(self, port: Any, claim: bool) -> None:
        """An offer on the stream `port` stands until it is taken: claimed, or assumed."""
        refused = self.past(port.valid & ~port.ready)
        payload = Value.cast(port.payload)
        stands = ~refused | (port.valid & (self.past(payload) == payload))
        (self.claim if claim else self.assume)(stands)

    def source(self, port: Any, name: str) -> None:
        """Drive `port`, a stream into a unit, with anything that a stream may do."""
        self.drive(port.valid, f"{name}_valid")
        self.drive(port.payload, f"{name}_payload")
        self.offers_stand(port, claim=False)

    def sink(self, port: Any, name: str) -> None:
        """Take from `port`, a stream out of a unit, at any time; what it promises is claimed."""
        self.drive(port.ready, f"{name}_ready")
        self.offers_stand(port, claim=True)

    def inside(self, unit: Any, name: str) -> "dict[str, Signal]":
        """Add `unit` as submodule `name`; returns the signals of its own module by name."""
        fragment: Any = Fragment.get(unit, None)
        self.m.submodules[name] = fragment
        signals: dict[str, Signal] = {}
        for part in _fragments(fragment):
            for statements in part.statements.values():
                found = statements._lhs_signals()
                with contextlib.suppress(NotImplementedError):  # Where a reset is read.
                    found = found | statements._rhs_signals()
                for signal in found:
                    signals.setdefault(signal.name, signal)
        return signals


def submodule(module: Module, name: str) -> Any:
    """The submodule `name` of `module`, before it is elaborated: a memory may get another port."""
    found = module._named_submodules[name]
    return found[0] if isinstance(found, tuple) else found


def _fragments(fragment: Any) -> Iterator[Any]:
    yield fragment
    for inner, *_ in fragment.subfragments:
        if not isinstance(inner, ir.Instance):
            yield from _fragments(inner)


@dataclass(frozen=True)
class Followed:
    """An element between where it enters and where it leaves."""

    level: Signal
    """Elements that have entered and not left."""
    ahead: Signal
    """Of these, so many leave before the one that is followed."""
    tracked: Signal
    """One is followed."""
    kept: Signal
    """What it is."""


@dataclass(frozen=True)
class Planted:
    """A fault: `old` in the source of `module` becomes `new`."""

    module: str
    old: str
    new: str


@dataclass(frozen=True)
class Proof:
    """A harness and how deep to look."""

    build: Callable[[Harness], None]
    depth: int
    fault: Planted
    induction: bool = False
    """Not only the first `depth` cycles: from any `depth` good cycles, the next one is good."""
    anywhere: bool = False
    """Nor from good cycles only: after any `depth` cycles from any state, the next one is good."""

    @property
    def name(self) -> str:
        return self.build.__name__


_YOSYS = (
    "read_rtlil design.il",
    "hierarchy -top top",
    "proc",
    "flatten",
    "opt_clean",
    "memory_map",
    "async2sync",
    "chformal -lower",
    "opt -full",
    "dffunmap",
    "simplemap",
    "techmap",
    "opt -fast",
    "dffunmap",
    "setundef -zero",
    "aigmap",
    "opt_clean",
    "write_aiger -ascii -symbols design.aag",
)


def translate(proof: Proof, work: Path) -> tuple[Aiger, list[str]]:
    """`proof` as gates, and where each of its claims stands."""
    harness = Harness()
    proof.build(harness)
    ports = harness.finish()
    (work / "design.il").write_text(rtlil.convert(harness.m, name="top", ports=ports))
    done = run_yosys(work, *_YOSYS)
    assert done.returncode == 0, done.stdout[-3000:]
    return read_aiger(work / "design.aag"), harness.places


def prove(proof: Proof, work: Path) -> str:
    """What is wrong with `proof`, if anything is."""
    gates, places = translate(proof, work)
    return _refuted(proof, gates, places)


def prove_and_reach(proof: Proof, work: Path) -> tuple[str, list[int]]:
    """What is wrong with `proof`, and the covers that are not reached a little below its depth."""
    gates, places = translate(proof, work)
    return _refuted(proof, gates, places), unreached(gates, proof.depth + 6)


def _refuted(proof: Proof, gates: Aiger, places: list[str]) -> str:
    wrong = refute(gates, proof.depth, places)
    if proof.induction:
        wrong = wrong or refute(gates, proof.depth, places, anywhere=True)
    if proof.anywhere:
        wrong = wrong or refute_anywhere(gates, proof.depth, places)
    return wrong


@contextlib.contextmanager
def planted(fault: Planted) -> Iterator[None]:
    """Have `fault` in the code of all functions of its module."""
    module = importlib.import_module(fault.module)
    assert module.__file__ is not None
    source = Path(module.__file__).read_text()
    assert source.count(fault.old) == 1, f"{fault.module}: {fault.old!r} is not there once"
    wrong = types.ModuleType(fault.module)
    wrong.__file__ = module.__file__
    exec(compile(source.replace(fault.old, fault.new), module.__file__, "exec"), wrong.__dict__)
    pairs = list(_functions(module, wrong))
    kept = [(function, function.__code__) for function, _ in pairs]
    for function, other in pairs:
        function.__code__ = other.__code__
    try:
        yield
    finally:
        for function, code in kept:
            function.__code__ = code


def _functions(one: Any, other: Any) -> Iterator[Sequence[types.FunctionType]]:
    """The functions of two modules or classes that belong together."""
    for name, value in list(vars(one).items()):
        twin = vars(other).get(name)
        if isinstance(value, types.FunctionType) and isinstance(twin, types.FunctionType):
            if value.__module__ == getattr(one, "__module__", one.__name__):
                yield value, twin
        elif isinstance(value, type) and value.__module__ == getattr(one, "__name__", None):
            yield from _functions(value, twin)
