"""The monitor's rules find what is wrong, and nothing else."""

from collections.abc import Callable

import pytest

from tests.cocotb.rules import RESET_EDGES, LiteRules, MemoryRules, Pins, ProtocolError

BUS_BYTES = 8
ADDRESS = {
    "addr": 0x8000_0F80, "len": 0, "size": 3, "burst": 1, "id": 0,
    "lock": 0, "cache": 3, "prot": 0, "qos": 0,
}  # fmt: skip
BEAT = {"data": 5, "resp": 0, "last": 1, "id": 0}
WORD = {"data": 7, "strb": 0xFF, "last": 1}
ANSWER = {"resp": 0, "id": 0}
ACCESS = {"addr": 16, "prot": 0}

IDLE = {f"{name}{part}": 0 for name in ("ar", "r", "aw", "w", "b") for part in ("valid", "ready")}


def offer(channel: str, payload: dict, ready: int = 1, **changes: object) -> dict:
    pins = {f"{channel}{name}": value for name, value in (payload | changes).items()}
    return {f"{channel}valid": 1, f"{channel}ready": ready} | pins


def run(rules: MemoryRules | LiteRules, *edges: Pins, reset: int = 0) -> None:
    for pins in edges:
        rules.edge(IDLE | dict(pins), reset)


def memory() -> MemoryRules:
    return MemoryRules(BUS_BYTES, read_requests=2, write_requests=2)


def both(*offers: dict) -> dict:
    return {name: value for pins in offers for name, value in pins.items()}


def test_legal_traffic_is_legal():
    rules = memory()
    run(
        rules,
        offer("ar", ADDRESS, ready=0),
        offer("ar", ADDRESS),
        both(offer("ar", ADDRESS, id=1, len=1), offer("w", WORD, last=0)),
        offer("r", BEAT, id=1, last=0),
        both(offer("r", BEAT), offer("aw", ADDRESS, addr=0x8000_0000, len=1)),
        both(offer("r", BEAT, id=1), offer("w", WORD, strb=0b111, data="x" * 40 + "1" * 24)),
    )
    assert not rules.quiet
    run(rules, offer("b", ANSWER, resp=2))
    assert rules.quiet
    assert (rules.read_bursts, rules.write_bursts) == (2, 1)


