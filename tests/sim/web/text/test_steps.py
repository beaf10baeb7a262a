"""Steps by the document alone: memory, commands and logits are those of the driver."""

import base64

import pytest

from celosia.isa.encoding import Command, Funct, pack_ring
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.verilator.wasm.machine import machine
from celosia.sim.web.text import steps
from celosia.sim.web.text.blob import Blob
from celosia.sim.web.text.steps import HostWorkError, image_of, steps_document
from celosia.sw.decoding.session import DecoderSession, RecordedText
from celosia.sw.decoding.steps import session_bytes
from tests.support.decoder_sessions import share_programs
from tests.support.integer_models import quantized, tokens
from tests.support.page_scripts import evaluated
from tests.support.wasm_node import needs_node

CONTEXT = 70
PIECES = [(3,), (1, 1, 5), (60, 2, 1, 1, 1)]

ACCELERATOR = """
let next = 0;
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
globalThis.Accelerator = class {
  constructor() { this.all = new Uint8Array(given.document.image[1]); }
  bytes(at, size) { return this.all.subarray(at, at + size); }
  again(commands) {
    const { before, program, after } = given.runs[next++];
    seen.push([compare(this.all, bytes(before)), compare(commands, bytes(program))]);
    this.all.set(bytes(after));
  }
  advance() { return false; }
  result() { return { problem: "", cycles: 7 }; }
};
const seen = [];
const compare = (one, other) => Buffer.compare(one, other) === 0;
const text = new TextSteps(null, given.document, bytes(given.data), null);
let start = 0;
const take = (size) => text.append(given.tokens.slice(start, start += size));
const found = given.pieces.map(take);
const all = (name) => found.flatMap((each) => each[name]);
return { seen, logits: all("logits"), steps: all("steps") };
"""


class Spying(FunctionalDevice):
    """A device that keeps its memory before and after each run, and what ran."""

    def __init__(self):
        super().__init__(PRESETS["tiny"], memory_bytes=session_bytes(quantized(), CONTEXT))
        self.runs = []

    def run(self, program, issue="stream", marks=()):
        run = {"before": self._all(), "program": encoded(pack_ring(program))}
        result = super().run(program, issue, marks)
        self.runs.append({**run, "after": self._all()})
        return result

    def _all(self):
        return encoded(self.read(MEMORY_BASE, self.memory_bytes))


def encoded(data):
    return base64.b64encode(bytes(data)).decode()


def session_on(device):
    session = DecoderSession(device, quantized(), CONTEXT)
    share_programs(session.steps)
    return session


@pytest.fixture(scope="module")
def document():
    blob = Blob()
    found = steps_document(session_on(Spying()).steps, blob)
    return found, encoded(blob.data)


@needs_node
@pytest.mark.nightly
@pytest.mark.parametrize("pieces", PIECES)
def test_a_page_writes_runs_and_reads_what_the_driver_does(document, pieces):
    device, text = Spying(), tokens(sum(pieces))
    recorded, start, logits = RecordedText(session_on(device)), 0, []
    for size in pieces:
        logits += recorded.append(text[start : start + size]).tolist()
        start += size
    given = {"document": document[0], "data": document[1], "runs": device.runs}
    given |= {"pieces": pieces, "tokens": list(text)}
    found = evaluated(["text/generation.js"], ACCELERATOR, given)
    assert found["seen"] == [[True, True]] * len(recorded.steps)
    assert found["logits"] == logits
    names = ("rows", "context", "tokens", "bytes")
    assert [tuple(each[name] for name in names) for each in found["steps"]] == [
        (step.rows, step.text.context, step.text.rows, step.bytes) for step in recorded.steps
    ]


@pytest.mark.nightly
def test_the_image_is_memory_before_the_first_step_but_for_what_a_step_writes(document):
    device = Spying()
    session = session_on(device)
    image = image_of(session.steps)
    session.append([1])
    before = base64.b64decode(device.runs[0]["before"])
    program = document[0]["programs"][0]
    assert (program["rows"], program["first"]) == (1, 0)
    written = [*program["poisoned"]]
    for name, at in program["inputs"].items():
        written.append((at, document[0]["tables"][name]["bytes"]))
    rest, known = bytearray(before), bytearray(image)
    for at, size in written:
        rest[at : at + size] = known[at : at + size] = bytes(size)
    assert rest == known


def test_a_host_that_computes_more_is_refused(monkeypatch):
    session = session_on(Spying())
    monkeypatch.setattr(session.steps, "rings", ("one",))
    with pytest.raises(HostWorkError, match="the host computes more than embeddings"):
        image_of(session.steps)


def test_registers_of_another_run_are_few():
    """Counters begin anew; the rest stays."""
    found = machine(PRESETS["tiny"], MemoryTiming(), 1 << 20)
    assert found["again"] == found["before"][-1:]


def test_operands_stand_where_a_packed_command_has_them():
    """A page patches them in the bytes of the ring."""
    entry = pack_ring([Command(Funct.FENCE, 0x1122334455667788, 0x99AABBCCDDEEFF00)])
    for operand, value in (("rs1", 0x1122334455667788), ("rs2", 0x99AABBCCDDEEFF00)):
        place = steps._OPERANDS[operand]
        assert int.from_bytes(entry[place : place + 8], "little") == value
