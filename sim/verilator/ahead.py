"""Builds a simulator in a process of its own, while this one prepares what the simulator runs."""

import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator.build import is_built, model_library
from celosia.sim.verilator.build_options import BuildOptions

__all__ = ["built_ahead"]

_PATIENCE: Final = 2
"""Seconds in which a build that is interrupted removes what it has begun."""


@contextmanager
def built_ahead(config: AcceleratorConfig, options: BuildOptions) -> Iterator[None]:
    """Begin to build the simulator of `config`, unless it is in the cache.

    The build goes on behind the block: whoever asks for the simulator then waits until it is in
    the cache.  It ends with a block that raises.  What goes wrong in it is not told here, since
    whoever asks for the simulator meets it again.
    """
    if is_built(config, options):
        yield
        return
    process = get_context("spawn").Process(target=_build, args=(config, options))
    # The process has no handler while it starts: an interrupt waits until it does.
    resource_tracker.ensure_running()  # That lets interrupts through when it starts.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield
    except BaseException:
        # Where Python calls back from C, an interrupt is told and forgotten: then it comes again.
        while process.is_alive() and process.pid is not None:
            os.kill(process.pid, signal.SIGINT)
            process.join(_PATIENCE)
        raise


def _build(config: AcceleratorConfig, options: BuildOptions) -> None:
    """Build the simulator without a word."""
    # Amaranth warns of each part of a design that an interrupt leaves without a use.
    warnings.simplefilter("ignore")
    # A shell starts what runs in its background with interrupts ignored: ours must end the build.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        model_library(config, options)
    except (EnvironmentProblem, KeyboardInterrupt):
        return