@pytest.mark.parametrize("bus_bytes", [4, 64])
def test_the_longest_burst_is_legal_at_any_address(bus_bytes):
    size = bus_bytes.bit_length() - 1
    for offset in range(bus_bytes):
        beats = -(-(offset + 64) // bus_bytes)
        rules = MemoryRules(bus_bytes, 1, 1)
        run(rules, offer("ar", ADDRESS, addr=offset, len=beats - 1, size=size))
        longer = offer("ar", ADDRESS, addr=offset, len=beats, size=size)
        with pytest.raises(ProtocolError, match="beats"):
            run(MemoryRules(bus_bytes, 1, 1), longer)


@pytest.mark.parametrize(
    ("message", "edges"),
    [
        ("withdrawn", [offer("ar", ADDRESS, ready=0), {}]),
        ("changed", [offer("ar", ADDRESS, ready=0), offer("ar", ADDRESS, addr=0)]),
        ("changed", [offer("w", WORD, ready=0), offer("w", WORD, data=8)]),
        ("valid is x", [{"arvalid": "x"}]),
        ("ready is z", [{"rready": "z"}]),
        ("araddr is", [offer("ar", ADDRESS, addr="0x")]),
        ("burst type", [offer("ar", ADDRESS, burst=2)]),
        ("size", [offer("aw", ADDRESS, size=2)]),
        ("ID 2", [offer("ar", ADDRESS, id=2)]),
        ("ID 1", [offer("aw", ADDRESS, id=1)]),
        ("cache", [offer("aw", ADDRESS, cache=0)]),
        ("4 KiB", [offer("ar", ADDRESS, addr=0x8000_0FF8, len=1)]),
        ("9 beats", [offer("aw", ADDRESS, addr=0, len=8)]),
        ("3 bursts", [offer("ar", ADDRESS)] * 3),
        ("3 bursts", [offer("aw", ADDRESS)] * 3),
        ("nothing was asked", [offer("r", BEAT)]),
        ("nothing was asked", [offer("ar", ADDRESS), offer("r", BEAT, id=1)]),
        ("same edge", [both(offer("ar", ADDRESS), offer("r", BEAT))]),
        ("r: last", [offer("ar", ADDRESS, len=1), offer("r", BEAT)]),
        ("r: last", [offer("ar", ADDRESS), offer("r", BEAT, last=0)]),
        ("EXOKAY", [offer("ar", ADDRESS), offer("r", BEAT, resp=1)]),
        ("w: last", [offer("aw", ADDRESS, len=1), offer("w", WORD)]),
        ("w: last", [offer("w", WORD, last=0), offer("aw", ADDRESS)]),
        ("below", [offer("aw", ADDRESS, addr=4), offer("w", WORD)]),
        ("strobe", [offer("aw", ADDRESS), offer("w", WORD, strb=0)]),
        ("strobe", [offer("aw", ADDRESS), offer("w", WORD, strb=0b101)]),
        ("strobe", [offer("aw", ADDRESS), offer("w", WORD, strb=0b10)]),
        ("before the last", [offer("aw", ADDRESS, len=1), offer("w", WORD, strb=3, last=0)]),
        ("byte 1", [offer("aw", ADDRESS), offer("w", WORD, data="0" * 48 + "x" + "0" * 15)]),
        ("without a finished", [offer("aw", ADDRESS), offer("b", ANSWER)]),
        ("without a finished", [offer("aw", ADDRESS), both(offer("w", WORD), offer("b", ANSWER))]),
        ("ID 1", [offer("aw", ADDRESS), offer("w", WORD), offer("b", ANSWER, id=1)]),
    ],
)  # fmt: skip
def test_a_broken_rule_of_the_memory_port_is_found(message, edges):
    with pytest.raises(ProtocolError, match="nothing" if message == "same edge" else message):
        run(memory(), *edges)


def test_an_answered_register_access_is_legal():
    rules = LiteRules()
    run(
        rules,
        both(offer("w", {"data": 1, "strb": 15}), offer("ar", ACCESS)),
        both(offer("aw", ACCESS), offer("r", {"data": 3, "resp": 2}, ready=0)),
        both(offer("b", {"resp": 0}), offer("r", {"data": 3, "resp": 2})),
    )
    assert rules.quiet


@pytest.mark.parametrize(
    ("message", "edges"),
    [
        ("before all", [offer("aw", ACCESS), offer("b", {"resp": 0})]),
        ("before all", [offer("w", {"data": 1, "strb": 15}), offer("b", {"resp": 0})]),
        ("without a read", [offer("r", {"data": 0, "resp": 0})]),
        ("without a read", [both(offer("ar", ACCESS), offer("r", {"data": 0, "resp": 0}))]),
        ("EXOKAY", [offer("ar", ACCESS), offer("r", {"data": 0, "resp": 1})]),
        ("rdata is", [offer("ar", ACCESS), offer("r", {"data": "x1", "resp": 0})]),
        ("changed", [offer("ar", ACCESS), *(
            offer("r", {"data": word, "resp": 0}, ready=0) for word in (1, 2))]),
    ],
)  # fmt: skip
def test_a_broken_rule_of_the_register_port_is_found(message, edges):
    with pytest.raises(ProtocolError, match=message):
        run(LiteRules(), *edges)


@pytest.mark.parametrize("make", [memory, LiteRules])
def test_a_reset_forgets_everything_and_ends_offers(make: Callable[[], MemoryRules | LiteRules]):
    rules = make()
    address = ADDRESS if isinstance(rules, MemoryRules) else ACCESS
    source = {"rvalid": 1} if isinstance(rules, LiteRules) else {"arvalid": 1}
    run(rules, offer("ar", address), offer("aw", address, ready=0))
    assert not rules.quiet
    run(rules, *[source] * (RESET_EDGES - 1), reset=1)
    assert rules.quiet
    with pytest.raises(ProtocolError, match="reset"):
        run(rules, source, reset=1)
