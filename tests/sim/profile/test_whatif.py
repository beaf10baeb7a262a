"""What the cost model expects of other hardware."""

import copy
from dataclasses import asdict, replace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.profile import whatif
from celosia.sim.profile.losses import losses
from celosia.sim.profile.whatif import (
    SURE,
    TRUSTED,
    WORTH,
    Change,
    Followed,
    Hardware,
    _changes_of_products,
    asked_changes,
    expected_changes,
    model_error,
    trusted,
    what_if,
)
from celosia.sw.ir.matmul import MatMul

TINY = Hardware(PRESETS["tiny"], MemoryTiming())


@pytest.fixture
def memories_alone(monkeypatch):
    """Other memories alone are asked about: each hardware takes a search for plans."""
    asked = [each for each in whatif._CANDIDATES if each[0](TINY).startswith("memory")]
    assert len(asked) == 2
    monkeypatch.setattr(whatif, "_CANDIDATES", asked)


@pytest.fixture
def exact(document):
    """A run about which the model was right."""
    return {**document, "predicted_cycles": document["cycles"]}


def test_the_cost_model_knows_what_would_help(exact):
    changes = what_if(exact)
    assert changes
    array = [change.what.startswith("an array of") for change in changes]
    assert array == sorted(array)
    rest = [change.saved for change, larger in zip(changes, array, strict=True) if not larger]
    assert rest == sorted(rest, reverse=True)
    graph = copy.deepcopy(exact)
    graph["operators"][0]["problem"] = None
    assert what_if(graph) is None


def test_nobody_advises_on_products_beside_operators_that_are_none():
    problem = asdict(MatMul(m=16, n=16, k=32, scale=0.01))
    others = {"operators": [{"problem": problem}, {"problem": None}]}
    assert _changes_of_products(others) == []


def test_each_change_names_all_that_it_changes():
    """The bus of `tiny` carries 4 of the memory's 16 bytes: only the bus is in the way."""
    changes = {change.what: change for change in expected_changes(TINY, lambda _hardware: 100)}
    assert changes["memory and a bus of 8 bytes per cycle"].options == ("--set", "bus_bits=64")
    slow = Hardware(PRESETS["tiny"], MemoryTiming(bytes_per_cycle=2))
    changes = {change.what: change for change in expected_changes(slow, lambda _hardware: 100)}
    wide = changes["memory and a bus of 4 bytes per cycle"]
    assert wide.options == ("--mem-bytes-per-cycle", "4")
    even = Hardware(PRESETS["base"], MemoryTiming())
    changes = {change.what: change for change in expected_changes(even, lambda _hardware: 100)}
    wide = changes["memory and a bus of 32 bytes per cycle"]
    assert wide.options == ("--mem-bytes-per-cycle", "32", "--set", "bus_bits=256")
    assert changes["an array of 32x32"].options == ("--set", "dim=32")


def test_what_cannot_be_built_or_cannot_do_it_is_no_change():
    most = Hardware(PRESETS["base"].with_values({"read_requests": 128}), MemoryTiming())

    def cycles(hardware):
        if hardware.config.dim == 32:
            raise ValueError("does not fit")
        return 100

    names = [change.what for change in expected_changes(most, cycles)]
    assert not any("requests" in name or "array" in name for name in names)


@pytest.mark.usefixtures("memories_alone")
def test_a_bus_wider_than_rows_of_the_scratchpad_is_no_advice(document):
    """It was once, of the tutorial's product: 68 cycles fewer, of which none came true."""
    assert document["preset"] == "tiny"
    problem = asdict(MatMul(m=16, n=16, k=32, scale=0.01, bias=True))
    product = {**document["operators"][0], "problem": problem}
    memory = {**document["memory"], "stall_percent": 0, "latency": 40}
    changes = asked_changes({**document, "operators": [product], "memory": memory})
    (wide,) = (change for change in changes if "bytes per cycle" in change.what)
    assert wide.share < WORTH


@pytest.mark.usefixtures("memories_alone")
def test_what_is_expected_of_products_depends_on_the_memory(document):
    """A run cannot be shorter than its operands take: 32 x 64 bytes of each."""
    problem = asdict(MatMul(m=32, n=32, k=64, scale=0.01))
    products = [{**document["operators"][0], "problem": problem}] * 2
    run = {**document, "operators": products, "preset": "base", "config": asdict(PRESETS["base"])}
    memory = {**document["memory"], "stall_percent": 0, "latency": 40, "bytes_per_cycle": 16}
    slow = {**memory, "bytes_per_cycle": 1}
    far = {**memory, "latency": 4000}
    fast, slow, far = (
        {change.what: change for change in asked_changes({**run, "memory": each})}
        for each in (memory, slow, far)
    )
    before = [next(iter(each.values())).before for each in (fast, slow, far)]
    assert before[0] < before[1]
    assert before[1] >= 2 * 2 * 32 * 64
    assert before[2] >= 2 * 2 * 4000
    assert slow["memory and a bus of 2 bytes per cycle"].saved >= 2 * 32 * 64
    assert far["memory of half the latency, 2000"].saved >= 2 * 2 * 2000


