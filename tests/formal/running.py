"""What is done with a proof: it holds, its covers are reached, its planted fault breaks it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.prover import Proof, planted, prove, prove_and_reach

__all__ = ["proof_tests"]


def proof_tests(proofs: Sequence[Proof]) -> tuple[Callable[..., None], ...]:
    """The tests of a module: of what its `proofs` say, and that each of them can fail.

    The third finds the place of each planted fault, with the tests that always run.
    """

    def holds(proof: Proof, tmp_path: Path) -> None:
        assert prove_and_reach(proof, tmp_path) == ("", [])

    def notices(proof: Proof, tmp_path: Path) -> None:
        with planted(proof.fault):
            assert prove(proof, tmp_path)

    def stands(proof: Proof) -> None:
        with planted(proof.fault):
            pass

    each = pytest.mark.parametrize("proof", proofs, ids=lambda proof: proof.name)
    return pytest.mark.formal(each(holds)), pytest.mark.nightly(each(notices)), each(stands)
