"""The example writes a model without torch, and calls it from Python."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples" / "onnx"


def run(script, *arguments):
    command = [sys.executable, FOLDER / script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_model_that_is_written_can_be_called(tmp_path):
    small = ("layers=1", "width=64", "heads=2", "hidden=128")
    written = run("write.py", "bert-17", tmp_path / "bert", *small)
    assert written.returncode == 0, written.stderr
    called = run("call.py", tmp_path / "bert", "functional")
    assert called.returncode == 0, called.stderr
    assert "last_hidden_state: float32 of (1, 32, 64)" in called.stdout
    assert "\nno clock, 0 of 30720 wrong\n" in called.stdout


def test_a_name_that_is_not_known_is_refused(tmp_path):
    written = run("write.py", "bert-12", tmp_path / "bert")
    assert written.returncode == 2
    assert "usage: write.py bert-13 | bert-17" in written.stderr
    assert not list(tmp_path.iterdir())
