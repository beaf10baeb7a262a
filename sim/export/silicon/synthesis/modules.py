"""The modules of exported Verilog, each as a text that is the same wherever the module stands."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = [
    "PART",
    "TOP",
    "VerilogModule",
    "embedded",
    "flattened",
    "own_name",
    "places",
    "split_modules",
    "standalone",
]

TOP: Final = "top"
"""What a module is called when it stands alone."""
PART: Final = "part_"
"""What the names of modules begin with that it instantiates then."""

_NAME: Final = r"(\\\S+ |[A-Za-z_][\w$]*)"
_MODULE: Final = re.compile(rf"^module {_NAME} ?\(.*?^endmodule$\n?", re.MULTILINE | re.DOTALL)
_INSTANCE: Final = re.compile(rf"^  {_NAME} +{_NAME} *\($", re.MULTILINE)
_PORT: Final = re.compile(r"^  (?:input|output|inout) .*;\n", re.MULTILINE)
_ANSI: Final = re.compile(r"\A(module .*?\);\n)", re.DOTALL)
_AUTOMATIC: Final = re.compile(r"\\\$auto\$verilog_backend\.cc:\d+:dump_module\$(\d+) ")
_UNNAMED: Final = re.compile(r"\\port\$([\d$]+) ")
"""A value that crosses the border of a module without a name: Amaranth numbers its cells."""


@dataclass(frozen=True)
class VerilogModule:
    """A module as it stands in a file that Yosys wrote."""

    name: str
    text: str
    instances: Sequence[tuple[str, str]]
    """The name and the module of each instance in it."""

    @property
    def interface(self) -> str:
        """The module without its contents."""
        head = _ANSI.search(self.text)
        assert head is not None, f"{self.name}: no list of ports"
        return "".join([head[1], *_PORT.findall(self.text), "endmodule\n"])


def split_modules(verilog: str) -> dict[str, VerilogModule]:
    """The modules of `verilog`, by name."""
    found = [
        VerilogModule(
            _plain(match[1]),
            match[0],
            [(_plain(each[2]), _plain(each[1])) for each in _INSTANCE.finditer(match[0])],
        )
        for match in _MODULE.finditer(verilog)
    ]
    return {module.name: module for module in found}


def standalone(module: VerilogModule, modules: Mapping[str, VerilogModule]) -> tuple[str, str]:
    """`module` as `TOP`, and the interfaces of what it instantiates.

    Names that tell the place in the hierarchy, and numbers that count over the whole design, are
    replaced, so that the texts change only when the module does, or an interface.  What is not
    among `modules` keeps its name, and has no interface.
    """
    kinds = [kind for kind in _kinds(module) if kind in modules]
    new = {module.name: TOP} | {kind: f"{PART}{number}" for number, kind in enumerate(kinds)}
    text = _renamed(_head(module.text, TOP), new)
    order = _order(_AUTOMATIC, text)
    text = _AUTOMATIC.sub(lambda match: rf"\$auto${order[match[1]]} ", text)
    parts = "".join(_head(modules[kind].interface, new[kind]) for kind in kinds)
    unnamed = _order(_UNNAMED, text + parts)

    def renumbered(verilog: str) -> str:
        return _UNNAMED.sub(lambda match: rf"\port${unnamed[match[1]]} ", verilog)

    return renumbered(text), renumbered(parts)


def flattened(
    top: str, modules: Mapping[str, VerilogModule], boxes: Mapping[str, VerilogModule]
) -> tuple[str, str]:
    """The module `top` as `TOP` with all of `modules` below it, and interfaces of `boxes` in them.

    Modules keep their names, `boxes` begin with `PART`.
    """
    below = list(dict.fromkeys(name for _, name in places(top, modules)))
    kinds = dict.fromkeys(kind for name in below for kind in _kinds(modules[name]))
    new = {kind: f"{PART}{number}" for number, kind in enumerate(kinds) if kind in boxes}
    texts = [_renamed(modules[name].text, new) for name in below]
    parts = [_head(boxes[kind].interface, name) for kind, name in new.items()]
    return "".join([_head(texts[0], TOP), *texts[1:]]), "".join(parts)


def embedded(netlist: str, module: VerilogModule) -> str:
    """What a tool made of `module`, which was `standalone`, with its own names again.

    All that the module instantiates had an interface.
    """
    old = {f"{PART}{number}": rf"\{kind}" for number, kind in enumerate(_kinds(module))}
    unnamed = {place: number for number, place in _order(_UNNAMED, module.text).items()}
    netlist = _UNNAMED.sub(lambda match: rf"\port${unnamed[match[1]]} ", netlist)
    return _renamed(_head(netlist, rf"\{module.name}"), old)


def own_name(name: str, module: VerilogModule) -> str:
    """The name in `module` of a signal that is called `name` in what a tool made of it."""
    unnamed = _order(_UNNAMED, module.text)
    old = {f"port${place}": f"port${number}" for number, place in unnamed.items()}
    return old.get(name, name)


def places(top: str, modules: Mapping[str, VerilogModule]) -> Iterator[tuple[str, str]]:
    """Every instance below the module `top`, itself included: its path and its module."""

    def walk(path: str, name: str) -> Iterator[tuple[str, str]]:
        yield path, name
        for instance, kind in modules[name].instances:
            if kind in modules:
                yield from walk(f"{path}.{instance}" if path else instance, kind)

    return walk("", top)


def _order(numbered: re.Pattern[str], text: str) -> dict[str, str]:
    """The place of each number among those of names in `text`."""
    numbers = dict.fromkeys(numbered.findall(text))
    return {number: str(place) for place, number in enumerate(numbers)}


def _kinds(module: VerilogModule) -> list[str]:
    return list(dict.fromkeys(kind for _, kind in module.instances))


def _renamed(text: str, new: Mapping[str, str]) -> str:
    """`text` with other kinds of instances."""

    def rename(match: re.Match[str]) -> str:
        kind = _plain(match[1])
        return match[0].replace(match[1], f"{new[kind]} ", 1) if kind in new else match[0]

    return _INSTANCE.sub(rename, text)


def _head(text: str, name: str) -> str:
    first = re.compile(rf"^module {_NAME}", re.MULTILINE)
    return first.sub(lambda _: f"module {name} ", text, count=1)


def _plain(name: str) -> str:
    return name.removeprefix("\\").strip()
