"""What is done with a proof: it holds, its covers are reached, and its planted fault breaks it."""

from pathlib import Path

from tests.support.prover import Proof, missed, planted, prove

__all__ = ["check", "check_fault"]


def check(proof: Proof, work: Path) -> None:
    """The proof holds, and is about something that can happen."""
    assert prove(proof, work) == ""
    assert missed(proof, work) == []


def check_fault(proof: Proof, work: Path) -> None:
    """The proof notices a fault."""
    with planted(proof.fault):
        assert prove(proof, work)
