"""The rules of AXI4 and AXI4-Lite that both sides of each port are held to, cycle by cycle.

A rule is given what every signal was at a rising edge of the clock, under its name without the
port's prefix.  A bit that is neither 0 nor 1 makes its signal a string of bits.
"""

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["Channel", "LiteRules", "MemoryRules", "Pins", "ProtocolError"]

Pins = Mapping[str, int | str]

PAGE_BYTES: Final = 4096
BURST_BYTES: Final = 64
"""Most useful bytes of a burst (`isa/config.py`)."""
RESET_EDGES: Final = 4
"""Reset is registered: from the edge with this number on, nothing is on offer."""

_INCREMENTING: Final = 1
_EXCLUSIVE_OKAY: Final = 1
_READ_IDS: Final = {0, 1}
_WRITE_IDS: Final = {0}
_ATTRIBUTES: Final = {"lock": 0, "cache": 0b0011, "prot": 0, "qos": 0}


class ProtocolError(AssertionError):
    """A rule of the port was broken."""


def require(fact: object, message: str) -> None:
    """Raise `ProtocolError` unless `fact`."""
    if not fact:
        raise ProtocolError(message)


class Channel:
    """Handshake of one channel: an offer stands, unchanged, until it is taken."""

    def __init__(self, name: str, payload: tuple[str, ...], may_be_unknown: frozenset[str]):
        self.name = name
        self.signals = tuple(f"{name}{signal}" for signal in payload)
        self._may_be_unknown = {f"{name}{signal}" for signal in may_be_unknown}
        self._standing: dict[str, int | str] | None = None

    def edge(self, pins: Pins) -> dict[str, int | str] | None:
        """The payload, if there is a transfer at this edge."""
        valid, ready = pins[f"{self.name}valid"], pins[f"{self.name}ready"]
        require(valid in {0, 1}, f"{self.name}: valid is {valid}")
        require(ready in {0, 1}, f"{self.name}: ready is {ready}")
        if not valid:
            require(self._standing is None, f"{self.name}: an offer was withdrawn")
            return None
        offer = {signal: pins[signal] for signal in self.signals}
        for signal, value in offer.items():
            known = isinstance(value, int) or signal in self._may_be_unknown
            require(known, f"{signal} is {value} in an offer")
        changed = f"{self.name}: an offer was changed from {self._standing} to {offer}"
        require(self._standing in (None, offer), changed)
        self._standing = None if ready else offer
        return offer if ready else None


class _Port:
    """What both ports have in common."""

    channels: dict[str, Channel]
    sources: tuple[str, ...]
    """The channels on which the accelerator makes offers."""

    def __init__(self) -> None:
        self._reset_edges = 0
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        raise NotImplementedError

    def edge(self, pins: Pins, reset: int) -> None:
        """Check one rising edge."""
        if reset:
            self.forget()
            self._reset_edges += 1
            for name in self.sources if self._reset_edges >= RESET_EDGES else ():
                require(pins[f"{name}valid"] == 0, f"{name}: an offer during reset")
            return
        self._reset_edges = 0
        self.transfers({name: channel.edge(pins) for name, channel in self.channels.items()})

    def transfers(self, moved: Mapping[str, dict | None]) -> None:
        """Check the transfers of one rising edge, by channel."""
        raise NotImplementedError


@dataclass
class _Burst:
    address: int
    beats: int
    done: int = 0


