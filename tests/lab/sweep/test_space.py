"""Files that describe spaces."""

import pytest

from celosia.lab.sweep.space import read_space
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.details import Softmax

SPACE = """
[space]
preset = ["tiny", "base"]
mem_latency = [40, 100]
set.dim = [4, 16]

[[workload]]
run = "matmul --shape 8x8x8"

[[workload]]
run = "softmax --shape 4x4"
sim = "verilator"
"""


@pytest.fixture
def read(tmp_path):
    def reader(text):
        path = tmp_path / "space.toml"
        path.write_text(text)
        return read_space(str(path))

    return reader


def test_a_space_is_every_choice_of_every_workload(read):
    points = read(SPACE)
    assert len(points) == 16
    assert len({point.key for point in points}) == 16
    first, last = points[0], points[-1]
    assert (first.run, first.sim) == ("matmul --shape 8x8x8", "model")
    assert first.choices == {"preset": "tiny", "mem_latency": 40, "set.dim": 4}
    assert (last.sim, last.options.target.timing.latency, last.config.dim) == ("verilator", 100, 16)
    assert last.options.details == Softmax(shape="4x4")
    assert last.options.told.command_line[:2] == ("celosia", "run")


def test_configurations_that_are_the_same_are_one_point(read):
    same = SPACE.replace('["tiny", "base"]', '["base"]').replace("[4, 16]", "[16, 16]")
    assert len(read(same)) == 4
    other = same.replace("set.dim = [16, 16]", "")
    assert [point.key for point in read(other)] == [point.key for point in read(same)]


def test_a_point_depends_on_all_that_its_result_does(read):
    """Workload, simulator, configuration, memory: a change of any one is another point."""
    base = '[space]\npreset = ["tiny"]\n[[workload]]\nrun = "matmul --shape 8x8x8"\n'
    keys = [
        read(text)[0].key
        for text in (
            base,
            base + 'sim = "verilator"\n',
            base.replace("8x8x8", "8x8x4"),
            base.replace('["tiny"]', '["base"]'),
            base.replace("[[", "mem_latency = [41]\n[["),
            base.replace("[[", "mem_bytes_per_cycle = [4]\n[["),
        )
    ]
    assert len(set(keys)) == len(keys)


def test_a_point_that_breaks_a_rule_says_which(read):
    points = read(SPACE.replace("[4, 16]", "[4, 5]"))
    refused = [point.refused for point in points if point.choices["set.dim"] == 5]
    assert refused == ["dim: 5 is not a power of two in 2..64"] * 8
    (zero, *_) = read(SPACE.replace("[40, 100]", "[0, 100]"))
    assert "--mem-latency" in zero.refused


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[space]", "[room]", "room: there are"),
        ("mem_latency", "latency", "space: latency: there are clip, context, dim, heads"),
        ("[40, 100]", "40", "space: mem_latency: 40 is no list of values"),
        ("[4, 16]", "[]", r"space: set.dim: \[\] is no list"),
        ("[4, 16]", "[4.5]", "space: set.dim: 4.5 is neither text"),
        ("[4, 16]", "[3, 5]", "no point is legal; the first: dim: 3 is not a power of two"),
        (
            '"verilator"',
            '"spice"',
            "workload 2: sim: 'spice'; there are model, amaranth, verilator",
        ),
        ("sim =", "on =", "workload 2: on: there are run and sim"),
        ("matmul --shape 8x8x8", "matmul --sharp 8", "workload 1: run: No such option: --sharp"),
        ("matmul --shape 8x8x8", "conv3d", "workload 1: run: there is no workload 'conv3d'"),
        ("softmax --shape 4x4", "a.cel", "workload 2: run: a.cel: a program is compiled"),
        ("matmul --shape 8x8x8", "matmul --a a.npy", "--a: files of operands are not taken"),
        ("softmax --shape 4x4", "softmax 'x", "workload 2: run: No closing quotation"),
        ("[40, 100]", "[40, 100", "not TOML"),
        ("[40, 100]", "[" * 3000, "not TOML: it is nested too deeply"),
        ("[[workload]]", "[[space.w]]", "there is no"),
    ],
)
def test_what_is_no_space(read, old, new, message):
    with pytest.raises(InputError, match=message):
        read(SPACE.replace(old, new))


def test_a_space_that_nobody_could_finish_is_refused(read):
    many = f"seed = {list(range(1000))}\nmem_stall_percent = {list(range(95))}"
    with pytest.raises(InputError, match="1,520,000 points, more than 1,000,000"):
        read(SPACE.replace("[space]", f"[space]\n{many}"))
