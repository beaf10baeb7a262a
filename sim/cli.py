"""The command line.  Commands are thin: what they do is in modules of its own."""

import errno
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from celosia.isa.config import ConfigError
from celosia.isa.encoding import pack_ring
from celosia.isa.presets import PRESETS, resolve_config
from celosia.sim import config_report
from celosia.sim.bench import BENCHMARKS, Bench, run_bench
from celosia.sim.display import progress_bar, table_console
from celosia.sim.doctor import REQUIRE_VARIABLE, doctor_document, examine
from celosia.sim.errors import EnvironmentProblem
from celosia.sim.options import (
    JsonOption,
    LatencyOption,
    OutTypeOption,
    PresetOption,
    RateOption,
    SeedOption,
    SetOption,
    SimOption,
    Simulator,
    StallOption,
)
from celosia.sim.output import STANDARD_OUTPUT, check_destination, write_array, write_file
from celosia.sim.problems import InputError, OutputError
from celosia.sim.report import as_json, versions
from celosia.sim.run import RunOptions, run_workload
from celosia.sim.tables import doctor_table, print_bench, print_report
from celosia.sim.workloads import PROGRAM_SUFFIX, WORKLOADS, WorkloadOptions
from celosia.sw.driver.assembly import disassemble
from celosia.sw.driver.device import MemoryTiming
from celosia.sw.driver.program_file import ProgramError, load_program, parse_program

__all__ = ["app", "main"]
