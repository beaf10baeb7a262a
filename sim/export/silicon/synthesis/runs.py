"""A Yosys script for each module of a design, with what it makes of each module cached.

A module is given to Yosys alone, with what it instantiates as black boxes, and the result is cached
under the module's content, the script, the tool's version and the library: so a change does again
what it touched, and modules that are alike are done once.  Scripts that begin alike begin once.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
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
_ONCE: Final = "design -save begun\n"
_APART: Final = "design -load begun\n"
"""What stands behind the beginning, and before each further end: an end changes the design."""


class Unreadable(ValueError):
    """Yosys ended well, and yet did not write what it was to write; the message says what."""


@dataclass(frozen=True)
class _Missing:
    """A module, and the keys of those of its products that are not in the cache."""

    name: str
    text: str
    parts: str
    keys: Mapping[str, str]


@dataclass(frozen=True)
class ModuleScript:
    """What Yosys is to do with a module."""

    yosys: Yosys
    begin: str
    """How the script begins: reads ``module.v`` and, with ``-lib``, ``parts.v``."""
    ends: Mapping[str, str]
    """How it goes on to each product, by the file that this writes; none sees another."""
    files: Mapping[str, str]
    """What else it reads, by name."""
    condense: Callable[[str], str]
    """What to keep of the text of a product; raises `Unreadable` if the text is damaged."""
    at_once: int

    def run(
        self, verilog: str, models: str, tell: Progress
    ) -> tuple[dict[str, VerilogModule], dict[str, dict[str, str]]]:
        """The modules of `verilog`, and `products` of them; `models` are black boxes.

        Raises `EnvironmentProblem` for a module that Yosys refuses, with the end of what it said,
        and when the cache cannot be written.
        """
        modules, boxes = split_modules(verilog), split_modules(models)
        texts = {name: standalone(module, modules | boxes) for name, module in modules.items()}
        return modules, self.products(texts, tell)

    def products(
        self, texts: Mapping[str, tuple[str, str]], tell: Progress
    ) -> dict[str, dict[str, str]]:
        """What is kept of each product, by the name of each of `texts`.

        Those are Verilog whose top is `TOP`, and the black boxes in it.  Raises what `run` raises.
        """
        # Of modules that are alike, the first.
        first = {text: name for name, text in reversed(list(texts.items()))}
        keys = {text: {each: self._key(each, *text) for each in self.ends} for text in first}
        todo = [
            _Missing(name, text, parts, absent)
            for (text, parts), name in first.items()
            if (absent := self._absent(keys[text, parts]))
        ]
        self._do(todo, tell)
        return {
            each: {name: self._kept(each, keys[text][each]) for name, text in texts.items()}
            for each in self.ends
        }

    def _key(self, product: str, text: str, parts: str) -> str:
        script = self.begin + self.ends[product]
        files = [self.files[name] for name in sorted(self.files)]
        return digest([script, self.yosys.identity, *files, text, parts])

    def _absent(self, keys: Mapping[str, str]) -> dict[str, str]:
        """The part of the products' `keys` under which the cache has nothing."""
        return {each: key for each, key in keys.items() if not sound(self._place(each, key))}

    def _do(self, todo: Sequence[_Missing], tell: Progress) -> None:
        order = sorted(todo, key=lambda each: -len(each.text))
        total, done = sum(len(each.text) for each in order), 0
        with tempfile.TemporaryDirectory(prefix="celosia-silicon-") as folder:
            places = {Path(folder, str(number)): each for number, each in enumerate(order)}
            jobs = (self._job(work, each) for work, each in places.items())
            tell(f"mapping {len(order)} modules", 0.0)
            with closing(run_jobs(jobs, self.at_once)) as ended:
                for job in ended:
                    self._keep(job, places[job.work].keys)
                    done += len(places[job.work].text)
                    tell(f"mapping {len(order)} modules, {job.name} is done", done / total)

    def _job(self, work: Path, missing: _Missing) -> Job:
        work.mkdir()
        ends = _APART.join(self.ends[product] for product in missing.keys)
        script = self.begin + (_ONCE if len(missing.keys) > 1 else "") + ends
        own = {"module.v": missing.text, "parts.v": missing.parts, "script.ys": script}
        for file, content in {**own, **self.files}.items():
            (work / file).write_text(content)
        return Job(missing.name, (*self.yosys.command, "-s", "script.ys"), work)

    def _keep(self, job: Job, keys: Mapping[str, str]) -> None:
        """Put what `job` made into the cache: each product complete, or not at all."""
        for product, key in keys.items():
            try:
                kept = self.condense((job.work / product).read_text())
            except (OSError, ValueError) as error:
                raise EnvironmentProblem(
                    f"{job.name}: Yosys ended without saying what it made: {error}"
                ) from None
            cached(self._place(product, key), partial(_written, product, kept))

    def _kept(self, product: str, key: str) -> str:
        path = sound(self._place(product, key))
        assert path is not None, f"{key}: done, but not in the cache"
        return path.read_text()

    def _place(self, product: str, key: str) -> str:
        return f"silicon/{key}{Path(product).suffix}"


def _written(name: str, text: str, work: Path) -> Path:
    made = work / name
    made.write_text(text)
    return made
