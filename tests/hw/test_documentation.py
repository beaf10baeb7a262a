# amaranth: UnusedElaboratable=no

"""The ``Members`` section of every component says what its signature says."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import pytest
from amaranth.hdl import Shape
from amaranth.lib import data
from amaranth.lib.wiring import Component, Flow

import celosia.hw
from celosia.hw.execute.mesh import Mesh
from celosia.hw.gemmini.windows import PoolingController, PoolWalker
from celosia.hw.host.board.block_memory import BlockMemory
from celosia.hw.host.board.bridge import Bridge
from celosia.hw.host.board.setup import BoardSetup
from celosia.hw.host.board.top import BoardTop
from celosia.hw.host.board.uart_receiver import UartReceiver
from celosia.hw.host.board.uart_transmitter import UartTransmitter
from celosia.hw.lib.early_queue import EarlyQueue
from celosia.hw.store.controller import StoreController, store_ports
from celosia.isa.presets import PRESETS

GEMMINI = PRESETS["gemmini4"]
BOARD = BoardSetup(clock_hz=8_000_000, baud=1_000_000, memory_bytes=1024)

EXAMPLES: Final[Mapping[type[Component], Callable[[], Component]]] = {
    PoolWalker: lambda: PoolWalker(GEMMINI, store_ports(GEMMINI)),
    PoolingController: lambda: PoolingController(GEMMINI, StoreController(GEMMINI)),
    BlockMemory: lambda: BlockMemory(PRESETS["tiny"], 1024),
    BoardTop: lambda: BoardTop(PRESETS["tiny"], BOARD),
    Bridge: lambda: Bridge(BOARD),
    Mesh: lambda: Mesh(PRESETS["base-int4"]),
    EarlyQueue: lambda: EarlyQueue(data.StructLayout({"bank": 2, "data": 8}), ("bank",)),
    UartReceiver: lambda: UartReceiver(8),
    UartTransmitter: lambda: UartTransmitter(8),
}
"""Makes an instance of a class whose constructor takes more than a configuration."""


def components() -> Iterator[type[Component]]:
    """Every public component that is defined in a module of `celosia.hw`."""
    for info in pkgutil.walk_packages(celosia.hw.__path__, "celosia.hw."):
        module = importlib.import_module(info.name)
        for name, value in sorted(vars(module).items()):
            if not inspect.isclass(value) or not issubclass(value, Component):
                continue
            if value.__module__ == module.__name__ and not name.startswith("_"):
                yield value


ELSEWHERE = {
    "Sleeping", "LoopUnit",  # Bases; the ports of the latter are the table of `LoopStage`.
    "Top", "AxiTop",  # Ports are tables of docs/architecture.md: see test_top.py.
}  # fmt: skip

COMPONENTS = [cls for cls in components() if cls.__name__ not in ELSEWHERE]


def instance(cls: type[Component]) -> Component:
    if cls in EXAMPLES:
        return EXAMPLES[cls]()
    required = [
        parameter
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    if [parameter.name for parameter in required] == ["config"]:
        return cls(PRESETS["tiny"])
    assert not required, f"say in EXAMPLES how to make a {cls.__name__}"
    return cls()


def documented_members(cls: type[Component]) -> dict[str, Flow]:
    _, _, members = inspect.cleandoc(cls.__doc__ or "").partition("Members\n-------\n")
    return {name: Flow[flow] for name, flow in re.findall(r"^(\w+) : ``(In|Out)\(", members, re.M)}


@pytest.mark.parametrize("cls", COMPONENTS, ids=lambda cls: cls.__name__)
def test_members_match_the_signature(cls):
    actual = {name: member.flow for name, member in instance(cls).signature.members.items()}
    assert documented_members(cls) == actual


def documented_widths(cls: type[Component]) -> dict[str, int]:
    """The ports whose width is a number in the documentation."""
    _, _, members = inspect.cleandoc(cls.__doc__ or "").partition("Members\n-------\n")
    found = re.findall(r"^(\w+) : ``(?:In|Out)\((?:(?:un)?signed\()?(\d+)\)+``$", members, re.M)
    return {name: int(width) for name, width in found}


@pytest.mark.parametrize("cls", COMPONENTS, ids=lambda cls: cls.__name__)
def test_widths_in_numbers_are_those_of_the_signature(cls):
    members, widths = instance(cls).signature.members, documented_widths(cls)
    actual = {name: Shape.cast(members[name].shape).width for name in widths}
    assert actual == widths


def test_there_are_components():
    assert COMPONENTS
