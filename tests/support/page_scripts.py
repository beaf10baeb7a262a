"""Runs scripts of the page under Node, without a browser and without a simulator."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from celosia.sim.web import page
from tests.support.wasm_node import NODE

__all__ = ["SCRIPTS", "evaluated"]

SCRIPTS = Path(page.__file__).parent / "assets"


def evaluated(names: Sequence[str], body: str, given: Any) -> Any:
    """What the body of a function returns, which has what is `given` and these scripts."""
    sources = "\n".join((SCRIPTS / name).read_text() for name in names)
    script = (
        f"{sources}\nconst given = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        f"console.log(JSON.stringify((() => {{ {body} }})()));"
    )
    done = subprocess.run(
        [str(NODE), "-e", script],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)
