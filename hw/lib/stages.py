"""Pipelines that move as a whole: a valid bit for each stage, and registers that move with it."""

from copy import copy
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value

__all__ = ["Line", "Stages"]


class Stages:
    """The stages of a pipeline; stage n writes ``s<n>_...`` and reads what stage n - 1 wrote.

    A register changes only when its stage has something.  All registers of a stage have one signal
    as their enable, so that a stage that has nothing costs a simulator one branch: what moves for
    some only is given stages of its own by `branch`.  Only the valid bits are reset.

    With `free`, registers move in every cycle, and hold what nobody looks at while there is
    nothing: without an enable, a register is two thirds of the size.  What must stand then is
    `held`.

    `valid` is that of what enters stage 1; ``self.valid[n]`` is that of what stage n has done.
    The pipeline never stops, or it moves in cycles with `advance` only.
    """

    def __init__(
        self,
        m: Module,
        valid: Value,
        count: int,
        name: str = "stages",
        advance: Value | None = None,
        *,
        free: bool = False,
    ):
        assert not free or advance is None, "what stops must stand"
        self.m = m
        self._free = free
        self._count = count
        self._part = ""
        self._advance = advance
        valids = Signal(count, name=f"{name}_valid")
        self.valid: list[Value] = [valid, *valids]
        enters = Cat(valid, valids[:-1])
        if advance is None:
            self._moves = self.valid
            m.d.sync += valids.eq(enters)
        else:
            moves = Signal(count, name=f"{name}_moves")
            self._moves = list(moves)
            m.d.comb += moves.eq(Mux(advance, enters, 0))
            with m.If(advance):
                m.d.sync += valids.eq(enters)

    def branch(self, name: str, only: Value) -> "Stages":
        """The same stages for what enters with `only`."""
        enters = Signal(name=f"{name}_enters")
        self.m.d.comb += enters.eq(self.valid[0] & only)
        stages = Stages(self.m, enters, self._count, name, self._advance, free=self._free)
        stages._part = self._part
        return stages

    def part(self, part: str | int) -> "Stages":
        """The same stages for `part`, a lane, say: the names of its registers end in it."""
        stages = copy(self)
        stages._part = f"_{part}"
        return stages

    def register(self, stage: int, name: str, value: Any) -> Any:
        """`value`, a Value or a View, as `stage` leaves it."""
        return self.passing(stage, name, value) if self._free else self.held(stage, name, value)

    def passing(self, stage: int, name: str, value: Any) -> Any:
        """`value` as `stage` leaves it, in the next cycle only."""
        register = self._register(stage, name, value)
        self.m.d.sync += register.eq(value)
        return register

    def held(self, stage: int, name: str, value: Any) -> Any:
        """`value` as `stage` leaves it; it stands until the stage leaves another one."""
        register = self._register(stage, name, value)
        with self.m.If(self._moves[stage - 1]):
            self.m.d.sync += register.eq(value)
        return register

    def _register(self, stage: int, name: str, value: Any) -> Any:
        return Signal(value.shape(), name=f"s{stage}_{name}{self._part}", reset_less=True)

    def wire(self, stage: int, name: str, value: Any) -> Any:
        """`value`, for more than one use within `stage`; it is 0 while there is nothing in it."""
        wire = Signal(value.shape(), name=f"s{stage}_{name}{self._part}")
        with self.m.If(self.valid[stage - 1]):
            self.m.d.comb += wire.eq(value)
        return wire

    def line(self, name: str, value: Any, born: int = 0) -> "Line":
        """`value`, which stage `born` has made, on its way through the stages behind."""
        return Line(self, name, value, born)


class Line:
    """A value that moves along: ``line[n]`` is what stage n leaves.

    Its registers are made when they are first asked for: not within an `If` of the module.
    """

    def __init__(self, stages: Stages, name: str, value: Any, born: int):
        self._stages = stages
        self._name = name
        self._values = [value]
        self._born = born

    def __getitem__(self, stage: int) -> Any:
        assert stage >= self._born, f"{self._name} is not made before stage {self._born}"
        while (last := self._born + len(self._values) - 1) < stage:
            register = self._stages.register(last + 1, self._name, self._values[-1])
            self._values.append(register)
        return self._values[stage - self._born]
