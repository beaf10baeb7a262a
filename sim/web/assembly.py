"""What the assembler of the page knows of instructions: tables made from `celosia.isa`."""

from typing import Any, Final

from celosia.isa import address
from celosia.isa.encoding import FUNCT_BITS, INSTRUCTIONS, RING_ENTRY, Field, Funct, Instruction
from celosia.isa.memory import MEMORY_BASE
from celosia.sim.web.programs import MACHINES
from celosia.sim.web.recorded import MEMORY_BYTES
from celosia.sw.driver.assembly import NO_DATA, RAW_WORD
from celosia.sw.driver.program_file import DIRECTIVES

__all__ = ["assembly_tables", "example_text"]

_LOOPS: Final = (Funct.REPEAT, Funct.STRIDE, Funct.CONFIG_PRODUCTS, Funct.PRODUCTS)
"""What stands for other commands, so that numbers of commands are not those of lines."""


def assembly_tables() -> dict[str, Any]:
    """The tables as a JSON document, for `assembler.js`.  Words of 64 bits are texts."""
    return {
        "instructions": {name: _instruction(each) for name, each in INSTRUCTIONS.items()},
        "loops": [int(each) for each in _LOOPS],
        "raw": RAW_WORD,
        "functBits": FUNCT_BITS,
        "commandBytes": RING_ENTRY.size,
        "local": {
            "none": NO_DATA,
            "garbage": address.GARBAGE,
            "flags": ["accumulate", "full"],
            "bits": {
                "row": address.ROW_BITS,
                "norm": address.NORM_BITS,
                "normLow": address.NORM_LOW,
                "accumulator": address.ACCUMULATOR_BIT,
                "accumulate": address.ACCUMULATE_BIT,
                "full": address.FULL_BIT,
            },
        },
        "directives": {name: list(values) for name, values in DIRECTIVES.items()},
        "base": MEMORY_BASE,
        "memory": MEMORY_BYTES,
        "presets": [each.preset for each in MACHINES],
    }


def example_text() -> str:
    """A program to begin with: a product of 4x4 on `tiny`, of numbers that one can follow."""
    a, b, c = (MEMORY_BASE + 64 * place for place in range(3))
    count = bytes(range(1, 17)).hex()
    one = bytes(int(row == col) * 2 for row in range(4) for col in range(4)).hex()
    return f"""# C = A * B of 4x4 elements: A and B int8, C int32.
.preset tiny
.data {a:#x} {count}   # A: 1 to 16
.data {b:#x} {one}   # B: twice the identity
.check {c:#x} 64    # C: 16 elements of 4 bytes
config_ex
config_ld block_stride=4 stride=4
config_st stride=16
config_drain block_stride=4
mvin dram={a:#x} local=sp[0] local_cols=4 local_rows=4
mvin dram={b:#x} local=sp[4] local_cols=4 local_rows=4
preload b=sp[4] b_cols=4 b_rows=4 c=acc[0] c_cols=4 c_rows=4
compute_preloaded a=sp[0] a_cols=4 a_rows=4 d=none
mvout dram={c:#x} local=acc[0]+full local_cols=4 local_rows=4
fence
"""


def _instruction(instruction: Instruction) -> dict[str, Any]:
    usual = instruction.encode()
    return {
        "doc": instruction.doc,
        "funct": int(instruction.funct),
        "words": [str(usual.rs1), str(usual.rs2)],
        "fields": {field.name: _field(field) for field in instruction.operands},
    }


def _field(field: Field) -> dict[str, Any]:
    return {
        "word": int(field.register == "rs2"),
        "low": field.low,
        "bits": field.bits,
        "kind": field.kind.name,
        "preset": str(int(field.default)),
        "choices": {choice.name.lower(): int(choice) for choice in field.choices or ()},
    }
