"""Steps on a device that are compared with the integer graph; a difference ends the command."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from celosia.sim.command.options.report import CheckChoice
from celosia.sim.support.display import progress_bar
from celosia.sim.support.guard import WRONG
from celosia.sim.support.problems import InputError
from celosia.sw.decoding.comparison import Comparison, DifferenceError
from celosia.sw.decoding.decoder import Decoder
from celosia.sw.decoding.steps import SegmentRun, Steps
from celosia.sw.decoding.texts import Place
from celosia.sw.driver.device import Device, DeviceError

__all__ = ["CheckedSteps"]


class CheckedSteps:
    """Steps of texts in as many `slots` of `device`."""

    def __init__(
        self, device: Device, model: Decoder, context: int, check: CheckChoice, slots: int = 1
    ):
        self._comparison = Comparison(outputs=check is CheckChoice.OUTPUTS)
        self._check = check
        self.steps = Steps(device, model, context, slots, self._behind)
        self.last: SegmentRun | None = None
        """The program that ran last."""

    def _behind(self, ran: SegmentRun) -> None:
        self.last = ran
        if self._check is not CheckChoice.NONE:
            self._comparison(ran)

    @property
    def elements(self) -> int:
        """Elements that were compared so far."""
        return self._comparison.elements

    @property
    def compared(self) -> str:
        """What was compared, in a sentence."""
        what = "of the outputs" if self._comparison.outputs else "in memory"
        if not self.elements:
            return "nothing was compared with the integer graph"
        return f"0 of {self.elements:,} elements {what} differ from the integer graph"

    def prepare(self, places: Sequence[Place], tokens: int) -> None:
        """Compile the programs of a step.

        Raises `InputError` for an accelerator that cannot run them.
        """
        with progress_bar() as tell:
            tell("compiling the first steps", None)
            try:
                self.steps.prepare(places, tokens)
            except ValueError as error:
                raise InputError(str(error)) from None

    @contextmanager
    def ending(self) -> Iterator[None]:
        """End the command with exit code 1 if the device stops, or computes something else."""
        try:
            yield
        except (DeviceError, DifferenceError) as error:
            typer.echo(f"\ncelosia: {error}", err=True)
            raise typer.Exit(WRONG) from None
