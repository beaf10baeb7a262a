"""`Owners`: one name for each cycle, by the rules of docs/counters.md."""

from typing import Any

import pytest
from amaranth.sim import Simulator

from celosia.hw.decode.decoder import Kind
from celosia.hw.execute.path import ArrayState
from celosia.hw.load.path import LoadState
from celosia.hw.memory.ports import BankUser
from celosia.hw.observe.owners import Commands, Owners
from celosia.hw.store.path import StoreState
from celosia.hw.transform.path import VectorState
from celosia.isa.encoding import Function
from celosia.isa.registers.events import TABLES
from celosia.isa.registers.queues import QUEUES

IDLE = {
    "array": ArrayState.EMPTY,
    "load_path": LoadState.IDLE,
    "store_path": StoreState.IDLE,
    "vector": VectorState.IDLE,
}


ZERO = dict.fromkeys(("array_bank", "load_bank", "store_bank", "vector_bank", "function"), 0)
ZERO |= dict.fromkeys(("awaited", "accumulates", "token", "commands", "kind"), 0)


def owners(facts: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The names of the owners, by table, for each of `facts`."""
    dut, names = Owners(), []

    async def testbench(ctx):
        for fact in facts:
            values = ZERO | IDLE | fact
            waits: Any = values.pop("waits", {})
            held: Any = values.pop("held", ())
            for name, value in values.items():
                ctx.set(getattr(dut, name), value)
            for queue in QUEUES:
                ctx.set(dut.waits[queue], dict.fromkeys(waits.get(queue, ()), 1))
                ctx.set(dut.held[queue], queue in held)
            names.append({
                table.name: table.owners[ctx.get(getattr(dut.owners, table.name))].name
                for table in TABLES
            })

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()
    return names


def check(table: str, cases: list[tuple[str, dict[str, Any]]]) -> None:
    found = [names[table] for names in owners([fact for _, fact in cases])]
    assert found == [name for name, _ in cases]


def test_a_state_of_the_array_is_an_owner():
    names = {
        "array_rows": ArrayState.ROWS,
        "array_padding": ArrayState.PADDING,
        "array_weights": ArrayState.WEIGHTS,
        "array_d": ArrayState.D,
        "wait_bank_results": ArrayState.RESULTS,
        "wait_issue": ArrayState.ISSUE,
    }
    check("array", [(name, {"array": state}) for name, state in names.items()])
    bank = {"array": ArrayState.BANK}
    check("array", [("wait_bank_weights", bank | {"array_bank": BankUser.WEIGHTS})])
    check("array", [("wait_bank_results", bank | {"array_bank": BankUser.RESULTS})])


def test_the_next_product_waits_for_one_queue():
    order = ("load", "store", "execute", "transform")
    names = ("wait_load_stages", "wait_execute_store", "wait_execute_execute", "wait_gelu")
    cases = []
    for first in range(len(order)):
        waits = {"execute": order[first:]}
        facts = {"waits": waits, "awaited": Function.GELU.value, "held": ("execute",)}
        cases.append((names[first], facts))
    accumulator = {"waits": {"execute": ("store",)}, "accumulates": 1}
    check("array", [*cases, ("wait_accumulator", accumulator)])


@pytest.mark.parametrize("function", Function)
def test_functions_have_owners(function):
    waits = {"waits": {"execute": ("transform",)}, "awaited": function.value}
    name = function.name.lower()
    steps = {"vector": VectorState.STEP, "function": function.value}
    found, stepping = owners([waits | {"vector": VectorState.STAGES}, waits | steps])
    assert found["array"] == stepping["array"] == f"wait_{name}"
    assert stepping["vector"] == f"vector_{name}"


def test_a_load_is_followed_to_what_it_waits_for():
    waits = {"execute": ("load",)}
    names = {
        LoadState.DATA: "wait_load_bandwidth",
        LoadState.BANDWIDTH: "wait_load_bandwidth",
        LoadState.LATENCY: "wait_load_latency",
        LoadState.REQUESTS: "wait_load_requests",
        LoadState.STAGES: "wait_load_stages",
    }
    # A path that works comes before the head of its queue.
    more = {"token": 1, "waits": waits | {"load": ("store",)}}
    check("array", [(name, more | {"load_path": state}) for state, name in names.items()])
    banks = {
        BankUser.RESULTS: "results",
        BankUser.WORDS: "transform",
        BankUser.TRANSFORM: "transform",
        BankUser.STORE: "store",
    }
    bank = {"waits": waits, "load_path": LoadState.BANK}
    check(
        "array",
        [(f"wait_bank_{name}", bank | {"load_bank": user}) for user, name in banks.items()],
    )
    others = ("execute", "store", "transform")
    heads = [
        (f"wait_load_{others[first]}", {"waits": waits | {"load": others[first:]}})
        for first in range(3)
    ]
    check("array", [*heads, ("wait_token", {"waits": waits, "token": 1})])


def test_a_transform_that_has_not_started_is_followed():
    others = ("load", "execute", "store")
    waits = {"execute": ("transform",)}
    heads = [{"waits": waits | {"transform": others[first:]}} for first in range(3)]
    names = [f"wait_transform_{other}" for other in others]
    check("array", list(zip(names, heads, strict=True)))
    busy = {"vector": VectorState.STAGES, "awaited": Function.SUM.value}
    check("array", [("wait_sum", head | busy) for head in heads])


def test_commands_count_only_without_a_product():
    full = [
        (f"wait_queue_{kind.name.lower()}", {"commands": Commands.FULL, "kind": kind})
        for kind in (Kind.LOAD, Kind.EXECUTE, Kind.STORE, Kind.TRANSFORM)
    ]
    others = [
        ("drain", {}),
        ("wait_command", {"commands": Commands.COMING}),
        ("wait_fence", {"commands": Commands.FENCE}),
        ("wait_issue", {"commands": Commands.COMING, "held": ("execute",)}),
    ]
    check("array", [*full, *others])


@pytest.mark.parametrize(
    ("table", "path", "states", "queue"),
    [
        ("read", "load", LoadState, "load"),
        ("write", "store", StoreState, "store"),
        ("vector", "vector", VectorState, "transform"),
    ],
)
def test_paths_have_their_states_then_their_heads(table, path, states, queue):
    known = {owner.name for unit in TABLES if unit.name == table for owner in unit.owners}
    waits = {"waits": {queue: QUEUES}, "held": (queue,)}
    port = path if path == "vector" else f"{path}_path"
    named = [state for state in states if state.name not in {"BANK", "IDLE", "STEP"}]
    check(table, [(f"{table}_{state.name.lower()}", waits | {port: state}) for state in named])
    heads = [name for name in known if name.startswith(f"{table}_wait_")]
    cases = [(name, {"waits": {queue: (name.rpartition("_")[2],)}}) for name in heads]
    check(table, [*cases, (f"{table}_stages", {"held": (queue,)}), (f"{table}_none", {})])
    # Of several queues that a head waits for, the first one has the cycle.
    others = [other for other in ("load", "execute", "store", "transform") if other != queue]
    several = [
        (f"{table}_wait_{others[first]}", {"waits": {queue: others[first:]}, "held": (queue,)})
        for first in range(len(others))
    ]
    check(table, several)
    if table == "read":
        check(table, [("read_token", {"token": 1, "held": (queue,)})])
        check(table, [(name, facts | {"token": 1}) for name, facts in several])
    for name in known:
        if name.startswith(f"{table}_bank_"):
            user = BankUser[name.removeprefix(f"{table}_bank_").upper()]
            check(table, [(name, {port: states.BANK, f"{path}_bank": user})])
