"""Programs that make a unit wait for one cause, for as long as a knob says."""

from tests.support.causes.array import ARRAY
from tests.support.causes.case import CONFIG, Case
from tests.support.causes.commands import COMMANDS
from tests.support.causes.links import LINKS
from tests.support.causes.parts import START
from tests.support.causes.reads import READS
from tests.support.causes.vectors import VECTORS
from tests.support.causes.writes import WRITES

__all__ = ["CASES", "CONFIG", "START", "Case"]

CASES = (*ARRAY, *LINKS, *COMMANDS, *READS, *WRITES, *VECTORS)
