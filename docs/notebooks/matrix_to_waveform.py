# %% [markdown]
# # From a matrix to RTL to a waveform
#
# A product of two small matrices goes through the compiler to the RTL of the 4x4 array `tiny`, and
# comes back as values, cycles, a timeline and a waveform. Ten minutes; nothing but Celosia is
# needed. `jupytext --to ipynb matrix_to_waveform.py` makes a notebook of this file.

# %%
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from celosia.isa.encoding import pack_ring
from celosia.isa.presets import resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sim.reporting.page.timeline_picture import timeline_drawing
from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.run.workload.run import run_workload
from celosia.sim.wave.picture import wave_drawing
from celosia.sim.wave.request import WaveRequest
from celosia.sim.workloads.details import Matmul
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.assembly import disassemble
from celosia.sw.driver.runtime import matmul
from celosia.sw.models.cases import matmul_case

# %% [markdown]
# ## Values
#
# Two matrices of int8, their sums times a scale, rounded and cut to int8: what the RTL returns is
# what NumPy says.

# %%
config = resolve_config("tiny")
a = np.random.default_rng(0).integers(-128, 128, (8, 8), dtype=np.int8)
b = np.random.default_rng(1).integers(-128, 128, (8, 8), dtype=np.int8)
device = open_device("amaranth", config)
c, result = matmul(device, a, b, scale=0.0625)
device.close()
sums = a.astype(np.int32) @ b.astype(np.int32)
expected = np.clip(np.rint(sums * 0.0625), -128, 127)
assert np.array_equal(c, expected)
c

# %% [markdown]
# ## Cycles
#
# Every cycle of the run has an owner, and the counters of the hardware count them.

# %%
assert result.cycles == result.counters["cycles"]
result

# %% [markdown]
# ## The compiler
#
# The graph of a product, and the plan that the compiler decides for: which rows of the local
# memories hold what.

# %%
compiled = compile_graph(matmul_case(8, 8, 8, 0).graph, config)
compiled

# %%
print(disassemble(pack_ring(compiled.program)))

# %% [markdown]
# ## The timeline
#
# The same product as `celosia run matmul --shape 8x8x8 --preset tiny --sim amaranth` runs it, with
# a log of who owned which cycle, and with a waveform.

# %%
target = Target(simulator="amaranth", preset="tiny")
product = RunOptions(workload="matmul", details=Matmul(shape="8x8x8"), target=target)
outcome = run_workload(replace(product, watching=Watching(log=True)))
outcome

# %%
profile = outcome.report.profile
assert profile is not None
assert profile.cycles == outcome.report.total.cycles
timeline_drawing(profile)

# %% [markdown]
# ## The waveform
#
# Signals of the memory's ports, and what the controllers do in words. The file itself opens in
# GTKWave and Surfer.

# %%
wave = WaveRequest(path=Path(tempfile.mkdtemp()) / "matmul.vcd")
run_workload(replace(product, watching=Watching(wave=wave)))
ports = ("m_axi_arvalid", "m_axi_rvalid", "m_axi_wvalid")
words = ("wave.command", "wave.load", "wave.execute", "wave.array")
signals = [f"celosia_axi.{name}" for name in (*words, *ports)]
wave_drawing(wave.path, signals, range(40, 140))
