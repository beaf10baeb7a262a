"""TVM: latency hiding, off and on, over one encoder layer on the RTL."""

from collections.abc import Callable
from typing import Final

from celosia.lab.compilers.nonlinear import MODES, Nonlinear, run_nonlinear
from celosia.lab.compilers.row import Row, System
from celosia.sim.support.progress import Progress

__all__ = ["TVM", "tvm"]

TVM: Final = System(
    system="TVM",
    mechanism="latency hiding: units that run ahead of each other",
    claim="70 to 88 % of peak by latency hiding, on VTA",
    source="Chen et al., OSDI 2018, section 6.4",
)
SEQ: Final = 128


def _run(tell: Progress) -> Nonlinear:
    modes = [mode for mode in MODES if mode.name in {"serial", "as compiled"}]
    return run_nonlinear(tell, SEQ, modes=modes)


def tvm(tell: Progress, run: Callable[[Progress], Nonlinear] = _run) -> Row:
    """Units by turns, and as compiled: the same layer, with what of the peak each reaches."""
    found = run(tell)
    lines = {name: found.line(name) for name in ("serial", "as compiled")}
    cycles = {name: line.measured.cycles or 0 for name, line in lines.items()}
    peaks = " and ".join(f"{found.utilization(line) or 0:.1%}" for line in lines.values())
    return Row(
        about=TVM,
        work=f"a layer of {found.shape}, l = {found.seq}: {peaks} of the peak",
        gain=cycles["serial"] / cycles["as compiled"] if all(cycles.values()) else None,
        cycles=cycles,
        right=found.right,
    )
