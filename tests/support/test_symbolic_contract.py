"""The contract on unknown numbers against the contract on known ones."""

import random

import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command, Funct
from celosia.isa.state.state import ArchState
from tests.support.symbolic import Failed
from tests.support.symbolic_contract import (
    Decoding,
    decoding,
    ghosts,
    kept,
    observed,
    outcomes,
    registers,
    state_of,
)
from tests.support.terms import Term, evaluate

CONFIG = AcceleratorConfig(
    dim=2,
    scratchpad_kib=1,
    scratchpad_banks=2,
    accumulator_kib=1,
    parameter_rows=8,
    normalization=True,
    statistics_rows=16,
    dataflow="both",
    convolution=True,
    bert=True,
)
MANY_PATHS = (Funct.MVOUT, Funct.COMPUTE_PRELOADED, Funct.TRANSFORM)


def some_value(rng: random.Random, bits: int) -> int:
    """Often near the limits of what is legal."""
    return rng.choice([0, 1, 2, 3, rng.randrange(10), rng.getrandbits(bits)]) % (1 << bits)


def some_word(rng: random.Random) -> int:
    """Four fields, of which two may be a local address."""
    lanes = [
        rng.choice([some_value(rng, 16), rng.choice([0, 0, 0x8000, 0xC000, 0xA000, 0xFFFF])])
        for _ in range(4)
    ]
    return sum(lane << 16 * place for place, lane in enumerate(lanes))


def by_name(results: list, part) -> set[str]:
    return {name for result in results for name in part(result) or ()}


def offer_of(result: Decoding):
    return result.offer


def after_of(result: Decoding):
    return result.after


@pytest.mark.parametrize(
    "funct",
    [pytest.param(f, marks=pytest.mark.slow) if f in MANY_PATHS else f for f in Funct],
    ids=lambda funct: funct.name,
)
def test_a_command_is_what_the_contract_says(funct):
    rng, found = random.Random(funct), outcomes(CONFIG, funct)
    results = list(found.results())
    assert not any(isinstance(result, Failed) for result in results)
    names = {part: by_name(results, part) for part in (offer_of, after_of)}
    merged: dict[object, tuple[Term, Term | None]] = {}
    for part, all_names in names.items():
        there = found.where(lambda result, part=part: part(result) is not None)
        merged[part] = there, None
        for name in all_names:
            there = found.where(lambda result, part=part, n=name: n in (part(result) or {}))
            value = found.merged(lambda result, part=part, n=name: (part(result) or {}).get(n))
            merged[part, name] = there, value
    widths, seen = registers(CONFIG) | ghosts(CONFIG), set()
    for _ in range(400):
        inputs = {name: some_value(rng, bits) for name, bits in widths.items()}
        words = {name: some_word(rng) for name in ("rs1", "rs2")}
        command = Command(funct, **words)
        wanted = decoding(CONFIG, command, state_of(CONFIG, inputs.__getitem__))
        seen.add((wanted.offer or {}).get("cause"))
        known: dict[Term, int] = {}
        for part, all_names in names.items():
            values = part(wanted)
            assert evaluate(merged[part][0], inputs | words, known) == (values is not None)
            for name in all_names:
                there, value = merged[part, name]
                expected = (values or {}).get(name)
                assert evaluate(there, inputs | words, known) == (expected is not None), name
                if expected is not None:
                    assert value is not None
                    assert evaluate(value, inputs | words, known) == expected, name
    assert len(seen) >= min(2, len({(offer_of(result) or {}).get("cause") for result in results}))


def test_registers_say_all_of_the_state_but_the_pitch():
    names = by_name(list(kept(CONFIG).results()), lambda result: result)
    assert observed(ArchState.reset(CONFIG)).keys() <= names
    assert "pooling.size" in names
    assert "pooling.pitch" not in names
