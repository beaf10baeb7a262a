"""An ONNX file as a function of NumPy arrays, computed by the accelerator.

    python call.py FOLDER [SIMULATOR]

FOLDER is one that `write.py` has written.  Prints the outputs, the cycles, and where the cycles
went.
"""

import sys
from pathlib import Path

import numpy as np

import celosia


def main(arguments: list[str]) -> int:
    """Compile the model of a folder, and call it."""
    folder, *simulator = arguments[1:]
    model = celosia.compile(
        Path(folder) / "model.onnx",
        preset="base",
        calibration=Path(folder) / "calibration.npz",
        sizes={"batch": 1, "sequence": 32},
        simulator=simulator[0] if simulator else "verilator",
    )
    with np.load(Path(folder) / "input.npz") as file:
        outputs = model({name: file[name] for name in model.inputs})
    for name, value in outputs.items():
        print(f"{name}: {value.dtype} of {value.shape}, deviation {value.std():.3f}")
    report = model.report()
    cycles = "no clock" if model.cycles is None else f"{model.cycles} cycles"
    print(f"{cycles}, {report['mismatches']} of {report['elements_checked']} wrong")
    for output in report["outputs"]:
        print(f"{output['name']}: {output['sqnr_db']:.1f} dB to float")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
