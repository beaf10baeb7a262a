"""Products that are run one after the other, on one device that is closed behind them."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.devices.devices import open_device
from celosia.sim.run import product_run
from celosia.sim.run.options.given_plans import GivenPlan
from celosia.sim.run.options.options import (
    Check,
    Compiling,
    RunOptions,
    Target,
    Told,
    Watching,
)
from celosia.sim.run.product_run import run_products
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.jobs import ProductJob
from celosia.sim.workloads.operands import random_operands
from celosia.sim.workloads.product_workloads import Operator
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.forms.text import print_plan
from celosia.sw.planning.problems import graph_of

TARGET = Target(simulator="functional", preset="tiny")
TWO = tuple(
    Operator(name, random_operands(MatMul(m=m, n=6, k=7), 0))
    for name, m in (("first", 5), ("second", 3))
)


class Openings:
    """An opener that keeps what it opens."""

    def __init__(self, *, broken: bool = False):
        self.devices: list[Any] = []
        self.closed, self.broken = 0, broken

    def __call__(self, name, config, timing, memory_bytes, *, progress):
        device: Any = open_device(name, config, timing, memory_bytes, progress)
        close = device.close

        def closing():
            self.closed += 1
            close()

        device.close = closing
        if self.broken:
            device.run = lambda *_, **__: 1 / 0
        self.devices.append((name, config, memory_bytes))
        return device


def ran(check: Check = "all", openings=None, **more):
    told = []
    options = RunOptions(workload="m", target=TARGET, watching=Watching(check=check), **more)
    outcome = run_products(
        ProductJob(TWO),
        options,
        lambda text, share: told.append(text),
        openings or Openings(),
        time.perf_counter() - 100,
    )
    return outcome, told


def test_all_products_are_measured_on_one_device():
    openings = Openings()
    outcome, told = ran(openings=openings)
    report = outcome.report
    assert [each.name for each in report.operators] == ["first", "second"]
    assert [each.mismatches for each in report.operators] == [0, 0]
    assert [each.elements_checked for each in report.operators] == [5 * 6, 3 * 6]
    assert [each.macs for each in report.operators] == [5 * 6 * 7, 3 * 6 * 7]
    assert 100 <= report.elapsed_seconds < 200
    assert openings.devices == [("functional", PRESETS["tiny"], 1 << 20)]
    assert openings.closed == 1
    assert any("first" in text for text in told)
    assert any("second" in text for text in told)
    assert report.rounded_scales is None
    assert report.setting.preset == "tiny"


def test_the_result_is_the_last_products():
    outcome, _ = ran()
    operands = TWO[1].operands
    wanted = operands.a.astype(int) @ operands.b.astype(int)
    np.testing.assert_array_equal(outcome.result, wanted)


def test_nothing_is_compared_where_nothing_is_asked():
    outcome, _ = ran("none")
    assert [each.mismatches for each in outcome.report.operators] == [None, None]
    assert [each.elements_checked for each in outcome.report.operators] == [0, 0]
    assert outcome.report.setting.check == "none"


def test_the_device_is_closed_whatever_happens():
    openings = Openings(broken=True)
    with pytest.raises(ZeroDivisionError):
        ran(openings=openings)
    assert openings.closed == 1


def test_how_long_it_takes_is_said_before_anything_is_opened(monkeypatch):
    said = []
    monkeypatch.setattr(
        product_run,
        "announce_products",
        lambda say, sim, problems, *_: say(f"{sim} {len(problems)}") or 0,
    )
    options = RunOptions(workload="m", target=TARGET, told=Told(announce=said.append))

    def opener(*_, **__):
        said.append("opened")
        raise ValueError("no such device")

    with pytest.raises(InputError, match="no such device"):
        run_products(ProductJob(TWO), options, lambda *_: None, opener, 0.0)
    assert said == ["functional 2", "opened"]


def test_scales_that_were_rounded_are_in_the_report():
    scaled = Operator("s", random_operands(MatMul(m=5, n=6, k=7, scale=0.1), 0))
    target = replace(TARGET, overrides=("scale_bits=12",))
    options = RunOptions(workload="m", target=target)
    outcome = run_products(ProductJob((scaled,)), options, lambda *_: None, open_device, 0.0)
    assert outcome.report.rounded_scales is not None


def test_each_product_takes_the_plan_of_its_name(tmp_path):
    graphs = [graph_of(each.name, each.operands.problem) for each in TWO]
    plans = [find_plan(graph, PRESETS["tiny"], TARGET.timing) for graph in graphs]
    path = tmp_path / "plans.toml"
    given = Compiling(given=GivenPlan(plan=str(path)))
    path.write_text("\n".join(print_plan(plan) for plan in plans))
    outcome, _ = ran(compiling=given)
    assert [each.mismatches for each in outcome.report.operators] == [0, 0]
    path.write_text(print_plan(replace(plans[0], graph="third")))
    with pytest.raises(InputError, match="'third' is none of 'first', 'second'"):
        ran(compiling=given)
