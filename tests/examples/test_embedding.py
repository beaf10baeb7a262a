"""The design of `examples/embedding` computes a product."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_its_simulation_is_right():
    script = ROOT / "examples" / "embedding" / "system.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("6x5x10 product: right, ")
    assert not done.stderr


def test_the_wrapper_is_as_short_as_the_readme_says():
    lines = (ROOT / "examples" / "embedding" / "engine.py").read_text().splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("    def __init__"))
    assert len([line for line in lines[start:] if line.strip()]) <= 22
