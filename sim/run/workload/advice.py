"""A run whose advice is measured: what can be tried on the same accelerator is tried."""

from dataclasses import replace
from typing import Final

from celosia.sim.profile.whatif import Change, asked_changes
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import Outcome, Runner
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.progress import Progress, ignore, silent

__all__ = ["MEASURED_CYCLES", "follow", "run_advised"]

MEASURED_CYCLES: Final = 1_000_000
"""The longest run that is made again for its advice: a second or two on Verilator."""


def run_advised(
    options: RunOptions, tell: Progress = silent, runner: Runner = run_workload
) -> Outcome:
    """Run a workload; if advice was asked for, run it again with each change of memory alone.

    Another memory needs no other simulator, so that what it saves is measured rather than expected.
    That is done on Verilator for runs of at most `MEASURED_CYCLES` whose results are right.  Raises
    what `run_workload` raises.
    """
    outcome = runner(options, tell)
    total = outcome.report.total
    if not options.watching.advice or options.target.simulator != "verilator" or not total.right:
        return outcome
    if total.cycles is None or total.cycles > MEASURED_CYCLES:
        return outcome
    changes = []
    for change in asked_changes(outcome.report.document()):
        if "--set" in change.options:
            changes.append(change)
        else:
            tell(f"measuring {change.what}", None)
            changes.append(_measured(change, total.cycles, follow(options, change), tell, runner))
    return replace(outcome, report=replace(outcome.report, changes=tuple(changes)))


def _measured(
    change: Change, before: int, options: RunOptions, tell: Progress, runner: Runner
) -> Change:
    """What `change` saves of `before` cycles; as it was, if its run shows nothing."""
    total = runner(options, tell).report.total
    if not total.right or total.cycles is None:
        return change
    return replace(change, saved=before - total.cycles, before=before, measured=True)


def follow(options: RunOptions, change: Change) -> RunOptions:
    """`options` with those that `change` names, as on a command line, without advice or log."""
    target = options.target
    words = iter(change.options)
    for word, value in zip(words, words, strict=True):
        match word:
            case "--set":
                target = replace(target, overrides=(*target.overrides, value))
            case "--mem-latency":
                target = replace(target, timing=replace(target.timing, latency=int(value)))
            case "--mem-bytes-per-cycle":
                target = replace(target, timing=replace(target.timing, bytes_per_cycle=int(value)))
            case _:
                raise ValueError(f"{word}: is no option of a change")
    told = replace(options.told, announce=ignore)
    watching = replace(options.watching, advice=False, log=False)
    return replace(options, target=target, watching=watching, told=told)
