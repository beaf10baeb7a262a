"""How models are built, and what that means to the tools."""

from ctypes import sizeof
from dataclasses import dataclass
from enum import StrEnum

from celosia.sim.verilator.probe import TEXT_BYTES, Probe

__all__ = ["USUAL", "BuildOptions", "Wave"]


class Wave(StrEnum):
    """Formats of waveforms."""

    VCD = "vcd"
    FST = "fst"


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """How a model is built.  What it computes is the same with every choice."""

    fast_signs: bool = True
    """Replace Verilator's sign extension (`fast_signs.h`)."""
    wave: Wave | None = None
    """The format of waveforms to write, with every signal's name: several times slower; None: none.
    """
    log: bool = False
    """Whether to show what each operation does when, too (`celosia.sim.reporting`)."""

    @property
    def verilate(self) -> tuple[str, ...]:
        """Further arguments of Verilator."""
        return (f"--trace-{self.wave}",) if self.wave else ()

    @property
    def compile(self) -> tuple[str, ...]:
        """Further arguments of the compiler, for the harness."""
        return (*["-DCELOSIA_LOG"] * self.log, *self.compile_runtime)

    @property
    def compile_runtime(self) -> tuple[str, ...]:
        """Further arguments of the compiler, for Verilator's runtime, which knows of no log."""
        if not self.wave:
            return ()
        sizes = {"PROBE": sizeof(Probe), "TEXT": TEXT_BYTES}
        bytes_ = [f"-DCELOSIA_{name}_BYTES={size}" for name, size in sizes.items()]
        return (
            "-DCELOSIA_TRACE",
            *bytes_,
            *["-DCELOSIA_TRACE_FST"] * (self.wave is Wave.FST),
        )

    @property
    def link(self) -> tuple[str, ...]:
        """Further arguments of the linker."""
        return ("-llz4", "-lz") if self.wave is Wave.FST else ()


USUAL = BuildOptions()
"""The options of the fastest simulation."""
