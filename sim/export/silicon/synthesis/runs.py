"""A Yosys script for each module of a design, with what it makes of each module cached.

A module is given to Yosys alone, with what it instantiates as black boxes, and the result is cached
under the module's content, the script, the tool's version and the library: so a change does again
what it touched, and modules that are alike are done once.
"""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.sim.export.silicon.synthesis.jobs import Job, run_jobs
from celosia.sim.export.silicon.synthesis.modules import (
    TOP,
    VerilogModule,
    split_modules,
    standalone,
)
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.cache import cached, digest, sound
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress

__all__ = ["READ_MODULE", "ModuleScript", "Unreadable"]

READ_MODULE: Final = f"""\
read_verilog module.v
read_verilog -lib parts.v
hierarchy -check -top {TOP}
proc -norom
synth -top {TOP} -run begin:fine -nordff
opt -fast -full
"""
"""What each script begins with: the module in the words of Yosys' own cells, memories as such."""


class Unreadable(ValueError):
    """Yosys ended well, and yet did not write what it was to write; the message says what."""


@dataclass(frozen=True)
class ModuleScript:
    """What Yosys is to do with a module."""

    yosys: Yosys
    text: str
    """The script: reads ``module.v`` and, with ``-lib``, ``parts.v``."""
    files: Mapping[str, str]
    """What else it reads, by name."""
    product: str
    """The file that it writes."""
    condense: Callable[[str], str]
    """What to keep of the text of that file; raises `Unreadable` if the text is damaged."""
    at_once: int

    def run(
        self, verilog: str, models: str, tell: Progress
    ) -> tuple[dict[str, VerilogModule], dict[str, str]]:
        """The modules of `verilog`, and what is kept of each; `models` are black boxes.

        Raises `EnvironmentProblem` for a module that Yosys refuses, with the end of what it said,
        and when the cache cannot be written.
        """
        modules, boxes = split_modules(verilog), split_modules(models)
        texts = {name: standalone(module, modules | boxes) for name, module in modules.items()}
        return modules, self.products(texts, tell)

    def products(self, texts: Mapping[str, tuple[str, str]], tell: Progress) -> dict[str, str]:
        """What is kept of each of `texts`: Verilog whose top is `TOP`, and the black boxes in it.

        Raises what `run` raises.
        """
        keys = {name: self._key(*text) for name, text in texts.items()}
        # Of modules that are alike, the first.
        todo = {key: name for name, key in reversed(keys.items()) if not sound(self._place(key))}
        self._do({key: (name, *texts[name]) for key, name in todo.items()}, tell)
        return {name: self._kept(key) for name, key in keys.items()}

    def _key(self, text: str, parts: str) -> str:
        files = [self.files[name] for name in sorted(self.files)]
        return digest([self.text, self.yosys.identity, *files, text, parts])

    def _do(self, todo: Mapping[str, tuple[str, str, str]], tell: Progress) -> None:
        sizes = {key: len(text) for key, (_, text, _) in todo.items()}
        order = sorted(sizes, key=lambda key: -sizes[key])
        total, done = sum(sizes.values()), 0
        with tempfile.TemporaryDirectory(prefix="celosia-silicon-") as folder:
            jobs = (self._job(key, *todo[key], Path(folder)) for key in order)
            tell(f"mapping {len(order)} modules", 0.0)
            with closing(run_jobs(jobs, self.at_once)) as ended:
                for job in ended:
                    self._keep(job)
                    done += sizes[job.work.name]
                    tell(f"mapping {len(order)} modules, {job.name} is done", done / total)

    def _job(self, key: str, name: str, text: str, parts: str, folder: Path) -> Job:
        work = folder / key
        work.mkdir()
        own = {"module.v": text, "parts.v": parts, "script.ys": self.text}
        for file, content in {**own, **self.files}.items():
            (work / file).write_text(content)
        return Job(name, (*self.yosys.command, "-s", "script.ys"), work)

    def _keep(self, job: Job) -> None:
        """Put what `job` made into the cache: complete, or not at all."""
        try:
            kept = self.condense((job.work / self.product).read_text())
        except (OSError, ValueError) as error:
            raise EnvironmentProblem(
                f"{job.name}: Yosys ended without saying what it made: {error}"
            ) from None

        def make(work: Path) -> Path:
            made = work / self.product
            made.write_text(kept)
            return made

        cached(self._place(job.work.name), make)

    def _kept(self, key: str) -> str:
        path = sound(self._place(key))
        assert path is not None, f"{key}: done, but not in the cache"
        return path.read_text()

    def _place(self, key: str) -> str:
        return f"silicon/{key}{Path(self.product).suffix}"
