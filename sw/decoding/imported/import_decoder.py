"""ONNX files to the weights of a decoder."""

from pathlib import Path

from celosia.sw.decoding.imported.match import match_decoder
from celosia.sw.decoding.imported.problem import DecoderProblem
from celosia.sw.decoding.imported.read import read_decoder
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.reference.language.decoder import DecoderWeights

__all__ = ["import_decoder"]


def import_decoder(path: Path, length: int) -> DecoderWeights:
    """The decoder in the file at `path`, for texts of up to `length` tokens, at least 2.

    Raises `DecoderProblem` that names the file, the node and the reason.
    """
    try:
        return match_decoder(read_decoder(path, length))
    except ImportProblem as error:  # It names the file.
        raise DecoderProblem(str(error)) from None
    except DecoderProblem as error:
        raise DecoderProblem(f"{path}: {error}") from None
