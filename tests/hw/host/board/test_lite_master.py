"""`LiteMaster` against `AxiLiteSlave`: each access once, with its response."""

import random

import pytest
from amaranth import Module

from celosia.hw.host.axi_lite import AxiLiteSlave
from celosia.hw.host.axi_top import HOST_DRIVES, LITE_CHANNELS
from celosia.hw.host.board.lite_master import LiteMaster
from tests.support.streams import simulate


def joined():
    m, master, slave = Module(), LiteMaster(), AxiLiteSlave()
    m.submodules.master, m.submodules.slave = master, slave
    for channel, payload in LITE_CHANNELS.items():
        stream = getattr(slave.port, channel)
        pairs = [("valid", stream.valid), *((n, stream.p[f]) for n, (f, _) in payload.items())]
        for name, theirs in pairs:
            if (port := getattr(master.bus, f"s_axi_{channel}{name}", None)) is not None:
                ours, other = (theirs, port) if channel in HOST_DRIVES else (port, theirs)
                m.d.comb += ours.eq(other)
        ready = getattr(master.bus, f"s_axi_{channel}ready")
        ours, other = (ready, stream.ready) if channel in HOST_DRIVES else (stream.ready, ready)
        m.d.comb += ours.eq(other)
    return m, master, slave


@pytest.mark.parametrize("seed", range(2))
def test_every_access_happens_once(seed):
    m, master, slave = joined()
    rng, log, seen = random.Random(seed), [], []
    accesses = [(rng.randrange(2), rng.randrange(1024), rng.getrandbits(32)) for _ in range(40)]

    async def registers(ctx):
        access = slave.access
        names = ("write", "write_word", "write_data", "write_strobe", "read", "read_word")
        async for _, _, *values in ctx.tick().sample(*(getattr(access, n) for n in names)):
            write, word, data, strobe, read, read_word = values
            if write:
                assert strobe == 0xF
                log.append((1, word, data))
                ctx.set(access.write_error, word & 1)
            if read:
                log.append((0, read_word))
                ctx.set(access.read_error, read_word & 1)
                ctx.set(access.read_data, read_word * 3)

    async def host(ctx):
        for write, word, data in accesses:
            ctx.set(master.access.p, {"write": write, "address": word * 4, "data": data})
            ctx.set(master.access.valid, 1)
            refused, found = (
                await ctx.tick().sample(master.refused, master.data).until(master.access.ready)
            )
            ctx.set(master.access.valid, 0)
            seen.append((refused, None if write else found))
            await ctx.tick().repeat(rng.randrange(1, 4))

    simulate(m, host, background=[registers])
    assert log == [(1, word, data) if write else (0, word) for write, word, data in accesses]
    assert seen == [(word & 1, None if write else word * 3) for write, word, _ in accesses]
