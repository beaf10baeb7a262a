"""Program files: `celosia run FILE.cel`, `asm` and `disasm` from outside."""

from pathlib import Path

import pytest

from celosia.isa.encoding import pack_ring
from celosia.sw.driver.program_file import parse_program
from tests.support.command_line import PROGRAM, invoke, refused, right, valid


def test_a_program_file_is_compared_with_the_model():
    Path("copy.cel").write_text(PROGRAM)
    document = valid(right("run", "copy.cel", "--sim", "functional", "--json", "-").stdout)
    assert document["workload"] == "copy.cel"
    assert document["preset"] == "tiny"
    assert (document["mismatches"], document["elements_checked"]) == (0, 16)
    assert (document["dram_read_bytes"], document["dram_write_bytes"]) == (16, 16)
    assert (document["commands"], document["mac_utilization"]) == (4, None)


def test_the_example_runs_as_it_is():
    example = Path(__file__).parents[3] / "examples" / "product.cel"
    document = valid(right("run", str(example), "--sim", "functional", "--json", "-").stdout)
    assert (document["status"], document["elements_checked"]) == ("right", 64)
    Path("p.cel").write_text("fence\n")
    refused("examples/product.cel", "run", "p.cel", "--sim", "functional")
    readme = (example.parents[1] / "README.md").read_text()
    assert "celosia run examples/product.cel" in readme


def test_the_command_line_chooses_another_configuration_for_a_program():
    Path("copy.cel").write_text(PROGRAM)
    chosen = ["--preset", "small", "--set", "scratchpad_kib=128", "--json", "-"]
    document = valid(right("run", "copy.cel", "--sim", "functional", *chosen).stdout)
    assert document["preset"] == "small"
    assert (document["config"]["dim"], document["config"]["scratchpad_kib"]) == (8, 128)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (PROGRAM + ".word 0x7f 0 0\n", "stopped"),
        (PROGRAM.replace("sp[0]", "sp[99999]"), "stopped"),
        (PROGRAM.replace("mvin", "# mvin"), "wrong"),
    ],
)
def test_json_is_written_on_exit_code_1_too(change, status):
    Path("bad.cel").write_text(change)
    result = invoke("run", "bad.cel", "--sim", "functional", "--json", "report.json")
    assert result.exit_code == 1, result.output
    document = valid(Path("report.json").read_text())
    assert document["status"] == status
    if status == "stopped":
        assert document["failure"]["cause"] in result.stdout


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("p.cel: nothing to compare: name the results with .check", "fence\n"),
        ("p.cel:1: there is no instruction 'jump'", "jump\n"),
        ("p.cel:2: there is no directive '.org'", "fence\n.org 5\n"),
        ("p.cel:1: preset: there is no preset 'huge'", ".preset huge\n"),
        ("p.cel:1: 64 bytes at 0x0 are not inside the memory", ".check 0 64\n"),
        ("p.cel:1: mvin.local_rows: 'many' is not a whole number", "mvin local_rows=many\n"),
    ],
)
def test_a_malformed_program_is_refused(message, text):
    Path("p.cel").write_text(text)
    refused(message, "run", "p.cel", "--sim", "functional")


def test_options_of_workloads_are_not_for_programs():
    Path("p.cel").write_text(PROGRAM)
    refused("--shape is no option of p.cel", "run", "p.cel", "--shape", "4x4x4")


def test_a_program_that_is_not_text_or_not_there_is_refused():
    Path("p.cel").write_bytes(b"\xff\xfe\x00")
    refused("p.cel: not a text file", "run", "p.cel")
    refused("q.cel: No such file", "run", "q.cel")


def test_assembly_becomes_a_ring_image_and_back():
    Path("p.cel").write_text(PROGRAM)
    right("asm", "p.cel", "-o", "ring.bin")
    assert Path("ring.bin").read_bytes() == pack_ring(parse_program(PROGRAM).commands)
    right("disasm", "ring.bin", "-o", "p.s")
    assert Path("p.s").read_text() in PROGRAM
    right("asm", "p.s", "-o", "again.bin")
    assert Path("again.bin").read_bytes() == Path("ring.bin").read_bytes()


