"""The command line as a user calls it."""

import json
import os

import numpy as np
from typer.testing import CliRunner

from celosia.sim import cli
from tests.support.documents import validate

FAST = ("--preset", "tiny", "--sim", "functional")
MATMUL = ("run", "matmul", *FAST)
SMALL = (*MATMUL, "--shape", "5x6x7")

PROGRAM = """
.preset tiny
.random 0x80001000 16 7
.check 0x80003000 16
config_ld stride=4
config_st stride=4
mvin dram=0x80001000 local=sp[0] local_cols=4 local_rows=4
mvout dram=0x80003000 local=sp[0] local_cols=4 local_rows=4
"""


def invoke(*words, text=None):
    return CliRunner().invoke(cli.app, [str(word) for word in words], input=text)


def right(*words, **more):
    result = invoke(*words, **more)
    assert result.exit_code == 0, result.output
    return result


def refused(message, *words, **more):
    before = sorted(os.listdir())
    result = invoke(*words, **more)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.output
    assert sorted(os.listdir()) == before
    return result


def valid(text):
    document = json.loads(text)
    validate(document)
    return document


def save(**arrays):
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)
