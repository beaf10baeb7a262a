"""What waits for a bank that products use."""

from tests.support.causes.case import Case, Program
from tests.support.causes.parts import DIM, FIRST, ONE, TWO, acc, product

__all__ = ["crowded"]


def crowded(
    name: str,
    unit: str,
    work: Program,
    *,
    results: tuple[int, int] = (20, 50),
    weights: tuple[int, int] = (3, 10),
) -> tuple[Case, ...]:
    """`work` of `unit` on rows from `TWO + FAR` on, beside each use that products make of a bank.

    `results` and `weights` are the knobs of two of these cases.
    """
    return (
        Case(
            name=f"{name} in the bank of results",
            program=lambda n: [*FIRST, *product(0, TWO, n), *work],
            grows={f"{unit}_bank_results": 1},
            knob=results,
        ),
        Case(
            name=f"{name} in the bank of weights",
            program=lambda n: [*work, *product(0, acc(0), w=TWO) * n],
            grows={f"{unit}_bank_weights": DIM},
            knob=weights,
        ),
        Case(
            name=f"{name} in the bank of A",
            program=lambda n: [*product(TWO, acc(0), n, w=ONE), *work],
            grows={f"{unit}_bank_operands": 1},
        ),
    )
