"""The performance tables: what must be reached on RTL.

Gemmini's figures were measured on its generated RTL with the same memory; its layers leave residual
additions out.
"""

from typing import Final

from celosia.isa.memory import MemoryTiming
from celosia.lab.bench.line import BenchCase
from celosia.sim.workloads.details import (
    Attention,
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    Matmul,
    ProductForm,
)

__all__ = ["DECODERS", "ENCODERS", "PEERS", "PRODUCTS"]

PEERS: Final = "85 % of the limit on an FPGA (Li et al., arXiv 2502.10659)"
"""What others have published of a decoder's share of its limit."""

_SLOW: Final = MemoryTiming(latency=100)
_NARROW: Final = MemoryTiming(bytes_per_cycle=8)
_USUAL: Final = MemoryTiming()


def _product(
    shape: str,
    bound: float,
    gemmini: float | None = None,
    *,
    transpose_b: bool = False,
    timing: MemoryTiming = _USUAL,
) -> BenchCase:
    details = Matmul(shape=shape, form=ProductForm(transpose_b=transpose_b))
    return BenchCase(
        workload="matmul", details=details, bound=bound, gemmini=gemmini, timing=timing
    )


PRODUCTS: Final = (
    _product("64x64x64", 0.70, 0.489),
    _product("128x128x128", 0.95, 0.863),
    _product("512x768x768", 0.997, 0.994),
    _product("128x128x64", 0.88, 0.666, transpose_b=True),
    _product("128x64x128", 0.88, 0.623),
    _product("512x512x64", 0.98, 0.781, transpose_b=True),
    _product("512x64x512", 0.98, 0.903),
    _product("128x768x768", 0.99, 0.980),
    _product("128x3072x768", 0.99),
    _product("128x768x3072", 0.99),
    _product("512x768x768", 0.99, 0.894, timing=_SLOW),
    BenchCase(
        workload="matmul",
        details=Matmul(shape="1x768x768"),
        bound=0.90,
        of="memory",
        gemmini=0.63,
        least_cycles=36_864,
    ),
)
"""Matrix products."""


def _layer(
    model: str,
    seq: int,
    bound: float,
    gemmini: float | None = None,
    *,
    preset: str = "base",
    timing: MemoryTiming = _USUAL,
) -> BenchCase:
    return BenchCase(
        workload="encoder-layer",
        details=EncoderLayer(model=model, seq=seq),
        bound=bound,
        gemmini=gemmini,
        preset=preset,
        timing=timing,
    )


ENCODERS: Final = (
    BenchCase(workload="attention", details=Attention(heads=12, seq=512, dim=64), bound=0.985),
    _layer("minilm", 128, 0.985, 0.825),
    _layer("bert-base", 128, 0.993, 0.869),
    _layer("bert-base", 512, 0.996, 0.894),
    BenchCase(
        workload="encoder", details=Encoder(model="bert-base", layers=4, seq=128), bound=0.993
    ),
    _layer("minilm", 128, 0.975, preset="rebalanced"),
    _layer("bert-base", 128, 0.98, preset="rebalanced"),
    _layer("bert-base", 512, 0.98, preset="rebalanced"),
    _layer("minilm", 128, 0.975, timing=_SLOW),
    _layer("bert-base", 128, 0.98, timing=_SLOW),
    _layer("bert-base", 128, 0.95, timing=_NARROW),
    *(
        BenchCase(
            workload="attention",
            details=Attention(heads=heads, seq=2048, dim=64, causal=causal),
            lanes=lanes,
            bound=0.98,
        )
        for lanes in (None, 16)
        for heads in (1, 12)
        for causal in (False, True)
    ),
    BenchCase(
        workload="attention",
        details=Attention(heads=1, seq=4096, dim=64, causal=True, window=512),
        bound=0.95,
    ),
)
"""Attention, layers and encoders, with everything between their products.

Scores of rows of 2,048 keys wait in memory.
"""


def _step(
    model: str,
    context: str,
    bound: float,
    *,
    rows: int = 1,
    layers: int | None = None,
    timing: MemoryTiming = _USUAL,
) -> BenchCase:
    return BenchCase(
        workload="decoder",
        details=Decoder(model=model, context=context, rows=rows, layers=layers),
        bound=bound,
        of="memory",
        timing=timing,
    )


_SIXTEEN: Final = ",".join(map(str, range(17, 385, 23)))
"""The contexts of 16 texts."""

DECODERS: Final = (
    _step("gpt2-small", "128", 0.95),
    _step("gpt2-small", "1024", 0.95),
    _step("gpt2-small", "128", 0.94, timing=_SLOW),
    _step("gpt2-small", "1024", 0.94, timing=_SLOW),
    _step("gpt2-small", "128", 0.96, timing=_NARROW),
    _step("gpt2-small", "1024", 0.96, timing=_NARROW),
    _step("opt-125m", "128", 0.95),
    _step("tinyllama", "128", 0.93, layers=4),
    _step("gpt2-small", "128", 0.97, rows=4),
    _step("gpt2-small", "128", 0.96, rows=8),
    _step("gpt2-small", _SIXTEEN, 0.96),
    BenchCase(
        workload="decoder-layer",
        details=DecoderLayer(model="gpt2-small", context="0", rows=512),
        bound=0.99,
    ),
)
"""Steps of decoders behind so many tokens, and a prefill: products of tiles that somebody sees."""
