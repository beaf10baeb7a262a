"""Cycles and bytes of a planned product, nest by nest: for very many plans, good ones and bad.

`celosia.sw.planning.cost` follows blocks, which tells good plans apart but not how bad a bad one
is; `celosia.sw.timeline` follows every operation, which takes seconds.  This is between the two: it
knows pieces, rings and banks.  Its loops are C++ (``nests.cpp``), compiled when they are first
used.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.latencies import DRAIN_LATENCY
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.cache import cached, digest
from celosia.sim.verilator.toolchain import find_compiler, run_tools
from celosia.sw.ir.graph import Graph, MatMul, View
from celosia.sw.planning.cost import START_CYCLES, product_cycles
from celosia.sw.planning.forms.plan import Plan, only_stage
from celosia.sw.planning.queues import loads_ahead
from celosia.sw.planning.traffic import Bursts

__all__ = ["Followed", "Nests"]

_SOURCE: Final = Path(__file__).with_name("nests.cpp")
_WHOLE, _REAL = ctypes.c_int64, ctypes.c_double
_Table = NDArray[np.float64]
_WHOLES, _REALS = ctypes.POINTER(_WHOLE), ctypes.POINTER(_REAL)


class Followed(ctypes.Structure):
    """What a product takes: ``Clocks`` of the C++ source."""

    _fields_ = (("cycles", _REAL), ("array_end", _REAL), ("read_bytes", _WHOLE))


class _Sizes(ctypes.Structure):
    """``Sizes`` of the C++ source, field by field."""

    _fields_ = (
        *((name, _WHOLE) for name in ("dim", "depth", "columns", "least_work")),
        *((name, _WHOLES) for name in ("rows", "tiles", "tail")),
        *((name, _WHOLE) for name in ("row_blocks", "column_blocks", "tail_parts", "outer_rows")),
        *((name, _WHOLE) for name in ("a_tiles", "a_first", "a_keep")),
        *((name, _WHOLE) for name in ("b_k_tiles", "b_n_tiles", "b_keep", "transposed")),
        *((name, _WHOLES) for name in ("a_spans", "b_spans")),
        *((name, _WHOLE) for name in ("a_span_count", "b_span_count", "bank_rows", "banks")),
        *((name, _REALS) for name in ("a_burst", "b_burst", "store_burst", "bias_burst")),
        *((name, _WHOLE) for name in ("bias_bytes", "bias_fits", "ahead", "places", "one_port")),
        *((name, _REAL) for name in ("start", "latency", "pipeline")),
    )


@dataclass(frozen=True)
class Nests:
    """The nests of a product, the only operator of `graph`, by one plan after the other."""

    op: MatMul
    graph: Graph
    config: AcceleratorConfig
    timing: MemoryTiming

    def follow(self, plan: Plan) -> Followed:
        """The cycles and the bytes of the product by a legal `plan`.

        Raises `EnvironmentProblem` where there is no C++ compiler.
        """
        found = Followed()
        values = self._values(plan)
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        pointers = {
            name: value.ctypes.data_as(_WHOLES if value.dtype == np.int64 else _REALS)
            for name, value in arrays.items()
        }
        _library().follow_nests(ctypes.byref(_Sizes(**values | pointers)), found)
        return found

    def _values(self, plan: Plan) -> dict[str, Any]:
        """The fields of `_Sizes`, with arrays in place of pointers."""
        stage, config = only_stage(plan), self.config
        wide = max(stage.tiles)
        halves = config.accumulator_rows // 2 // (max(stage.rows) * wide) if self._one_sum else 1
        spans = plan.rings[stage.a.ring].spans, plan.rings[stage.w.ring].spans
        return {
            **self._always,
            "rows": np.array(stage.rows),
            "tiles": np.array(stage.tiles),
            "tail": np.array(stage.parts or stage.tiles[-1:]),
            "row_blocks": len(stage.rows),
            "column_blocks": len(stage.tiles),
            "tail_parts": len(stage.parts) or 1,
            "outer_rows": stage.outer == "rows",
            "a_tiles": stage.a.tiles,
            "a_first": stage.a.first,
            "a_keep": stage.a.keep,
            "b_k_tiles": stage.w.k_tiles,
            "b_n_tiles": stage.w.columns,
            "b_keep": stage.w.keep,
            "a_spans": np.array(spans[0]),
            "b_spans": np.array(spans[1]),
            "a_span_count": len(spans[0]),
            "b_span_count": len(spans[1]),
            "store_burst": self._store_bursts(stage.drain.tiles),
            "bias_fits": wide * len(stage.tiles) <= config.parameter_rows,
            "places": 2 * halves,
        }

    @cached_property
    def _one_sum(self) -> bool:
        """Whether a tile of K is all of it."""
        return self.op.a.cols <= self.config.dim

    @cached_property
    def _always(self) -> dict[str, Any]:
        """The fields that are the same for every plan."""
        op, config, timing = self.op, self.config, self.timing
        return {
            "dim": config.dim,
            "depth": op.a.cols,
            "columns": op.out.cols,
            "least_work": product_cycles(op, self.graph, config),
            "transposed": op.b_transposed,
            "bank_rows": config.scratchpad_bank_rows,
            "banks": config.scratchpad_banks,
            "a_burst": self._operand_bursts(op.a),
            "b_burst": self._operand_bursts(op.b),
            "bias_burst": np.array([*self._bias_bursts()]),
            "bias_bytes": 0 if op.bias is None else ACC_BYTES * config.dim,
            "ahead": loads_ahead(config),
            "one_port": config.accumulator_banks == 1 and not self._one_sum,
            "start": START_CYCLES + timing.latency,
            "latency": timing.latency,
            "pipeline": 2 * config.dim + DRAIN_LATENCY,
        }

    @cached_property
    def _bursts(self) -> Bursts:
        """The bursts of the product."""
        return Bursts(self.op, self.graph, self.config, self.timing)

    @cached_property
    def _stores(self) -> dict[int, _Table]:
        """What `_store_bursts` has computed."""
        return {}

    def _operand_bursts(self, view: View) -> _Table:
        """Cycles of a row of an operand, by its columns as `_columns` has them."""
        return np.array([self._bursts.burst(view, each) for each in self._columns(view.cols)])

    def _store_bursts(self, together: int) -> _Table:
        """Cycles of a row of results of which so many tiles leave together, in the same way."""
        if together not in self._stores:
            columns = self._columns(self.op.out.cols)
            cycles = [self._bursts.store_cycles(1, each, together) for each in columns]
            self._stores[together] = np.array(cycles)
        return self._stores[together]

    def _bias_bursts(self) -> Iterator[float]:
        """Cycles of the bias of 0 to all tiles."""
        for tiles in range(-(-self.op.out.cols // self.config.dim) + 1):
            columns = tiles * self.config.dim
            yield 0.0 if self.op.bias is None else self._bursts.bias(columns).cycles

    def _columns(self, extent: int) -> Iterator[int]:
        """Columns of 0 to all tiles of `extent`; after each, those if the last of all is in it."""
        dim = self.config.dim
        for tiles in range(-(-extent // dim) + 1):
            yield tiles * dim
            yield max(0, tiles * dim - -extent % dim)


@cache
def _library() -> Any:
    compiler, source = find_compiler(), _SOURCE.read_text()

    def make(work: Path) -> Path:
        made = work / "nests.so"
        words = ["-std=c++17", "-O2", "-shared", "-fPIC", str(_SOURCE), "-o", str(made)]
        run_tools([[*compiler.command, *words]], work)
        return made

    library = ctypes.CDLL(str(cached(f"nests-{digest([source, compiler.identity])}.so", make)))
    library.follow_nests.argtypes = [ctypes.POINTER(_Sizes), ctypes.POINTER(Followed)]
    library.follow_nests.restype = None
    return library
