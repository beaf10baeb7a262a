"""Cycles and bytes of a planned product, nest by nest: for very many plans, good ones and bad.

`celosia.sw.planning.cost` follows blocks, which tells good plans apart but not how bad a bad one
is; `celosia.sw.timeline` follows every operation, which takes seconds.  This is between the two: it
knows pieces, rings and banks.  Its loops are C++ (``nests.cpp``), compiled when they are first
used.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.latencies import DRAIN_LATENCY, MIN_PRODUCT_CYCLES
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.cache import cached, digest
from celosia.sim.verilator.toolchain import find_compiler, run_tools
from celosia.sw.ir.graph import Graph, MatMul
from celosia.sw.planning.cost import START_CYCLES
from celosia.sw.planning.forms.plan import Plan, only_stage
from celosia.sw.planning.queues import loads_ahead
from celosia.sw.planning.traffic import Traffic

__all__ = ["Followed", "follow_nests"]

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


def follow_nests(
    op: MatMul, graph: Graph, config: AcceleratorConfig, plan: Plan, timing: MemoryTiming
) -> Followed:
    """The cycles and the bytes of a product, the only operator of `graph`, by a legal `plan`.

    Raises `EnvironmentProblem` where there is no C++ compiler.
    """
    found = Followed()
    values = _values(plan, op, graph, config, timing)
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    pointers = {
        name: value.ctypes.data_as(_WHOLES if value.dtype == np.int64 else _REALS)
        for name, value in arrays.items()
    }
    _library().follow_nests(ctypes.byref(_Sizes(**values | pointers)), found)
    return found


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


def _values(
    plan: Plan, op: MatMul, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming
) -> dict[str, Any]:
    """The fields of `_Sizes`, with arrays in place of pointers."""
    stage, dim = only_stage(plan), config.dim
    traffic = Traffic(op, graph, config, stage, timing)
    wide, bias = max(stage.tiles), op.bias is not None
    along = (stage.b.k_tiles, op.a.cols) if op.b_transposed else (stage.b.n_tiles, op.out.cols)
    most = max(stage.a.tiles, stage.a.first)
    one_sum = op.a.cols <= dim
    halves = config.accumulator_rows // 2 // (max(stage.rows) * wide) if one_sum else 1
    spans = plan.rings[stage.a.ring].spans, plan.rings[stage.b.ring].spans
    return {
        "dim": dim,
        "depth": op.a.cols,
        "columns": op.out.cols,
        "least_work": max(dim, MIN_PRODUCT_CYCLES),
        "rows": np.array(stage.rows),
        "tiles": np.array(stage.tiles),
        "tail": np.array(stage.tail or stage.tiles[-1:]),
        "row_blocks": len(stage.rows),
        "column_blocks": len(stage.tiles),
        "tail_parts": len(stage.tail) or 1,
        "outer_rows": stage.outer == "rows",
        "a_tiles": stage.a.tiles,
        "a_first": stage.a.first,
        "a_keep": stage.a.keep,
        "b_k_tiles": stage.b.k_tiles,
        "b_n_tiles": stage.b.n_tiles,
        "b_keep": stage.b.keep,
        "transposed": op.b_transposed,
        "a_spans": np.array(spans[0]),
        "b_spans": np.array(spans[1]),
        "a_span_count": len(spans[0]),
        "b_span_count": len(spans[1]),
        "bank_rows": config.scratchpad_bank_rows,
        "banks": config.scratchpad_banks,
        "a_burst": _by_tiles((most, op.a.cols), dim, lambda columns: traffic.burst(op.a, columns)),
        "b_burst": _by_tiles(along, dim, lambda columns: traffic.burst(op.b, columns)),
        "store_burst": _by_tiles(
            (wide, op.out.cols), dim, lambda columns: traffic.store_cycles(1, columns)
        ),
        "bias_burst": np.array([
            traffic.bias(tiles * dim).cycles if bias else 0.0 for tiles in range(wide + 1)
        ]),
        "bias_bytes": ACC_BYTES * dim if bias else 0,
        "bias_fits": wide * len(stage.tiles) <= config.parameter_rows,
        "ahead": loads_ahead(config),
        "places": 2 * halves,
        "one_port": config.accumulator_banks == 1 and not one_sum,
        "start": START_CYCLES + timing.latency,
        "latency": timing.latency,
        "pipeline": 2 * dim + DRAIN_LATENCY,
    }


def _by_tiles(size: tuple[int, int], dim: int, cycles: Callable[[int], float]) -> _Table:
    """`cycles` of 0 to `size`'s tiles of its extent; second, if the last of all is one of them."""
    most, extent = size
    short = -extent % dim
    return np.array([
        cycles(tiles * dim - less) if tiles else 0.0
        for tiles in range(most + 1)
        for less in (0, short)
    ])
