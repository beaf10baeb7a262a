"""ONNX files that are pruned, from outside."""

from json import loads
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser
from onnx.external_data_helper import convert_model_to_external_data

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.lab.prune.costs import Cost, Meter
from tests.support.command_line import refused, right
from tests.support.onnx_runtime import run_session, runtime_session

ROWS, WIDTH, HIDDEN = 24, 16, 64
PRUNE = ("prune", "model.onnx", "--calibrate", "c.npz", "--dim", "n=24")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Predicts nothing, which takes seconds."""
    none = Cost(input="any", cycles=4, rtl_cycles=None, read_bytes=5, write_bytes=6)
    monkeypatch.setattr(Meter, "cost", lambda *_: none)


@pytest.fixture(autouse=True)
def file(monkeypatch, tmp_path):
    """`model.onnx`, whose hidden channels depend on each other, and samples in `c.npz`."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    text = (
        '<ir_version: 9, opset_import: ["" : 20]> g (float[n,16] x) => (float[n,16] y) '
        "<float[n,64] h> { h = MatMul(x, up) b = Add(h, bias) r = Relu(b) "
        "d = MatMul(r, down) y = Add(d, last) }"
    )
    proto = parser.parse_model(text)
    up = np.repeat(random.normal(size=(WIDTH, HIDDEN // 2)), 2, axis=1)
    down = random.normal(size=(HIDDEN, WIDTH))
    down[1::2] *= 0.05
    vectors = np.zeros(HIDDEN), random.normal(size=WIDTH)
    for name, array in zip(("up", "down", "bias", "last"), (up, down, *vectors), strict=True):
        constant = numpy_helper.from_array(array.astype(np.float32), name)
        proto.graph.initializer.append(constant)
    onnx.save(proto, "model.onnx")
    np.savez("c.npz", x=random.normal(size=(8, ROWS, WIDTH)).astype(np.float32))


def pruned(*words):
    """What is found of the narrower model, and the model as it was."""
    right(*PRUNE, *words, "--json", "found.json")
    before, less = loads(Path("found.json").read_text())["models"]
    assert before["quality"] == pytest.approx({"mean cosine": 1, "least cosine": 1}, abs=1e-6)
    return less, before


def test_twins_are_repaired_without_a_loss():
    """One of each two channels that are alike matters more: with it, nothing of both is lost."""
    far, _ = pruned("--ffn", "50%", "--no-repair")
    less, before = pruned("--ffn", "50%", "-o", "less.onnx")
    assert far["quality"]["mean cosine"] < 0.9999
    assert less["quality"]["least cosine"] > 0.999999
    assert less["weights"] * 2 == before["weights"] == 2 * WIDTH * HIDDEN
    proto = onnx.load("less.onnx")
    onnx.checker.check_model(proto, full_check=True)
    sizes = {each.name: tuple(each.dims) for each in proto.graph.initializer}
    assert sizes == {"up": (16, 32), "bias": (32,), "down": (32, 16), "last": (16,)}


def test_what_is_written_is_pruned_again():
    right(*PRUNE, "--ffn", "50%", "-o", "less.onnx")
    right("prune", "less.onnx", *PRUNE[2:], "--ffn", "50%", "-o", "least.onnx")
    assert onnx.load("least.onnx").graph.initializer[0].dims == [16, 16]


def test_data_beside_the_file_become_its_own():
    proto = onnx.load("model.onnx")
    convert_model_to_external_data(proto, location="data", size_threshold=0)
    Path("two").mkdir()
    onnx.save(proto, "two/model.onnx")
    words = ("prune", "two/model.onnx", *PRUNE[2:], "--ffn", "50%", "-o", "less.onnx")
    right(*words)
    onnx.checker.check_model(onnx.load("less.onnx"), full_check=True)


def test_tokens_that_nobody_sees_count_for_nothing():
    """What stands in hidden rows changes neither what is kept nor how good that is."""
    text = (
        '<ir_version: 9, opset_import: ["" : 20]> g (float[n,16] x, int64[n] mask) => '
        "(float[n,16] y) { t = Transpose <perm = [1, 0]> (x) s = MatMul(x, t) "
        "f = Cast <to = 1> (mask) i = Sub(f, one) b = Mul(i, most) a = Add(s, b) "
        "p = Softmax <axis = -1> (a) c = MatMul(p, x) h = MatMul(c, up) r = Relu(h) "
        "y = MatMul(r, down) }"
    )
    proto = parser.parse_model(text)
    proto.graph.initializer.extend(
        each for each in onnx.load("model.onnx").graph.initializer if each.name in {"up", "down"}
    )
    for name, number in (("one", 1.0), ("most", 1e9)):
        constant = numpy_helper.from_array(np.array(number, np.float32), name)
        proto.graph.initializer.append(constant)
    onnx.save(proto, "model.onnx")
    x = np.load("c.npz")["x"]
    mask = np.ones((8, ROWS), np.int64)
    mask[:, 10:] = 0
    found = []
    for seed in (0, 1):
        x[:, 10:] = np.random.default_rng(seed).normal(size=x[:, 10:].shape)
        np.savez("c.npz", x=x, mask=mask)
        less, _ = pruned("--ffn", "75%", "--no-repair")
        found.append(less["quality"]["mean cosine"])
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    assert found[0] < 0.99


def test_heads_and_channels_go_together():
    """Heads are removed first, and channels are found again in what is left."""
    proto = EXPORTS["bert-17"].build(SMALL)
    onnx.save(proto, "bert.onnx")
    random = np.random.default_rng(5)
    tokens = random.integers(0, 64, (8, 1, 12))
    ones = np.ones_like(tokens)
    np.savez("b.npz", input_ids=tokens, attention_mask=ones, token_type_ids=ones * 0)
    words = ("bert.onnx", "--calibrate", "b.npz", "--dim", "batch=1", "--dim", "sequence=12")
    right("prune", *words, "--heads", "1", "--ffn", "50%", "-o", "less.onnx")
    less = onnx.load("less.onnx")
    onnx.checker.check_model(less, full_check=True)
    run_session(runtime_session(less), {name: array[0] for name, array in np.load("b.npz").items()})
    sizes = sorted({tuple(each.dims) for each in less.graph.initializer if len(each.dims) == 2})
    assert (64, 48) in sizes
    assert (48, 64) in sizes
    assert not {(64, 64), (64, 128), (128, 64)} & set(sizes) - {(64, 64)}
    message = "--heads 4: of 4 heads, nothing would be left"
    refused(message, "prune", *words, "--heads", "4")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("of 0 attentions none can lose heads", "--heads 2"),
        ("--criterion first-order: an ONNX file has no loss", "--ffn 50% --criterion first-order"),
        ("--recover: model.onnx is not trained", "--ffn 50% --recover 3"),
        ("-o less.plan: the name of an ONNX file ends with .onnx", "--ffn 50% -o less.plan"),
        ("-o model.onnx: is the model itself", "--ffn 50% -o ./model.onnx"),
        ("--ffn 10%: of 64 channels in steps of 16, nothing would be removed", "--ffn 10%"),
    ],
)
def test_what_cannot_be_is_refused(message, words):
    refused(message, *PRUNE, *words.split())


def test_inputs_are_needed_and_are_of_files():
    refused("model.onnx: give --calibrate C.npz", "prune", "model.onnx", "--ffn", "50%")
    message = "--calibrate: is of ONNX files; minilm has its own inputs"
    refused(message, "prune", "minilm", "--calibrate", "c.npz", "--ffn", "50%")
    message = "none reads hidden channels, y (MatMul): x is no result of a node"
    proto = parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 20]> g (float[n,16] x) => (float[n,16] y) '
        "{ y = MatMul(x, up) }"
    )
    proto.graph.initializer.append(numpy_helper.from_array(np.eye(16, dtype=np.float32), "up"))
    onnx.save(proto, "one.onnx")
    refused(message, "prune", "one.onnx", *PRUNE[2:], "--ffn", "50%")
