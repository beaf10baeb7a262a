"""The commands of this package, the most used first."""

from typing import Final

from celosia.sim.command.entries import Command, Panel

__all__ = ["COMMANDS"]

COMMANDS: Final = (
    Command("run", Panel.RUN, "celosia.sim.command.run_command:run"),
    Command("explain", Panel.RUN, "celosia.sim.command.report_commands:explain_run"),
    Command("plan", Panel.RUN, "celosia.sim.command.plan_command:plan"),
    Command("compile", Panel.RUN, "celosia.sim.command.compile_command:compile_workload"),
    Command("compare", Panel.RUN, "celosia.sim.command.report_commands:compare_runs"),
    Command("top", Panel.RUN, "celosia.sim.command.report_commands:top"),
    Command("page", Panel.RUN, "celosia.sim.command.page_command:page"),
    Command("asm", Panel.RUN, "celosia.sim.command.assembly_commands:asm"),
    Command("disasm", Panel.RUN, "celosia.sim.command.assembly_commands:disasm"),
    Command("check", Panel.MODEL, "celosia.sim.command.models.check_command:check"),
    Command("build", Panel.MODEL, "celosia.sim.command.models.build_command:build"),
    Command("generate", Panel.MODEL, "celosia.sim.command.models.generate_command:generate_text"),
    Command("config", Panel.HARDWARE, "celosia.sim.command.config_report:app"),
    Command("verilog", Panel.HARDWARE, "celosia.sim.command.hardware.verilog_command:verilog"),
    Command("c-host", Panel.HARDWARE, "celosia.sim.c_host.command:app"),
    Command("area", Panel.HARDWARE, "celosia.sim.command.hardware.silicon_command:area"),
    Command("timing", Panel.HARDWARE, "celosia.sim.command.hardware.timing_command:timing"),
    Command("power", Panel.HARDWARE, "celosia.sim.command.hardware.power_command:power"),
    Command("energy", Panel.HARDWARE, "celosia.sim.command.hardware.silicon_command:energy"),
    Command("fpga", Panel.HARDWARE, "celosia.sim.command.hardware.silicon_command:fpga"),
    Command("board", Panel.HARDWARE, "celosia.sim.command.hardware.board_command:app"),
    Command("doctor", Panel.VERIFY, "celosia.sim.command.checkout_commands:doctor"),
    Command("docs", Panel.VERIFY, "celosia.sim.command.checkout_commands:docs"),
)
