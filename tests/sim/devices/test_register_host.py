"""The simulated host of the registers: the rules it keeps, and those it holds the slave to."""

import ctypes

import pytest

from celosia.sim.verilator.build import bench_library
from celosia.sim.verilator.harness.binding import Access, LiteHostPins, LiteSlavePins, bind


class Host:
    """The host, and what the slave drives."""

    def __init__(self, seed=0, stall_percent=0, late=0):
        self.library = bind(bench_library())
        self.handle = self.library.lite_create(seed, stall_percent, late)
        self.slave, self.pins = LiteSlavePins(), LiteHostPins()

    @property
    def active(self):
        return bool(self.library.lite_active(self.handle))

    @property
    def error(self):
        return self.library.lite_error(self.handle).decode()

    @property
    def answer(self):
        data = ctypes.c_uint32()
        return self.library.lite_response(self.handle, ctypes.byref(data)), data.value

    def start(self, write, address, data=0, strobe=15):
        access = Access(write, address, data, strobe)
        self.library.lite_start(self.handle, ctypes.byref(access))

    def edge(self, **slave):
        for name, value in slave.items():
            setattr(self.slave, name, value)
        self.library.lite_edge(self.handle, ctypes.byref(self.slave), ctypes.byref(self.pins))


def test_a_write_offers_address_and_data_and_takes_the_response():
    host = Host()
    host.start(1, 0x48, 3, 0b0101)
    host.edge()
    pins = host.pins
    assert (pins.aw_valid, pins.aw_address, pins.w_valid, pins.w_data, pins.w_strobe) == (
        1, 0x48, 1, 3, 0b0101,
    )  # fmt: skip
    host.edge(aw_ready=1)
    assert (pins.aw_valid, pins.w_valid) == (0, 1)
    host.edge(aw_ready=0, w_ready=1)
    assert (pins.w_valid, pins.b_ready) == (0, 1)
    host.edge(w_ready=0)
    assert host.active
    host.edge(b_valid=1, b_response=2)
    assert not host.active
    assert host.answer == (2, 0)
    assert bytes(pins) == bytes(len(bytes(pins)))


def test_a_read_brings_its_data():
    host = Host()
    host.start(0, 0x44)
    host.edge()
    assert (host.pins.ar_valid, host.pins.ar_address, host.pins.aw_valid) == (1, 0x44, 0)
    host.edge(ar_ready=1)
    host.edge(ar_ready=0, r_valid=1, r_data=77)
    assert not host.active
    assert host.answer == (0, 77)


def test_late_readies_wait_for_valid():
    host = Host(late=1)
    host.start(0, 0)
    host.edge()
    host.edge(ar_ready=1)
    assert not host.pins.r_ready
    host.edge(ar_ready=0, r_valid=1, r_data=5)
    assert host.active
    assert host.pins.r_ready
    host.edge()
    assert host.answer == (0, 5)


@pytest.mark.parametrize("seed", range(20))
def test_stalls_change_the_order_and_nothing_else(seed):
    host = Host(seed, stall_percent=60)
    host.start(1, 4, 9)
    address = data = edges = 0
    while not (address and data):
        aw, w = host.pins.aw_valid, host.pins.w_valid
        host.edge(aw_ready=1, w_ready=1)
        address, data, edges = address or aw, data or w, edges + 1
        assert edges < 200
    host.edge(aw_ready=0, w_ready=0)
    for _ in range(200):
        if not host.active:
            break
        host.edge(b_valid=1)
    assert not host.active
    assert not host.error


def begun(write):
    """A host whose access was taken."""
    host = Host(late=1)
    host.start(write, 0)
    host.edge()
    host.edge(ar_ready=1, aw_ready=1, w_ready=1)
    host.edge(ar_ready=0, aw_ready=0, w_ready=0)
    return host


@pytest.mark.parametrize(
    ("write", "edges", "message"),
    [
        (1, [{"r_valid": 1}], "R without a read"),
        (0, [{"b_valid": 1}], "B without a write"),
        (0, [{"r_valid": 1, "r_response": 1}], "EXOKAY"),
        (1, [{"b_valid": 1, "b_response": 1}], "EXOKAY"),
        (0, [{"r_valid": 1}, {"r_valid": 0}], "withdrawn"),
        (1, [{"b_valid": 1}, {"b_valid": 0}], "withdrawn"),
        (0, [{"r_valid": 1, "r_data": 1}, {"r_data": 2}], "changed"),
        (1, [{"b_valid": 1}, {"b_response": 2}], "changed"),
    ],
)
def test_a_broken_rule_is_found(write, edges, message):
    host = begun(write)
    for pins in edges:
        assert not host.error
        host.edge(**pins)
    assert f"register port: {message}" in host.error or message in host.error


@pytest.mark.parametrize("taken", ["none", "aw", "w"])
def test_a_response_before_all_of_the_write_was_taken_is_found(taken):
    host = Host()
    host.start(1, 0)
    host.edge()
    host.edge(aw_ready=taken == "aw", w_ready=taken == "w")
    host.edge(aw_ready=0, w_ready=0, b_valid=1)
    assert "before all of it was taken" in host.error


def test_a_response_in_the_cycle_of_its_handshake_is_found():
    host = Host()
    host.start(0, 0)
    host.edge()
    host.edge(ar_ready=1, r_valid=1)
    assert "R without a read, or before its address was taken" in host.error
