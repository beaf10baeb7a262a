"""Large designs that several tests simulate: elaborated and compiled once in a process.

That takes seconds for an accelerator, where most tests take a few hundred cycles.  Amaranth's reset
gives every signal and memory the value that it has at power-on, so that no test sees another.
"""

from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from typing import Any, Final

from amaranth.hdl import Elaboratable
from amaranth.sim import Simulator

__all__ = ["run_testbenches", "shared_design"]

Testbench = Callable[[Any], Coroutine[Any, Any, None]]

_SLOTS: Final = 8
"""Testbenches of each sort that a kept simulator has room for."""


class _Kept:
    """A simulator whose testbenches are those of the run."""

    def __init__(self, dut: Elaboratable, period: float, domain: str):
        self._parts: list[Testbench | None] = [None] * (2 * _SLOTS)
        self._simulator = Simulator(dut)
        self._simulator.add_clock(period, domain=domain)
        for index in range(2 * _SLOTS):
            self._simulator.add_testbench(self._slot(index), background=index >= _SLOTS)
        self._fresh = True

    def _slot(self, index: int) -> Callable:
        async def testbench(ctx) -> None:
            if (part := self._parts[index]) is not None:
                await part(ctx)

        return testbench

    def run(self, testbenches: Sequence[Testbench], background: Sequence[Testbench]) -> None:
        assert max(len(testbenches), len(background)) <= _SLOTS, "more testbenches than slots"
        empty: list[Testbench | None] = [None] * _SLOTS
        self._parts = [
            *[*testbenches, *empty][:_SLOTS],
            *[*background, *empty][:_SLOTS],
        ]
        if not self._fresh:
            self._simulator.reset()
        self._fresh = False
        self._simulator.run()


_MOST: Final = 8
"""Simulators that are kept: those that ran last."""

_shared: set[int] = set()
"""The identities of designs that `shared_design` has made, and keeps."""
_kept: dict[int, _Kept] = {}


@cache
def shared_design(make: Callable[..., Any], *arguments: Any) -> Any:
    """``make(*arguments)``, the same object each time, for `run_testbenches`."""
    design = make(*arguments)
    _shared.add(id(design))
    return design


def run_testbenches(
    dut: Elaboratable,
    testbenches: Sequence[Testbench],
    background: Sequence[Testbench],
    period: float,
    domain: str = "sync",
) -> None:
    """Simulate `dut` from power-on until `testbenches` end; `background` runs along.

    The simulator of a `shared_design` is kept, unless a testbench raises.
    """
    if id(dut) not in _shared:
        simulator = Simulator(dut)
        simulator.add_clock(period, domain=domain)
        for testbench in testbenches:
            simulator.add_testbench(testbench)
        for testbench in background:
            simulator.add_testbench(testbench, background=True)
        simulator.run()
        return
    kept = _kept.pop(id(dut), None) or _Kept(dut, period, domain)
    kept.run(testbenches, background)
    _kept[id(dut)] = kept
    if len(_kept) > _MOST:
        del _kept[next(iter(_kept))]
