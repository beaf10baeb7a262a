"""Registers without an accelerator behind them, and a ring that empties itself."""

from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.map import REGISTERS, Access, configuration_words
from celosia.sw.driver.registers import RegisterError

__all__ = ["FakePort", "RingPort"]

NAMES = {register.offset: name for name, register in REGISTERS.items()}


class FakePort:
    """Keeps what is written; `forbidden` registers are answered with an error."""

    def __init__(self, config: AcceleratorConfig):
        self.words = {name: register.reset or 0 for name, register in REGISTERS.items()}
        self.words |= configuration_words(config)
        self.log: list[tuple[str, int]] = []
        self.forbidden: set[str] = set()
        self.waits: list[int] = []

    def read_word(self, offset: int) -> int:
        self._check(NAMES[offset])
        return self.words[NAMES[offset]]

    def write_word(self, offset: int, word: int) -> None:
        name = NAMES[offset]
        self._check(name)
        assert 0 <= word < 1 << 32
        self.log.append((name, word))
        access = REGISTERS[name].access
        assert access is not Access.RO
        if access is Access.W1C:
            self.words[name] &= ~word
        elif access is Access.RW:
            self.words[name] = word
        self.wrote(name)

    def wrote(self, name: str) -> None:
        """What follows from a write."""

    def wait(self, cycles: int) -> bool:
        self.waits.append(cycles)
        assert len(self.waits) < 1_000, "waits for ever"
        return bool(self.words["INTERRUPT_STATUS"] & self.words["INTERRUPT_ENABLE"])

    def _check(self, name: str) -> None:
        if name in self.forbidden:
            raise RegisterError(f"register {name}: SLVERR")


class RingPort(FakePort):
    """Takes up to `rate` commands of the ring in each wait, out of `memory`."""

    def __init__(self, config: AcceleratorConfig, rate: int, lag: int = 0):
        super().__init__(config)
        self.memory: dict[int, int] = {}
        self.taken: list[bytes] = []
        self.error_after: int | None = None
        self._rate, self._lag = rate, lag
        self._announced = 0

    def store(self, address: int, data: bytes) -> None:
        for index, byte in enumerate(data):
            self.memory[address + index] = byte

    def wrote(self, name: str) -> None:
        if name == "RING_DOORBELL":
            assert self.words["CONTROL"] & 1
            self._announced = self.words["RING_TAIL"]

    def wait(self, cycles: int) -> bool:
        words = self.words
        base = words["RING_BASE_LO"] | words["RING_BASE_HI"] << 32
        for _ in range(self._rate):
            head = words["RING_HEAD"]
            if head == self._announced:
                break
            start = base + 24 * head
            self.taken.append(bytes(self.memory.pop(start + index) for index in range(24)))
            words["RING_HEAD"] = (head + 1) % words["RING_SIZE"]
        # Commands are over later than they are taken.
        done = max(len(self.taken) - self._lag, 0)
        if words["RING_HEAD"] == self._announced:
            self._lag = max(self._lag - 1, 0)
            words["INTERRUPT_STATUS"] |= not self._lag
        words["RING_COMPLETED"] = (self.first + done) % (1 << 32)
        if self.error_after is not None and len(self.taken) >= self.error_after:
            words["INTERRUPT_STATUS"] |= 2
        return super().wait(cycles)

    first = 0
    """Of RING_COMPLETED."""