def test_nothing_saves_more_than_was_lost_for_its_cause(exact):
    """The cost model's error may be larger than what is left to save."""
    counters = exact["counters"]
    lost = sum(loss.cycles for loss in losses(exact))
    queues = counters["wait_issue"] + counters["wait_command"]
    assert 0 < queues < lost
    for what, most in (("a wonder", lost), ("queues of gold", queues)):
        stored = {"what": what, "saved": 10 * lost, "before": 100}
        (change,) = what_if({**exact, "changes": [stored]}) or [None]
        assert change
        assert change.saved == most
        assert f"at most {most}" in str(change)


@pytest.mark.parametrize(("saved", "kept"), [(29, 0), (30, 1), (-100, 0)])
def test_what_saves_little_is_no_advice(exact, saved, kept):
    stored = {"what": "a wonder", "saved": saved, "before": 1000}
    assert len(what_if({**exact, "changes": [stored]}) or ()) == kept


def test_what_may_be_the_models_error_is_no_advice(document):
    """Unless it was measured: then no model was asked, and nothing bounds it."""
    cycles = document["cycles"]
    wrong = int(TRUSTED * cycles)
    near = {**document, "predicted_cycles": cycles - wrong}
    assert model_error(near) == wrong > 10
    far = {**document, "predicted_cycles": 2 * cycles}
    assert not trusted(far)
    less, more = (
        {"what": "a wonder", "saved": saved, "before": 1000}
        for saved in (SURE * wrong - 1, SURE * wrong)
    )
    measured = {**less, "saved": 100_000, "measured": True}
    little = {**less, "saved": 1, "measured": True}
    for run, asked, kept in (
        (near, [less], None),
        (near, [more], [more]),
        (near, [less, more], [more]),
        (near, [little], []),
        (near, [measured, less], [measured]),
        (far, [more], None),
        (far, [little], None),
        (far, [more, measured], [measured]),
    ):
        told = what_if({**run, "changes": asked})
        found = None if told is None else [(change.what, change.saved) for change in told]
        assert found == (None if kept is None else [(each["what"], each["saved"]) for each in kept])


def test_a_change_says_what_to_add():
    change = Change("more", 10, 200, options=("--set", "dim=8"))
    assert str(change) == "more: 10 cycles fewer (5.0%); add --set dim=8"
    known = replace(change, measured=True)
    assert str(known) == "more: 10 cycles fewer (5.0%), measured; add --set dim=8"


@pytest.mark.parametrize(("bytes_per_cycle", "rate"), [(2, 2), (4, 4), (64, 4)])
def test_what_passes_is_what_memory_and_bus_both_carry(bytes_per_cycle, rate):
    """The bus of `tiny` carries four bytes."""
    assert Hardware(PRESETS["tiny"], MemoryTiming(bytes_per_cycle=bytes_per_cycle)).rate == rate


def test_other_hardware_is_twice_of_one_thing():
    """Half a latency is rounded down, and is one at least; a bus is as wide as what is twice."""
    hardware = Hardware(PRESETS["tiny"], MemoryTiming(latency=41, bytes_per_cycle=2))
    asked = []

    def cycles(other):
        asked.append(other)
        return 1000 - 10 * len(asked)

    changes = list(expected_changes(hardware, cycles, before=1000))
    assert [change.saved for change in changes] == [10 * n for n in range(1, len(asked) + 1)]
    told = dict(zip((change.what for change in changes), asked, strict=True))
    kib = PRESETS["tiny"].scratchpad_kib
    assert told[f"{2 * kib} KiB of scratchpad"].config.scratchpad_kib == 2 * kib
    assert told["memory of half the latency, 20"].timing.latency == 20
    wider = told["memory and a bus of 4 bytes per cycle"]
    assert (wider.timing.bytes_per_cycle, wider.config.bus_bits) == (4, 32)
    requests = told[f"twice the requests in flight, {2 * PRESETS['tiny'].read_requests}"].config
    assert requests.write_requests == 2 * PRESETS["tiny"].write_requests
    queues = told["queues of twice the depth"].config
    for name in ("load_queue", "execute_queue", "store_queue", "transform_queue"):
        assert getattr(queues, name) == 2 * getattr(PRESETS["tiny"], name)
    (last,) = (each for each in expected_changes(
        replace(hardware, timing=MemoryTiming(latency=1)), lambda _: 5, before=9
    ) if "latency" in each.what)  # fmt: skip
    assert last.what == "memory of half the latency, 1"


