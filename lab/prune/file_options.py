"""What says how an ONNX file is pruned, beside what every model needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from celosia.sim.command.options.model import CalibrateOption, FixedOption, SizesOption
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.prepare import Sizes, parse_fixed, parse_sizes

__all__ = ["FileOptions", "file_options"]


@dataclass(frozen=True)
class FileOptions:
    """The inputs of a file's model."""

    sizes: Sizes = field(default_factory=dict)
    calibration: Path | None = None
    """An .npz file of samples."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """The number of each input that is a constant, as text."""

    def check_none(self, model: str) -> None:
        """Raise `InputError` if any is given for a model that is no file."""
        given = {
            "--dim": self.sizes,
            "--calibrate": self.calibration,
            "--set-input": self.fixed,
        }
        for option, value in given.items():
            if value:
                raise InputError(f"{option}: is of ONNX files; {model} has its own inputs")


def file_options(
    *,
    sizes: SizesOption = None,
    calibrate: CalibrateOption = None,
    fixed: FixedOption = None,
) -> FileOptions:
    """The options of a file.  Raises `InputError`."""
    return FileOptions(parse_sizes(sizes or ()), calibrate, parse_fixed(fixed or ()))
