"""The architectural state: what configuration commands leave behind for later ones."""

from collections.abc import Callable
from typing import Annotated, Any

from amaranth import Module, Signal
from amaranth.hdl import Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.settings import core_settings, refuse_long_scales
from celosia.hw.decode.transform_configuration import TransformFields, configure_transform
from celosia.hw.gemmini.settings import gemmini_refusals, gemmini_settings
from celosia.hw.lib.component import Component
from celosia.hw.lib.layouts import COMMAND, operands
from celosia.hw.lib.settings import Setting, apply_settings, nested, nested_layout
from celosia.isa import encoding
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct, Instruction
from celosia.isa.registers.errors import Cause

__all__ = ["Configuration", "State"]


def _settings(config: AcceleratorConfig) -> list[Setting]:
    return [*core_settings(config), *gemmini_settings(config)]


class State(data.StructLayout):
    """The fields of `celosia.isa.state.state.ArchState`, as wide as the operands that set them."""

    def __init__(self, config: AcceleratorConfig):
        shapes = {setting.register: setting.shape for setting in _settings(config)}
        super().__init__(nested_layout(shapes).members)


class Configuration(Component):
    """Holds the state, and changes it for every CONFIG and for PRELOAD.

    What a command changes counts from the next cycle on.  A command that breaks a rule changes
    nothing.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, the block stride after reset.

    Members
    -------
    command : ``In(COMMAND)``
        A command.
    apply : ``In(1)``
        `command` takes effect now.
    mine : ``Out(1)``
        `command` configures.
    cause : ``Out(Cause)``
        The rule that it breaks.
    state : ``Out(State(config))``
        The state before `command`.
    """

    command: Annotated[data.View, In(COMMAND)]
    apply: Annotated[Signal, In(1)]
    mine: Annotated[Signal, Out(1)]
    cause: Annotated[Signal, Out(Cause)]
    state: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self.transform = TransformFields(config)
        """What CONFIG_TRANSFORM sets: registers, if the accelerator has a normalization unit."""
        super().__init__({"state": Out(State(config))})

    def elaborate(self, platform) -> Module:
        m = Module()
        settings = _settings(self.config)
        init = {setting.register: setting.init for setting in settings if setting.init}
        self._kept = Signal(State(self.config), init=nested(init))
        m.d.comb += self.state.eq(self._kept)
        change = Signal()
        m.d.comb += change.eq(self.apply & (self.cause == Cause.NONE))
        instructions = dict.fromkeys(setting.instruction for setting in settings)
        with m.Switch(self.command.funct):
            for funct in dict.fromkeys(instruction.funct for instruction in instructions):
                with m.Case(funct):
                    m.d.comb += self.mine.eq(1)
                    forms = [each for each in instructions if each.funct == funct]
                    self._chosen(m, forms, settings, change)
            if self.config.normalization:
                with m.Case(Funct.CONFIG_TRANSFORM):
                    m.d.comb += self.mine.eq(1)
                    transform, config = self.transform, self.config
                    configure_transform(m, config, self.command, change, self.cause, transform)
        return m

    def _chosen(
        self, m: Module, forms: list[Instruction], settings: list[Setting], change: Value
    ) -> None:
        """Obey that one of `forms` which the select field names, if they have one."""
        if not any(field.fixed is not None for each in forms for field in each.fields):
            (form,) = forms
            self._obey(m, form, settings, change)
            return
        with m.Switch(self.command.rs1):
            for form in forms:
                with m.Case(_pattern(form)):
                    self._obey(m, form, settings, change)
            with m.Default():
                m.d.comb += self.cause.eq(Cause.UNSUPPORTED)

    def _obey(self, m: Module, form: Instruction, settings: list[Setting], change: Value) -> None:
        """Set what the command sets, if it is a `form` and breaks no rule."""
        fields = operands(form, self.command)
        refuse_long_scales(m, self.config, form, fields, self.cause)
        refused = [gemmini_refusals(self.config).get(form), _rules(self.config).get(form)]
        for rule in filter(None, refused):
            with m.If(rule(fields)):
                m.d.comb += self.cause.eq(Cause.UNSUPPORTED)
        with m.If(change):
            own = [setting for setting in settings if setting.instruction is form]
            apply_settings(m, own, fields, self._kept)


def _pattern(form: Instruction) -> str:
    """What rs1 of a command of `form` looks like: its fixed bits, and dashes."""
    bits = ["-"] * encoding.WORD_BITS
    for field in form.fields:
        if field.fixed is not None:
            bits[field.low : field.low + field.bits] = f"{field.fixed:0{field.bits}b}"[::-1]
    return "".join(reversed(bits))


def _rules(config: AcceleratorConfig) -> dict[Instruction, Callable[[Any], Value]]:
    """What commands refuse, whatever of Gemmini's is built."""
    rules = {encoding.CONFIG_LD: lambda fields: fields.set >= len(encoding.LOADS)}
    if not config.stores_int16:
        rules[encoding.CONFIG_DRAIN] = lambda fields: fields.int16
    return rules
