"""Prints `docs/counters.md`: whose a cycle is, counter by counter."""

from typing import Final

from celosia.isa.documents.markdown import table
from celosia.isa.registers.events import COUNTER_BITS, COUNTERS, TABLES, Table

__all__ = ["counter_page"]

_HEAD: Final = f"""\
# Counters

Printed from `isa/registers/events.py` by `celosia docs`; edit that, not this page. Each counter has
{COUNTER_BITS} bits, is zeroed by `clear_counters`, and is read as a register `COUNTER_NAME`
([registers.md](registers.md)). Cycles with the same owner are added to its counter when they end:
read counters while the accelerator is idle.
"""

_OWNERS: Final = """\
## Whose a cycle is

Each of four units has a table of owners below. Every busy cycle has exactly one owner in each
table: what the unit does, or the one thing that it waits for. So the counters of a table add up to
`cycles`; tests and every simulated run make sure of it. There is no owner for all the rest.
"""

_PRIORITY: Final = """\
## Which cause it is

Where several things stand in the way, one rule decides:

1. What a unit does comes before what it waits for: a beat that arrives is `read_data`, also while
   a row waits for its bank.
2. What stands nearest to the end comes first. A product in the array's path waits for its bank, for
   results on their way to the scratchpad, then for its weights. A load whose row waits for a bank
   waits for that, whatever memory does; only then for memory. A store likewise: for an address or a
   beat on offer, then for the bank of a row, then for requests.
3. Only where a unit's path is empty, the head of its queue counts: it waits for older operations of
   the queues, in the order load, store, execute, transform; the first that it needs is the cause.
4. A cause is followed through one more queue. A product that waits for a load waits for what the
   load path waits for: memory, a bank, a token, or another queue (`wait_load_store`: the product
   waits for a load, which waits for a store). One that waits for a transform waits for its
   function while the transform path has work, else for what the head of the queue of transforms
   waits for.
5. Only where no product is queued, commands count: the next one waits for a place in the full queue
   of its kind, or is a FENCE, or is on its way. Only where there are no commands either, it is
   `drain`.

Memory is *slow to begin* (`read_latency`) or *slow to go on* (`read_bandwidth`). It goes on as soon
as a burst has its first beat, and between bursts for as many cycles as it paused last inside of
one. What it is slow to begin is due to `read_requests` instead if the burst's address was held
back, because as many bursts were in flight as there may be.

What the load and the store path do is known a cycle late, so that causes may begin and end a cycle
later than what they are about.

Of several users of a bank, the one of highest priority is named. Products come first in each bank,
so that rows of A never wait for transforms, stores or loads; what waits for a product does.
"""


def counter_page() -> str:
    """The text of `docs/counters.md`."""
    owners = {owner.name for unit in TABLES for owner in unit.owners}
    rows = [(c.name, c.doc) for c in COUNTERS if c.name not in owners]
    sections = (
        _HEAD,
        table(("counter", "counts"), rows),
        _OWNERS,
        *(_owner_section(unit) for unit in TABLES),
        _PRIORITY,
    )
    return "\n".join(sections)


def _owner_section(unit: Table) -> str:
    rows = [(owner.name, owner.group, owner.doc) for owner in unit.owners]
    return f"### {unit.unit}\n\n" + table(("counter", "group", "counts"), rows)
