"""Traces, read with Perfetto's own library."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.profile.flows import arrows, first_uses
from celosia.sim.profile.instructions import UNITS, unit_operations
from celosia.sim.profile.packing import unpack
from celosia.sim.profile.profile import Profile
from celosia.sim.reporting.page.timeline import timeline
from celosia.sim.reporting.trace import _levels, trace, trace_file
from celosia.sw.driver.assembly import parse_command

perfetto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
CONFIG = PRESETS["tiny"]
BEGIN, END = 1, 2


@pytest.fixture(scope="module")
def parsed(profile):
    read = perfetto.Trace()
    read.ParseFromString(trace(profile, CONFIG))
    return read


@pytest.fixture(scope="module")
def tracks(parsed):
    """Events by the name of their track."""
    names = {
        packet.track_descriptor.uuid: packet.track_descriptor.name
        for packet in parsed.packet
        if packet.HasField("track_descriptor")
    }
    found = {name: [] for name in names.values()}
    for packet in parsed.packet:
        if packet.HasField("track_event"):
            found[names[packet.track_event.track_uuid]].append(packet)
    return found


def test_the_first_packet_has_all_names(parsed):
    first, *others = parsed.packet
    assert first.sequence_flags == 1
    names = {entry.iid: entry.name for entry in first.interned_data.event_names}
    assert "compute_preloaded matmul" in names.values()
    for packet in others:
        assert packet.trusted_packet_sequence_id == 1
        if packet.track_event.type == BEGIN:
            assert packet.track_event.name_iid in names


def test_units_have_their_operations(profile, tracks):
    for queue, unit in unit_operations(profile).items():
        events = tracks[UNITS[queue]]
        begins = [packet for packet in events if packet.track_event.type == BEGIN]
        assert [packet.timestamp for packet in begins] == unit.begin.tolist()
        ends = [packet.timestamp for packet in events if packet.track_event.type == END]
        assert ends == unit.end.tolist()
        commands = [packet.track_event.debug_annotations[0].uint_value for packet in begins]
        assert commands == unit.command.tolist()


def test_slices_of_a_track_follow_one_another(tracks):
    for events in tracks.values():
        slices = [packet for packet in events if packet.track_event.type in (BEGIN, END)]
        assert [packet.track_event.type for packet in slices] == [BEGIN, END] * (len(slices) // 2)
        times = [packet.timestamp for packet in slices]
        assert times == sorted(times)


def test_arrows_lead_from_loads_to_what_uses_them(profile, tracks):
    sources = [flow for packet in tracks["DMA read"] for flow in packet.track_event.flow_ids]
    targets = [
        flow for packet in tracks["array"] for flow in packet.track_event.terminating_flow_ids
    ]
    assert sources
    assert set(targets) == set(sources)
    assert len(sources) == len(set(sources))
    uses = first_uses(profile.commands, CONFIG)
    read = dict(zip(profile.queues["load"].command, profile.queues["load"].done, strict=True))
    execute = profile.queues["execute"]
    began = dict(zip(execute.command, execute.began, strict=True))
    assert all(read[load] <= began[user] for load, user in uses.items())


def test_arrows_lead_into_and_out_of_loops(stuck):
    """A load in a REPEAT feeds a product behind it; what did not run has no arrow."""
    stored = Profile.from_document(stuck["profile"])
    found = arrows(stored, CONFIG, unit_operations(stored))
    assert sorted((arrow.load, arrow.user, arrow.queue) for arrow in found) == [
        (3, 9, "execute"),
        (4, 9, "execute"),
    ]
    assert all(0 < arrow.end <= arrow.begin for arrow in found)
    drawn = timeline(stored, CONFIG)["arrows"]
    assert unpack(drawn["begin"]).tolist() == [arrow.begin for arrow in found]


def test_uses_are_of_the_last_load_of_a_row():
    program = [
        parse_command(line)
        for line in (
            "config_ex",
            "config_ld stride=4",
            "mvin dram=0x80000000 local=sp[0] local_cols=4 local_rows=4",
            "mvin dram=0x80000000 local=sp[4] local_cols=4 local_rows=4",
            "mvin dram=0x80000000 local=sp[0] local_cols=4 local_rows=4",
            "preload b=sp[4] b_cols=4 b_rows=4 c=acc[0] c_cols=4 c_rows=4",
            "compute_preloaded a=sp[0] a_cols=4 a_rows=4 d=none",
        )
    ]
    assert first_uses(program, CONFIG) == {3: 6, 4: 6}


def test_counters_never_repeat_a_value(tracks):
    events = tracks["load queue: operations"]
    values = [packet.track_event.counter_value for packet in events]
    assert values[-1] == 0
    assert np.diff(values).all()


def test_of_operations_that_wait_the_most_in_a_while_is_shown(profile, tracks):
    """Exactly where it matters: no sample misses the longest queue, and the end is there."""
    queue = profile.queues["load"]
    moments = np.arange(profile.cycles + 1)[:, None]
    waiting = ((queue.entered < moments) & (moments <= queue.started)).sum(axis=1)
    values = [packet.track_event.counter_value for packet in tracks["load queue: operations"]]
    assert max(values) == waiting.max()
    times = [packet.timestamp for packet in tracks["load queue: operations"]]
    assert times == sorted(times)
    assert len(times) <= profile.cycles // 64 + 3


def test_heads_of_queues_are_shown_while_their_unit_could_begin(profile, tracks):
    """A product that follows another one at once has waited for nothing but the array."""
    unit = unit_operations(profile)["execute"]
    events = tracks["execute queue: head"]
    shown = {
        packet.track_event.debug_annotations[0].uint_value: packet.timestamp
        for packet in events
        if packet.track_event.type == BEGIN
    }
    busy = list(zip(unit.begin[:-1].tolist(), unit.end[:-1].tolist(), strict=True))
    assert int(unit.command[0]) in shown
    assert all(not begin < start < end for start in shown.values() for begin, end in busy)


def test_what_waits_at_the_head_is_shown_until_the_cycle_behind_its_start(profile, tracks):
    for name, queue in profile.queues.items():
        started = dict(zip(queue.command.tolist(), queue.started.tolist(), strict=True))
        events = tracks[f"{name} queue: head"]
        for begin, end in zip(events[::2], events[1::2], strict=True):
            command = begin.track_event.debug_annotations[0].uint_value
            assert begin.timestamp < end.timestamp == started[command] + 1
    assert any(tracks[f"{name} queue: head"] for name in profile.queues)


def test_a_file_is_compressed_if_its_name_says_so(profile):
    plain = trace_file(Path("run.pftrace"), profile, CONFIG)
    packed = trace_file(Path("run.pftrace.gz"), profile, CONFIG)
    assert gzip.decompress(packed) == plain


def test_an_operation_waits_from_the_cycle_behind_that_in_which_it_entered():
    """Two that enter in cycles 0 and 640, and begin in cycle 1,000; samples have 64 cycles."""
    at, most = _levels(np.array([0, 640]), np.array([1000, 1000]))
    assert [*zip(at.tolist(), most.tolist(), strict=True)] == [
        (1, 1),
        (64, 1),
        (640, 2),
        (704, 2),
        (960, 2),  # Both wait up to cycle 1,000.
        (1002, 0),
    ]


@pytest.mark.parametrize(
    ("entered", "started", "shown"),
    [
        # Five wait from cycle 11 on, four of them up to 130: the sample from 128 on begins with 4.
        ([10] * 5, [20, 130, 130, 130, 130], {11: 5, 64: 4, 128: 4, 132: 0}),
        # Nothing changes for long: what is left is shown as soon as the sample of the most is over.
        ([0, 1, 2], [3, 4, 600], {1: 3, 64: 1, 576: 1, 602: 0}),
        # One that waits across a border alone.
        ([60], [64], {61: 1, 64: 1, 66: 0}),
        ([60], [62], {61: 1, 64: 0}),
        ([], [], {}),
    ],
)
def test_what_waits_as_a_sample_begins_counts_in_it(entered, started, shown):
    at, most = _levels(np.array(entered, int), np.array(started, int))
    assert dict(zip(at.tolist(), most.tolist(), strict=True)) == shown
