"""The owner of a cycle: what each unit does, or the one thing that it waits for."""

from typing import Annotated, Any

from amaranth import Module, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.decoder import Kind
from celosia.hw.execute.path import ArrayState
from celosia.hw.issue.issue import Waits
from celosia.hw.issue.queues import PerQueue
from celosia.hw.lib.component import Component
from celosia.hw.load.path import LoadState
from celosia.hw.memory.ports import BankUser
from celosia.hw.observe.counters import owner_number
from celosia.hw.store.path import StoreState
from celosia.hw.transform.path import VectorState
from celosia.isa.encoding import Function
from celosia.isa.registers.events import TABLES, function_counter
from celosia.isa.registers.queues import QUEUES

__all__ = ["Commands", "Owners"]


class Commands(enum.Enum, shape=2):
    """What becomes of the next command."""

    NONE = 0
    COMING = 1
    FULL = 2  # It waits for a place in its queue.
    FENCE = 3  # It waits for everything before it.


class Owners(Component):
    """Names the owner of each unit by the rules of docs/counters.md.

    What is told of the load and the store path is of the cycle before.

    Members
    -------
    array : ``In(ArrayState)``
        State of the execute path.
    array_bank : ``In(BankUser)``
        Who has the bank that the array waits for.
    load_path : ``In(LoadState)``
        State of the load path.
    load_bank : ``In(BankUser)``
        Who has the bank that it waits for.
    store_path : ``In(StoreState)``
        State of the store path.
    store_bank : ``In(BankUser)``
        Who has the bank that it waits for.
    vector : ``In(VectorState)``
        State of the transform path.
    vector_bank : ``In(BankUser)``
        Who has the bank that it waits for.
    function : ``In(4)``
        Function of the step that enters the lanes.
    awaited : ``In(4)``
        The function of the transform that the next product waits for.
    accumulates : ``In(1)``
        The next product writes the accumulator.
    token : ``In(1)``
        The next load waits for a token.
    waits : ``In(PerQueue(Waits()))``
        Why the head of each queue does not start.
    held : ``In(PerQueue(1))``
        Something is in the queue, or on its way there, that has not started.
    commands : ``In(Commands)``
        What becomes of the next command.
    kind : ``In(Kind)``
        Kind of the next command, if its queue is full.
    owners : ``Out(Signature({name: Out(range(n))}))``
        The number of the owner in each table of `TABLES`.
    """

    array: Annotated[Any, In(ArrayState)]
    array_bank: Annotated[Any, In(BankUser)]
    load_path: Annotated[Any, In(LoadState)]
    load_bank: Annotated[Any, In(BankUser)]
    store_path: Annotated[Any, In(StoreState)]
    store_bank: Annotated[Any, In(BankUser)]
    vector: Annotated[Any, In(VectorState)]
    vector_bank: Annotated[Any, In(BankUser)]
    function: Annotated[Signal, In(4)]
    awaited: Annotated[Signal, In(4)]
    accumulates: Annotated[Signal, In(1)]
    token: Annotated[Signal, In(1)]
    waits: Annotated[data.View, In(PerQueue(Waits()))]
    held: Annotated[data.View, In(PerQueue(1))]
    commands: Annotated[Any, In(Commands)]
    kind: Annotated[Any, In(Kind)]
    owners: Any

    def __init__(self) -> None:
        owners = {table.name: Out(range(len(table.owners))) for table in TABLES}
        super().__init__({"owners": Out(wiring.Signature(owners))})

    def elaborate(self, platform) -> Module:
        m = Module()
        for table, states, state, bank in (
            ("read", LoadState, self.load_path, self.load_bank),
            ("write", StoreState, self.store_path, self.store_bank),
            ("vector", VectorState, self.vector, self.vector_bank),
        ):
            with m.Switch(state):
                for known in states:
                    with m.Case(known):
                        self._path(m, table, known.name, bank)
        self._array(m)
        return m

    def _is(self, m: Module, name: str, table: str = "array") -> None:
        m.d.comb += getattr(self.owners, table).eq(owner_number(name))

    def _path(self, m: Module, table: str, state: str, bank: Any) -> None:
        """The owner of a path in a state of this name."""
        queue = _QUEUE_OF[table]

        def owner(name: str) -> None:
            self._is(m, f"{table}_{name}", table)

        if state == "BANK":
            with m.Switch(bank):
                for user, name in _BANK_NAMES[table].items():
                    with m.Case(user):
                        owner(f"bank_{name}")
        elif state == "STEP":
            self._functions(m, table, self.function, table)
        elif state != "IDLE":
            owner(state.lower())
        else:
            owner("none")
            with m.If(self.held[queue]):
                owner("stages")
            if table == "read":
                with m.If(self.token):
                    owner("token")
            for other in reversed(_others(queue)):
                with m.If(self.waits[queue][other]):
                    owner(f"wait_{other}")

    def _functions(self, m: Module, table: str, function: Value, prefix: str) -> None:
        """The owner of a function of TRANSFORM."""
        numbers = [owner_number(function_counter(prefix, known)) for known in Function]
        assert numbers == [*range(numbers[0], numbers[0] + len(numbers))]
        m.d.comb += getattr(self.owners, table).eq(function + numbers[0])

    def _array(self, m: Module) -> None:
        with m.Switch(self.array):
            for state, name in _ARRAY_STATES.items():
                with m.Case(state):
                    self._is(m, name)
            with m.Case(ArrayState.BANK):
                self._is(m, "wait_bank_results")
                with m.If(self.array_bank == BankUser.WEIGHTS):
                    self._is(m, "wait_bank_weights")
            with m.Case(ArrayState.EMPTY):
                self._next_product(m, self.waits.execute)

    def _next_product(self, m: Module, waits: data.View) -> None:
        """What stands against the product that is at the head of its queue, or should be."""
        with m.If(waits.load):
            self._load(m)
        with m.Elif(waits.store):
            self._is(m, "wait_execute_store")
            with m.If(self.accumulates):
                self._is(m, "wait_accumulator")
        with m.Elif(waits.execute):
            self._is(m, "wait_execute_execute")
        with m.Elif(waits.transform):
            self._functions(m, "array", self.awaited, "wait")
            with m.If(self.vector == VectorState.IDLE):
                self._link(m, "transform")
        with m.Elif(self.held.execute):
            self._is(m, "wait_issue")
        with m.Else():
            self._command(m)

    def _load(self, m: Module) -> None:
        """What the load waits for that the next product waits for."""
        with m.Switch(self.load_path):
            for states, name in _LOAD_STATES.items():
                with m.Case(*states):
                    self._is(m, f"wait_load_{name}")
            with m.Case(LoadState.BANK):
                self._is(m, "wait_bank_results")
                with m.If(self.load_bank == BankUser.STORE):
                    self._is(m, "wait_bank_store")
                with m.If(Value.cast(self.load_bank).matches(BankUser.WORDS, BankUser.TRANSFORM)):
                    self._is(m, "wait_bank_transform")
            with m.Case(LoadState.IDLE):
                self._is(m, "wait_load_stages")
                with m.If(self.token):
                    self._is(m, "wait_token")
                self._link(m, "load")

    def _link(self, m: Module, queue: str) -> None:
        """The first other queue that the head of `queue` waits for, if any."""
        for other in reversed(_others(queue)):
            with m.If(self.waits[queue][other]):
                self._is(m, f"wait_{queue}_{other}")

    def _command(self, m: Module) -> None:
        with m.Switch(self.commands):
            with m.Case(Commands.NONE):
                self._is(m, "drain")
            with m.Case(Commands.COMING):
                self._is(m, "wait_command")
            with m.Case(Commands.FENCE):
                self._is(m, "wait_fence")
            with m.Case(Commands.FULL), m.Switch(self.kind):
                for queue in QUEUES:
                    with m.Case(Kind[queue.upper()]):
                        self._is(m, f"wait_queue_{queue}")