def run(changes, **counters):
    """A run of 10,000 cycles that the model expected; `counters` own some of them."""
    part = {"workload": "a", "counters": {"cycles": 10_000, "array_rows": 1, **counters}}
    return {"operators": [part], "cycles": 10_000, "predicted_cycles": 10_000, "changes": changes}


LOST = {
    "wait_load_latency": 1000,
    "wait_load_requests": 700,
    "wait_token": 500,
    "wait_queue_store": 300,
    "drain": 200,
    "wait_issue": 110,
    "wait_command": 90,
    "wait_load_bandwidth": 3000,
    "array_weights": 2000,
}


@pytest.mark.parametrize(
    ("what", "most"),
    [
        ("memory of half the latency, 20", 1000 + 700 + 500 + 300 + 200),
        ("twice the requests in flight, 64", 1000 + 700 + 300 + 200),
        ("queues of twice the depth", 300 + 110 + 90),
        ("512 KiB of scratchpad", sum(LOST.values())),
    ],
)
def test_a_change_saves_at_most_what_was_lost_for_its_causes(what, most):
    (change,) = what_if(run([{"what": what, "saved": 9000, "before": 10_000}], **LOST)) or [None]
    assert change is not None
    assert (change.saved, change.at_most) == (most, True)
    (exact,) = what_if(run([{"what": what, "saved": most, "before": 10_000}], **LOST)) or [None]
    assert exact is not None
    assert (exact.saved, exact.at_most) == (most, False)


def test_all_that_is_asked_of_tiny():
    """In these words, and with these options: one line of the table is one question."""
    found = {each.what: each.options for each in expected_changes(TINY, lambda _hardware: 100)}
    queues = {"load_queue": 32, "execute_queue": 32, "store_queue": 16, "transform_queue": 16}
    assert found == {
        "32 KiB of scratchpad": ("--set", "scratchpad_kib=32"),
        "16 KiB of accumulator": ("--set", "accumulator_kib=16"),
        "memory of half the latency, 20": ("--mem-latency", "20"),
        "memory and a bus of 8 bytes per cycle": ("--set", "bus_bits=64"),
        "twice the requests in flight, 64": (
            *("--set", "read_requests=64"),
            *("--set", "write_requests=64"),
        ),
        "queues of twice the depth": tuple(
            word for name, depth in queues.items() for word in ("--set", f"{name}={depth}")
        ),
        "an array of 8x8": ("--set", "dim=8"),
    }


def test_the_shortest_latency_is_one():
    fast = Hardware(PRESETS["tiny"], MemoryTiming(latency=1))
    options = {each.what: each.options for each in expected_changes(fast, lambda _hardware: 100)}
    assert options["memory of half the latency, 1"] == ()
    odd = Hardware(PRESETS["tiny"], MemoryTiming(latency=5))
    names = [each.what for each in expected_changes(odd, lambda _hardware: 100)]
    assert "memory of half the latency, 2" in names


def test_when_advice_may_be_given():
    """Three times the model's error, and 3 % of a run that it knew to 5 %."""
    assert (WORTH, TRUSTED, SURE) == (0.03, 0.05, 3)
    assert trusted({"cycles": 100, "predicted_cycles": 105})
    assert not trusted({"cycles": 100, "predicted_cycles": 106})
    assert not trusted({"cycles": 100, "predicted_cycles": 94})
    assert model_error({"cycles": None, "predicted_cycles": 5}) == 0


def test_a_change_in_words():
    change = Change("a wonder", 1234, 10_000, at_most=True, options=("--set", "dim=8"))
    assert str(change) == "a wonder: at most 1,234 cycles fewer (12.3%); add --set dim=8"
    assert str(Change("gold", 5, 10, measured=True)) == "gold: 5 cycles fewer (50.0%), measured"
    assert str(Followed(8, 0.04, 0.13)) == (
        "On 8 runs whose first advice was expected, not measured, and was followed on RTL (celosia "
        "bench advice), the cycles saved were 4% from this figure on average, 13% at worst."
    )
