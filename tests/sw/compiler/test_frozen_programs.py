"""Programs are those that were committed: commands, cycles that they are expected to take, plans.

A change of planning, scheduling, loops or the cost model that is meant to change programs changes
``frozen_programs.json``, too, and its author sees which, by how much; the benches say whether RTL
agrees (``benchmarks/baseline.jsonl``).  Anything else that changes a program was not meant.

python -m tests.sw.compiler.test_frozen_programs    prints what frozen_programs.json has
"""

import json
from collections.abc import Callable
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sw.compiler.reuse import Reuse
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.decoding.texts import Text
from celosia.sw.ir.graph import Graph, Mask
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import (
    activation_case,
    attention_case,
    encoder_case,
    layernorm_case,
    multiply_case,
    random_quantized_encoder,
    residual_case,
    rmsnorm_case,
    rotate_case,
    softmax_case,
)
from celosia.sw.models.decoder_shape import Form
from celosia.sw.planning.forms.text import print_plan
from celosia.sw.planning.problems import graph_of
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder
from celosia.sw.reference.encoder import EncoderShape
from tests.sw.branches.test_costs import products
from tests.sw.models.decoder_runs import model

FROZEN = json.loads(Path(__file__).with_name("frozen_programs.json").read_text())
BASELINE = Path(__file__).parents[3] / "benchmarks" / "baseline.jsonl"
SHAPE = EncoderShape(layers=1, width=64, heads=2, hidden=128)
WINDOW = Mask(causal=True, window=40)


def product(m: int, n: int, k: int, *, scale: float | None = 0.01, **form: bool) -> Graph:
    return graph_of("matmul", MatMul(m=m, n=n, k=k, scale=scale, **form))


def encoder(*lengths: int) -> Graph:
    return encoder_case(quantized_encoder(), lengths, 0).graph


@cache
def quantized_encoder() -> QuantizedEncoder:
    return random_quantized_encoder(SHAPE, 0)


def step(form: Form, *texts: Text) -> Graph:
    return model(form).graph(texts, 256)


CASES: dict[str, tuple[Callable[[], Graph], str, MemoryTiming]] = {
    name: (graph, preset, MemoryTiming(**memory))
    for name, (graph, preset, memory) in {
        "matmul 64x64x64": (partial(product, 64, 64, 64), "base", {}),
        "matmul 1x768x768": (partial(product, 1, 768, 768), "base", {}),
        "matmul 128x768x768": (partial(product, 128, 768, 768), "base", {}),
        "matmul 512x512x64 B^T": (partial(product, 512, 512, 64, b_transposed=True), "base", {}),
        "matmul 40x52x70 bias": (partial(product, 40, 52, 70, bias=True), "tiny", {}),
        "matmul 512x64x512 sums": (partial(product, 512, 64, 512, scale=None), "gemmini", {}),
        "matmul 200x72x96 slow": (
            partial(product, 200, 72, 96),
            "small",
            {"latency": 100, "bytes_per_cycle": 8},
        ),
        "four products": (partial(products, 4), "base", {"bytes_per_cycle": 8}),
        "attention": (lambda: attention_case(2, 128, 32, 0).graph, "base", {}),
        "attention window": (lambda: attention_case(2, 150, 32, 0, mask=WINDOW).graph, "base", {}),
        "attention long rows": (lambda: attention_case(1, 330, 64, 0).graph, "base", {}),
        "attention tiny": (lambda: attention_case(2, 30, 4, 0).graph, "tiny", {}),
        "layernorm": (lambda: layernorm_case(60, 768, 0).graph, "base", {}),
        "rmsnorm": (lambda: rmsnorm_case(33, 96, 0).graph, "tiny", {}),
        "residual": (lambda: residual_case(65, 100, 0).graph, "base", {}),
        "gelu": (lambda: activation_case("gelu", 60, 90, 0).graph, "base", {}),
        "softmax": (lambda: softmax_case(40, 300, 0).graph, "base", {}),
        "multiply": (lambda: multiply_case(40, 100, 0).graph, "base", {}),
        "rotate": (lambda: rotate_case(200, 256, 0).graph, "base", {}),
        "encoder": (partial(encoder, 33, 20), "base", {}),
        "prefill": (partial(step, "gpt2", Text(0, 40)), "base", {}),
        "step": (partial(step, "opt", Text(90, 1), Text(17, 1)), "base", {}),
    }.items()
}


def compiled(name: str) -> dict[str, object]:
    """What becomes of a case, of all that does not depend on its random scales."""
    graph, preset, timing = CASES[name]
    found = compile_graph(graph(), resolve_config(preset), Reuse(), timing=timing)
    return {
        "entries": len(found.program),
        "commands": sum(map(len, found.commands)),
        "cycles": found.expected(timing).cycles,
        "bytes": found.end,
        "plan": blake2b(print_plan(found.plan).encode(), digest_size=8).hexdigest(),
    }


@pytest.mark.parametrize("name", CASES)
def test_a_program_is_the_one_that_was_committed(name):
    assert compiled(name) == FROZEN[name]


def test_what_is_expected_is_what_the_rtl_takes():
    """The cycles of programs that a bench runs, too, are those of its RTL to one in a hundred."""
    lines = map(json.loads, BASELINE.read_text().splitlines())
    measured = {line["name"]: line["cycles"] for line in lines}
    shared = measured.keys() & FROZEN.keys()
    assert len(shared) == 4
    for name in shared:
        assert FROZEN[name]["cycles"] == pytest.approx(measured[name], rel=0.01), name


if __name__ == "__main__":
    lines = [f"  {json.dumps(name)}: {json.dumps(compiled(name))}" for name in CASES]
    print("{\n" + ",\n".join(lines) + "\n}")
