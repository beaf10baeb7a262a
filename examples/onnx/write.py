"""Writes a small model as an ONNX file, with an input and calibration data; it only needs onnx.

    python write.py NAME FOLDER [SIZE=N ...]

NAME is one of `celosia.lab.exports.catalog`, SIZE a field of its `Size`, such as width or layers,
or tokens, or samples, those of the calibration; weights and data are seeded.
"""

import sys
from dataclasses import replace
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
    try:
        name, folder = arguments[1], Path(arguments[2])
        export = EXPORTS[name]
        sizes = {key: int(number) for key, number in (each.split("=") for each in arguments[3:])}
        tokens, samples = sizes.pop("tokens", TOKENS), sizes.pop("samples", SAMPLES)
        size = replace(STANDARD, **sizes)
    except (IndexError, KeyError, ValueError, TypeError):
        print(f"usage: write.py {' | '.join(EXPORTS)} FOLDER [SIZE=N ...]", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(export.build(size).SerializeToString())
    drawn = [export.inputs(size, seed, tokens=tokens) for seed in range(1 + samples)]
    np.savez(folder / "input.npz", allow_pickle=False, **drawn[0])
    np.savez(folder / "calibration.npz", allow_pickle=False, **stacked(drawn[1:]))
    print(f"{folder}: model.onnx, input.npz and calibration.npz for {tokens} tokens")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
