"""The commands of this package, the most used first."""

from typing import Final

from celosia.sim.c_host.command import app as c_host_app
from celosia.sim.command.assembly_commands import asm, disasm
from celosia.sim.command.checkout_commands import DOCTOR_EPILOG, docs, doctor
from celosia.sim.command.compile_command import compile_workload
from celosia.sim.command.config_report import app as config_app
from celosia.sim.command.entries import Command, Panel
from celosia.sim.command.hardware.silicon_command import area, energy, fpga, timing
from celosia.sim.command.hardware.verilog_command import verilog
from celosia.sim.command.models.build_command import build
from celosia.sim.command.models.check_command import check
from celosia.sim.command.models.generate_command import generate_text
from celosia.sim.command.plan_command import plan
from celosia.sim.command.report_commands import compare_runs, explain_run, top
from celosia.sim.command.run_command import run

__all__ = ["COMMANDS"]

COMMANDS: Final = (
    Command("run", Panel.RUN, run),
    Command("explain", Panel.RUN, explain_run),
    Command("plan", Panel.RUN, plan),
    Command("compile", Panel.RUN, compile_workload),
    Command("compare", Panel.RUN, compare_runs),
    Command("top", Panel.RUN, top),
    Command("asm", Panel.RUN, asm),
    Command("disasm", Panel.RUN, disasm),
    Command("check", Panel.MODEL, check),
    Command("build", Panel.MODEL, build),
    Command("generate", Panel.MODEL, generate_text),
    Command("config", Panel.HARDWARE, config_app),
    Command("verilog", Panel.HARDWARE, verilog),
    Command("c-host", Panel.HARDWARE, c_host_app),
    Command("area", Panel.HARDWARE, area),
    Command("timing", Panel.HARDWARE, timing),
    Command("energy", Panel.HARDWARE, energy),
    Command("fpga", Panel.HARDWARE, fpga),
    Command("doctor", Panel.VERIFY, doctor, epilog=DOCTOR_EPILOG),
    Command("docs", Panel.VERIFY, docs),
)
