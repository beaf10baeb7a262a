"""The performance tables: their names, their bounds, and what each asks to be run."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.lab.bench.cases import DECODERS, ENCODERS, PRODUCTS
from celosia.sim.workloads.details import given


def test_the_table_of_products_is_complete():
    assert [(case.name.removeprefix("matmul "), case.bound, case.gemmini) for case in PRODUCTS] == [
        ("64x64x64", 0.70, 0.489),
        ("128x128x128", 0.95, 0.863),
        ("512x768x768", 0.997, 0.994),
        ("128x128x64 B^T", 0.88, 0.666),
        ("128x64x128", 0.88, 0.623),
        ("512x512x64 B^T", 0.98, 0.781),
        ("512x64x512", 0.98, 0.903),
        ("128x768x768", 0.99, 0.980),
        ("128x3072x768", 0.99, None),
        ("128x768x3072", 0.99, None),
        ("512x768x768 latency 100", 0.99, 0.894),
        ("1x768x768", 0.90, 0.63),
    ]


def test_the_table_of_encoders_is_complete():
    assert [(case.name, case.bound) for case in ENCODERS] == [
        ("attention 12 heads of 64 l=512", 0.985),
        ("encoder-layer minilm l=128", 0.985),
        ("encoder-layer bert-base l=128", 0.993),
        ("encoder-layer bert-base l=512", 0.996),
        ("encoder bert-base 4 layers l=128", 0.993),
        ("encoder-layer minilm l=128 rebalanced", 0.975),
        ("encoder-layer bert-base l=128 rebalanced", 0.98),
        ("encoder-layer bert-base l=512 rebalanced", 0.98),
        ("encoder-layer minilm l=128 latency 100", 0.975),
        ("encoder-layer bert-base l=128 latency 100", 0.98),
        ("encoder-layer bert-base l=128 8 B/cycle", 0.95),
        ("attention 1 head of 64 l=2048", 0.98),
        ("attention 1 head of 64 l=2048 causal", 0.98),
        ("attention 12 heads of 64 l=2048", 0.98),
        ("attention 12 heads of 64 l=2048 causal", 0.98),
        ("attention 1 head of 64 l=2048 16 lanes", 0.98),
        ("attention 1 head of 64 l=2048 causal 16 lanes", 0.98),
        ("attention 12 heads of 64 l=2048 16 lanes", 0.98),
        ("attention 12 heads of 64 l=2048 causal 16 lanes", 0.98),
        ("attention 1 head of 64 l=4096 causal window=512", 0.95),
    ]


def test_the_table_of_decoders_is_complete():
    assert [(case.name, case.of, case.bound) for case in DECODERS] == [
        ("decoder gpt2-small context=128 rows=1", "memory", 0.95),
        ("decoder gpt2-small context=1024 rows=1", "memory", 0.95),
        ("decoder gpt2-small context=128 rows=1 latency 100", "memory", 0.94),
        ("decoder gpt2-small context=1024 rows=1 latency 100", "memory", 0.94),
        ("decoder gpt2-small context=128 rows=1 8 B/cycle", "memory", 0.96),
        ("decoder gpt2-small context=1024 rows=1 8 B/cycle", "memory", 0.96),
        ("decoder opt-125m context=128 rows=1", "memory", 0.95),
        ("decoder tinyllama context=128 rows=1 4 layers", "memory", 0.93),
        ("decoder gpt2-small context=128 rows=4", "memory", 0.97),
        ("decoder gpt2-small context=128 rows=8", "memory", 0.96),
        ("decoder gpt2-small context=17-362 of 16 texts rows=1", "memory", 0.96),
        ("decoder-layer gpt2-small context=0 rows=512", "array", 0.99),
    ]


@pytest.mark.parametrize("case", [*PRODUCTS, *ENCODERS, *DECODERS], ids=lambda case: case.name)
def test_what_is_measured_is_what_its_name_says(case):
    options = case.options("ring")
    target, details, name = options.target, given(options.details), case.name
    assert options.workload == name.split()[0]
    assert (target.simulator, target.issue) == ("verilator", "ring")
    assert target.preset == ("rebalanced" if "rebalanced" in name else "base")
    assert target.overrides == (("vector_lanes=16",) if "16 lanes" in name else ())
    assert target.timing == MemoryTiming(
        latency=100 if "latency 100" in name else 40,
        bytes_per_cycle=8 if "8 B" in name else 16,
        stall_percent=0,
    )
    assert details.get("causal", False) == ("causal" in name)
    assert details.get("transpose_b", False) == ("B^T" in name)
    assert details.get("layers") == (4 if "4 layers" in name else None)
    contexts = details.get("context", "0").split(",")
    assert len(set(contexts)) == (16 if "16 texts" in name else 1)
