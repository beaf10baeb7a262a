"""Proof of the decoder: what it makes of every word, in every state, is what the contract says.

The contract is not written again here: `celosia.isa.operations.semantics` runs on numbers that are
not known (`tests.support.symbolic_contract`), and what comes out is compared with the decoder's
netlist.
"""

from collections.abc import Callable
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct
from tests.formal.decoding import UNKNOWN, flow, follows_contract, starts_as_contract
from tests.formal.running import proof_tests
from tests.support.prover import Harness, Planted, Proof

PLAIN: Final = AcceleratorConfig(
    dim=2,
    bus_bits=32,
    scratchpad_kib=1,
    scratchpad_banks=2,
    accumulator_kib=1,
    parameter_rows=8,
    loop_entries=0,
)
"""Nothing but weight-stationary products."""
FULL: Final = PLAIN.with_values({
    "loop_entries": 16,
    "normalization": True,
    "statistics_rows": 16,
    "dataflow": "both",
    "convolution": True,
    "bert": True,
})
"""Everything that a decoder may have."""

_CONFIGS: Final = (Funct.CONFIG, Funct.CONFIG_DRAIN, Funct.CONFIG_TOKEN, Funct.PRELOAD)
_LOADS: Final = (Funct.MVIN, Funct.MVIN2, Funct.MVIN3, Funct.MVIN_PARAM)
_PRODUCTS: Final = (Funct.COMPUTE_PRELOADED, Funct.COMPUTE_ACCUMULATED)
_OTHERS: Final = (Funct.FENCE, Funct.FLUSH, UNKNOWN)
_LOOPS: Final = (Funct.REPEAT, Funct.STRIDE, Funct.PRODUCTS, Funct.CONFIG_PRODUCTS)
_NOT_BUILT: Final = (Funct.CONFIG_TRANSFORM, Funct.TRANSFORM, *_LOOPS)
"""Of a plain decoder."""


def _proof(
    name: str, build: Callable[..., None], *arguments: Any, fault: tuple[str, str, str]
) -> Proof:
    def harness(h: Harness) -> None:
        build(h, *arguments)

    harness.__name__ = f"decoder_{name}"
    module, old, new = fault
    return Proof(harness, 2, Planted(f"celosia.hw.{module}", old, new), anywhere=True)


_DECODE: Final = "decode.commands"
_GEMMINI: Final = "gemmini.decode"
_PROOFS: Final = (
    _proof(
        "flow",
        flow,
        FULL,
        fault=("decode.decoder", "s1_moves.eq(~s2_valid | s2_moves)", "s1_moves.eq(1)"),
    ),
    _proof(
        "reset",
        starts_as_contract,
        FULL,
        fault=("decode.settings", '"c": GARBAGE}', '"c": 0}'),
    ),
    _proof(
        "plain_moves",
        follows_contract,
        PLAIN,
        (*_CONFIGS, *_LOADS, Funct.MVOUT),
        fault=(_DECODE, "op.zero.eq(fields.dram == 0)", "op.zero.eq(fields.dram[:32] == 0)"),
    ),
    _proof(
        "plain_products",
        follows_contract,
        PLAIN,
        _PRODUCTS,
        fault=(_DECODE, "streams=Mux(has_c, state.c_rows, 0)", "streams=state.c_rows"),
    ),
    _proof(
        "plain_others",
        follows_contract,
        PLAIN,
        (*_NOT_BUILT, *_OTHERS),
        fault=("decode.decoder", "m.d.sync += broken(Cause.UNKNOWN_FUNCT)", "pass"),
    ),
    _proof(
        "configures",
        follows_contract,
        FULL,
        (*_CONFIGS, Funct.CONFIG_TRANSFORM),
        fault=("gemmini.settings", "pools & (operands.pool_size == 0)", "pools & 0"),
    ),
    _proof(
        "loads",
        follows_contract,
        FULL,
        _LOADS,
        fault=(_GEMMINI, "Mux(row >= half, row - half, row)", "Mux(row > half, row - half, row)"),
    ),
    _proof(
        "stores",
        follows_contract,
        FULL,
        (Funct.MVOUT,),
        fault=(_GEMMINI, "late |= pools_full", "late |= 0"),
    ),
    _proof(
        "products",
        follows_contract,
        FULL,
        _PRODUCTS,
        fault=(_DECODE, "| (has_d & (d.cols > dim))", ""),
    ),
    _proof(
        "transforms",
        follows_contract,
        FULL,
        (Funct.TRANSFORM,),
        fault=(
            "decode.transforms",
            "Mux(normalizes, halves << 1, whole)",
            "Mux(normalizes, halves, whole)",
        ),
    ),
    _proof(
        "others",
        follows_contract,
        FULL,
        (*_OTHERS, *_LOOPS),
        fault=("decode.decoder", "m.d.sync += broken(Cause.LOOP)", "pass"),
    ),
)

test_it_is_proved, test_a_planted_fault_is_noticed, test_its_fault_has_a_place = proof_tests(
    _PROOFS
)