def _others(queue: str) -> tuple[str, ...]:
    """The queues that the head of `queue` may wait for, the first one first."""
    return tuple(other for other in QUEUES if other != queue)


_BEFORE_TRANSFORMS = {
    BankUser.RESULTS: "results",
    BankUser.WEIGHTS: "weights",
    BankUser.OPERANDS: "operands",
}
_BANK_NAMES = {
    "read": _BEFORE_TRANSFORMS
    | {BankUser.WORDS: "transform", BankUser.TRANSFORM: "transform", BankUser.STORE: "store"},
    "write": _BEFORE_TRANSFORMS
    | {BankUser.WORDS: "transform", BankUser.TRANSFORM: "transform", BankUser.LOAD: "load"},
    "vector": _BEFORE_TRANSFORMS | {BankUser.WORDS: "words", BankUser.LOAD: "load"},
}
"""What those are called that a path waits for at a bank."""

_QUEUE_OF = {"read": "load", "write": "store", "vector": "transform"}
"""The queue of the path of each table."""

_ARRAY_STATES = {
    ArrayState.ROWS: "array_rows",
    ArrayState.PADDING: "array_padding",
    ArrayState.WEIGHTS: "array_weights",
    ArrayState.D: "array_d",
    ArrayState.RESULTS: "wait_bank_results",
    ArrayState.ISSUE: "wait_issue",
}

_LOAD_STATES = {
    (LoadState.DATA, LoadState.BANDWIDTH): "bandwidth",
    (LoadState.LATENCY,): "latency",
    (LoadState.REQUESTS,): "requests",
    (LoadState.STAGES,): "stages",
}
