"""Writes a small model as an ONNX file, with an input and calibration data; it only needs onnx.

    python write.py NAME FOLDER

NAME is one of `celosia.lab.exports.catalog`; weights and data are seeded.
"""

import sys
from pathlib import Path

import numpy as np

from celosia.lab.exports.catalog import EXPORTS, Inputs
from celosia.lab.exports.writing.size import STANDARD

TOKENS = 32
SAMPLES = 16


def stacked(samples: list[Inputs]) -> Inputs:
    """Samples along a first axis, as calibration data have them."""
    return {name: np.stack([sample[name] for sample in samples]) for name in samples[0]}


def main(arguments: list[str]) -> int:
    """Write the model that is named; 2 for bad arguments."""
    if len(arguments) != 3 or arguments[1] not in EXPORTS:
        print(f"usage: write.py {' | '.join(EXPORTS)} FOLDER", file=sys.stderr)
        return 2
    export, folder = EXPORTS[arguments[1]], Path(arguments[2])
    folder.mkdir(parents=True, exist_ok=True)
    model = export.build(STANDARD)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    drawn = [export.inputs(STANDARD, seed, tokens=TOKENS) for seed in range(1 + SAMPLES)]
    np.savez(folder / "input.npz", allow_pickle=False, **drawn[0])
    np.savez(folder / "calibration.npz", allow_pickle=False, **stacked(drawn[1:]))
    print(f"{folder}: model.onnx, input.npz and calibration.npz for {TOKENS} tokens")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