ENDLESS = """
.preset tiny
.check 0x80003000 16
config_ld stride=4
config_st stride=4
repeat count=65535 length=3
repeat count=65535 length=2
mvin dram=0x80001000 local=sp[0] local_cols=4 local_rows=4
mvout dram=0x80003000 local=sp[0] local_cols=4 local_rows=4
"""
"""Eight billion commands."""


def test_a_budget_bounds_the_functional_model():
    Path("p.cel").write_text(ENDLESS)
    words = ("run", "p.cel", "--sim", "functional", "--cycle-budget", "301", "--json", "-")
    result = invoke(*words)
    assert result.exit_code == 1, result.output
    document = valid(result.stdout)
    failure = document["failure"]
    assert (failure["cause"], failure["command"]) == ("CYCLE_BUDGET", 301)
    assert "command 301: mvout dram=0x80003000" in failure["message"]
    assert document["dram_write_bytes"] == 149 * 16
    assert document["mismatches"] == 0


def test_what_a_stopped_device_is_compared_with_is_bounded_too():
    Path("p.cel").write_text(ENDLESS)
    words = ("run", "p.cel", "--sim", "amaranth", "--cycle-budget", "400", "--json", "R.json")
    words += ("--set", "normalization=false")
    result = invoke(*words, "--profile")
    assert result.exit_code == 1, result.output
    document = valid(Path("R.json").read_text())
    assert document["failure"]["cause"] == "CYCLE_BUDGET"
    assert right("explain", "R.json").stdout
    assert right("asm", "--annotate", "R.json").stdout


def test_a_budget_that_is_enough_changes_nothing():
    Path("p.cel").write_text(PROGRAM)
    right("run", "p.cel", "--sim", "functional", "--cycle-budget", "4")
    assert invoke("run", "p.cel", "--sim", "functional", "--cycle-budget", "3").exit_code == 1


@pytest.mark.parametrize("simulator", ["functional", "amaranth"])
def test_a_body_that_passes_the_end_is_refused(simulator):
    Path("p.cel").write_text(PROGRAM + "repeat count=2 length=3\nfence\n")
    refused(
        "p.cel: command 4: repeat count=2 length=3: the program ends 2 commands before its body",
        *("run", "p.cel", "--sim", simulator),
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.onnx", "model.onnx: No such file or directory"),
        ("conv", "A convolution is the matmul of its patches (im2col) and its filters"),
        ("matmull", "*.onnx, *.plan, *.py); did you mean matmul?"),
    ],
)
def test_a_workload_that_there_is_not_is_answered_with_what_there_is(name, message):
    refused(message, "run", name)


def test_assembly_through_pipes():
    image = right("asm", "-", text=PROGRAM).stdout_bytes
    assert image == pack_ring(parse_program(PROGRAM).commands)
    assert right("disasm", text=image).stdout.splitlines() == PROGRAM.splitlines()[4:]


def test_what_cannot_be_assembled_is_refused():
    Path("p.s").write_text("fence\nmvin dram=4 colour=2\n")
    refused("p.s:2: mvin: there is no field 'colour'", "asm", "p.s", "-o", "ring.bin")
    refused("standard input:1: there is no instruction 'x'", "asm", "-", text="x\n")
    refused("missing.s: No such file", "asm", "missing.s")
    Path("ok.s").write_text("fence\n")
    refused("there is no directory", "asm", "ok.s", "-o", "missing/ring.bin")


def test_what_is_no_ring_image_is_refused():
    Path("torn.bin").write_bytes(bytes(30))
    refused("torn.bin: 30 bytes are not a whole number of 24-byte", "disasm", "torn.bin")
    Path("bad.bin").write_bytes(b"\xff" * 24)
    refused("bad.bin: entry 0", "disasm", "bad.bin")
    refused("celosia: missing.bin: No such file", "disasm", "missing.bin")
