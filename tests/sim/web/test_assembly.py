"""The assembler of the page, under Node: it makes what Python makes, and says what Python says."""

import json
import random
import subprocess
from pathlib import Path

import pytest

from celosia.isa.encoding import INSTRUCTIONS, Command, Kind, pack_ring
from celosia.isa.memory import MEMORY_BASE
from celosia.sim.web import page
from celosia.sim.web.assembly import assembly_tables
from celosia.sw.driver.assembly import format_command, parse_command
from celosia.sw.driver.program_file import ProgramError, parse_program
from tests.support.wasm_node import NODE, needs_node

pytestmark = needs_node

ASSEMBLER = Path(page.__file__).parent / "assets/assembler.js"
SCRIPT = """
const job = JSON.parse(require("fs").readFileSync(0, "utf8"));
const { assemble } = assemblerOf(job.tables);
console.log(JSON.stringify(job.texts.map((text) => {
  const { memory, commands, ...rest } = assemble(text);
  const hex = (bytes) => Buffer.from(bytes).toString("hex");
  return { ...rest, memory: hex(memory), commands: hex(commands) };
})));
"""
PROGRAM = f"""
# A comment.
.preset tiny
.memory 65536
.data {MEMORY_BASE + 64:#x} 00ff12   # three bytes
.zeros {MEMORY_BASE + 65:#x} 1
.check {MEMORY_BASE + 128:#x} 64
config_ld stride=4
repeat count=8 length=1
    mvin dram={MEMORY_BASE:#x} local=acc[3]+accumulate local_cols=4 local_rows=2

fence
"""
WRONG = [
    "mvim dram=1",
    "mvin dram",
    "mvin dram=1 colour=3",
    "mvin dram=1 dram=2",
    "mvin dram=one",
    "mvin dram=0x1_0000_0000_0000_0000",
    "mvin dram=-1",
    "mvin dram=1 local=sp",
    "mvin dram=1 local=sp[1]+twice",
    "mvin dram=1 local=acc[1]+full+full",
    "mvin dram=1 local=sp[0x4000000]",
    "mvin dram=1 local=acc[1]+norm=9",
    "config_transform scale=1e39",
    "config_transform scale=one",
    "config_transform function=sine",
    ".word 1 2",
    ".word 0x80 0 0",
    ".word 1 2 -3",
    ".data 0x80000000",
    ".data 0x80000000 123",
    "fence now",
    "mvin dram=012",
]


def assembled(*texts):
    job = json.dumps({"tables": assembly_tables(), "texts": texts})
    command = [str(NODE), "-e", ASSEMBLER.read_text() + SCRIPT]
    done = subprocess.run(command, input=job, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def test_a_program_is_that_of_python():
    (found,) = assembled(PROGRAM)
    expected = parse_program(PROGRAM)
    assert found["errors"] == []
    assert found["commands"] == pack_ring(expected.commands).hex()
    assert found["preset"] == expected.preset == "tiny"
    assert found["lines"] == [8, 9, 10, 12]
    assert found["checks"] == [{"offset": 128, "size": 64}]
    memory = bytes.fromhex(found["memory"])
    assert memory == expected.memory_image()[: len(memory)]
    assert len(memory) == 192


def test_each_instruction_is_that_of_python():
    drawn, lines = random.Random(1), []
    for instruction in INSTRUCTIONS.values():
        for _ in range(12):
            values = {}
            for field in instruction.operands:
                if drawn.random() < 0.7 and field.kind is not Kind.CHOICE:
                    values[field.name] = drawn.randrange(1 << drawn.randrange(field.bits + 1))
                elif field.kind is Kind.CHOICE and field.choices:
                    values[field.name] = int(drawn.choice(list(field.choices)))
            lines.append(format_command(instruction.encode(**values)))
    lines += [
        "config_transform scale=" + text for text in ("inf", "-inf", "1e-46", "0.1", ".5", "5.")
    ]
    lines += ["mvin dram=0b101 local=none", "mvin dram=1_000 local=0x12345", ".word 0x7f 0o17 1"]
    (found,) = assembled("\n".join(lines))
    assert found["errors"] == []
    image = bytes.fromhex(found["commands"])
    for number, line in enumerate(lines):
        expected = parse_command(line) if line.split()[0] != ".word" else raw(line)
        assert image[24 * number : 24 * number + 24] == pack_ring([expected]), line


def raw(line):
    return Command(*(int(word, 0) for word in line.split()[1:]))


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_is_said_in_the_words_of_python(line):
    text = f"fence\n{line}\nfence\n"
    with pytest.raises(ProgramError) as caught:
        parse_program(text, "x")
    (found,) = assembled(text)
    (error,) = found["errors"]
    assert error["line"] == 2
    said = str(caught.value).removeprefix("x:2: ")
    # Python also guesses what was meant.
    assert said.startswith(error["message"])


def test_all_that_is_wrong_is_said_at_once():
    (found,) = assembled("mvim\nfence\nfence now\n")
    assert [error["line"] for error in found["errors"]] == [1, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no command"),
        (".preset huge\nfence", "preset: there is no 'huge' here; there are tiny, small, base"),
        (
            ".random 0x80000000 4 1\nfence",
            "there is no directive '.random' here; there are .preset",
        ),
        (".set dim=8\nfence", "there is no directive '.set' here; there are .preset, .memory"),
        (".memory 99999999\nfence", "SIZE: 99999999 is not in 1..1048576"),
        (".check 0x80000000 0\nfence", "SIZE: 0 is not in 1..1048576"),
        (".check 0x80100000 4\nfence", "4 bytes at 0x80100000 are not inside the memory"),
        (".check 0x7fffffff 4\nfence", "4 bytes at 0x7fffffff are not inside the memory"),
    ],
)
def test_what_the_page_does_not_have_is_refused(text, message):
    (found,) = assembled(text)
    assert found["errors"][0]["message"].startswith(message)
    assert found["errors"][0]["line"] == 1