class MemoryRules(_Port):
    """AXI4, as the accelerator uses it; its memory is held to AXI4 as well."""

    sources = ("ar", "aw", "w")

    def __init__(self, bus_bytes: int, read_requests: int, write_requests: int):
        self.bus_bytes = bus_bytes
        self.read_requests = read_requests
        self.write_requests = write_requests
        self.read_bursts = self.write_bursts = 0
        """Bursts since the start."""
        super().__init__()

    def forget(self) -> None:
        address = ("addr", "len", "size", "burst", "id", *_ATTRIBUTES)
        payloads = {
            "ar": address,
            "r": ("data", "resp", "last", "id"),
            "aw": address,
            "w": ("data", "strb", "last"),
            "b": ("resp", "id"),
        }
        self.channels = {
            name: Channel(name, payload, frozenset({"data"} if name == "w" else ()))
            for name, payload in payloads.items()
        }
        self._reads: dict[int, deque[_Burst]] = defaultdict(deque)
        self._writes: deque[_Burst] = deque()
        self._beats: deque[dict] = deque()
        self._answers: deque[_Burst] = deque()

    @property
    def quiet(self) -> bool:
        """No burst is in flight, and nothing is on offer."""
        return not (any(self._reads.values()) or self._writes or self._beats or self._answers)

    @property
    def address_ahead(self) -> bool:
        """The address of a burst was taken, and not yet all of its data."""
        return bool(self._writes)

    @property
    def data_ahead(self) -> bool:
        """Data were taken whose address was not."""
        return bool(self._beats)

    def transfers(self, moved: Mapping[str, dict | None]) -> None:
        # Answers first: none belongs to a request of the same edge.
        if r := moved["r"]:
            self._read_beat(r)
        if b := moved["b"]:
            require(self._answers, "b: a response without a finished write")
            require(b["bid"] in _WRITE_IDS, f"b: nothing was asked with ID {b['bid']}")
            require(b["bresp"] != _EXCLUSIVE_OKAY, "b: EXOKAY")
            self._answers.popleft()
        if ar := moved["ar"]:
            self._reads[ar["arid"]].append(self._burst("ar", ar, _READ_IDS))
            self.read_bursts += 1
            open_ = len(self._reads[ar["arid"]])
            require(open_ <= self.read_requests, f"ar: {open_} bursts with ID {ar['arid']}")
        if aw := moved["aw"]:
            self._writes.append(self._burst("aw", aw, _WRITE_IDS))
            self.write_bursts += 1
            open_ = len(self._writes) + len(self._answers)
            require(open_ <= self.write_requests, f"aw: {open_} bursts")
        if w := moved["w"]:
            self._beats.append(w)
        while self._writes and self._beats:
            self._write_beat(self._writes[0], self._beats.popleft())

    def _burst(self, channel: str, request: dict, ids: set[int]) -> _Burst:
        fields = {name.removeprefix(channel): value for name, value in request.items()}
        address, beats = fields["addr"], fields["len"] + 1
        require(fields["burst"] == _INCREMENTING, f"{channel}: burst type {fields['burst']}")
        require(1 << fields["size"] == self.bus_bytes, f"{channel}: size {fields['size']}")
        require(fields["id"] in ids, f"{channel}: ID {fields['id']}")
        for name, value in _ATTRIBUTES.items():
            require(fields[name] == value, f"{channel}: {name} {fields[name]}")
        start = address - address % self.bus_bytes
        end = start + beats * self.bus_bytes
        require(
            start // PAGE_BYTES == (end - 1) // PAGE_BYTES,
            f"{channel}: {beats} beats at {address:#x} cross a 4 KiB boundary",
        )
        most = -(-(address % self.bus_bytes + BURST_BYTES) // self.bus_bytes)
        require(beats <= most, f"{channel}: {beats} beats at {address:#x}")
        return _Burst(address, beats)

    def _read_beat(self, beat: dict) -> None:
        waiting = self._reads[beat["rid"]]
        require(waiting, f"r: nothing was asked with ID {beat['rid']}")
        require(beat["rresp"] != _EXCLUSIVE_OKAY, "r: EXOKAY")
        burst = waiting[0]
        burst.done += 1
        last = burst.done == burst.beats
        require(beat["rlast"] == last, f"r: last is {beat['rlast']} in beat {burst.done}")
        if last:
            waiting.popleft()

    def _write_beat(self, burst: _Burst, beat: dict) -> None:
        """Strobes choose one run of bytes per burst, from its address on."""
        first = burst.address % self.bus_bytes if not burst.done else 0
        burst.done += 1
        last = burst.done == burst.beats
        require(beat["wlast"] == last, f"w: last is {beat['wlast']} in beat {burst.done}")
        strobe = beat["wstrb"] >> first
        require(strobe << first == beat["wstrb"], "w: a byte below the burst's address")
        require(strobe & 1 and not strobe & (strobe + 1), f"w: strobe {beat['wstrb']:#b}")
        filled = first + strobe.bit_length() == self.bus_bytes
        require(last or filled, f"w: strobe {beat['wstrb']:#b} before the last beat")
        self._check_data(beat)
        if last:
            self._answers.append(self._writes.popleft())

    def _check_data(self, beat: dict) -> None:
        """Bytes that are written are known."""
        data = beat["wdata"]
        for lane in range(self.bus_bytes) if isinstance(data, str) else ():
            end = len(data) - 8 * lane
            written = beat["wstrb"] >> lane & 1
            bits = data[end - 8 : end]
            require(not written or set(bits) <= {"0", "1"}, f"w: byte {lane} is {bits}")


class LiteRules(_Port):
    """AXI4-Lite: every access is answered once, after all of it was taken."""

    sources = ("r", "b")

    def forget(self) -> None:
        payloads = {
            "ar": ("addr", "prot"),
            "r": ("data", "resp"),
            "aw": ("addr", "prot"),
            "w": ("data", "strb"),
            "b": ("resp",),
        }
        self.channels = {
            name: Channel(name, payload, frozenset()) for name, payload in payloads.items()
        }
        self._addresses = self._words = self._reads = 0

    @property
    def quiet(self) -> bool:
        """Every access was answered."""
        return not (self._addresses or self._words or self._reads)

    def transfers(self, moved: Mapping[str, dict | None]) -> None:
        if r := moved["r"]:
            require(self._reads, "r: an answer without a read")
            require(r["rresp"] != _EXCLUSIVE_OKAY, "r: EXOKAY")
            self._reads -= 1
        if b := moved["b"]:
            require(self._addresses and self._words, "b: an answer before all of the write")
            require(b["bresp"] != _EXCLUSIVE_OKAY, "b: EXOKAY")
            self._addresses -= 1
            self._words -= 1
        self._reads += moved["ar"] is not None
        self._addresses += moved["aw"] is not None
        self._words += moved["w"] is not None
