"""The steps of GPT-2 small and the prefill of one layer, as runs of their own."""

from dataclasses import replace
from typing import Final

from celosia.lab.survey.parts.jobs import Job
from celosia.sim.workloads.decoder_workload import step_bytes
from celosia.sim.workloads.details import Decoder, DecoderLayer
from celosia.sw.decoding.texts import Text
from celosia.sw.models.decoder_shape import GPT2_SMALL

__all__ = ["CONTEXTS", "PREFILLS", "bytes_of_step", "prefill_job", "step_job"]

CONTEXTS: Final = (128, 1024)
"""Tokens in the caches before the step."""
PREFILLS: Final = (128, 512)
"""Tokens of a text that is read at once."""
_MACS_PER_CYCLE: Final = 256
"""Products that the array of `base` makes in a cycle."""


def bytes_of_step(context: int) -> int:
    """Bytes of weights, keys and values that a token behind `context` others has to read."""
    return step_bytes(GPT2_SMALL, [Text(context)])


def step_job(context: int) -> Job:
    """The run of the whole model for one token behind `context` others, on `base`."""
    details = Decoder(model="gpt2-small", context=str(context), rows=1)
    job = Job(workload="decoder", details=details, array_cycles=1)
    return replace(job, array_cycles=bytes_of_step(context) // job.bytes_per_cycle)


def prefill_job(tokens: int) -> Job:
    """The run of one layer for the first `tokens` tokens of a text, on `base`."""
    details = DecoderLayer(model="gpt2-small", context="0", rows=tokens)
    weights = tokens * GPT2_SMALL.with_layers(1).layer_weights
    attention = tokens * (tokens + 1) * GPT2_SMALL.width
    return Job(
        workload="decoder-layer",
        details=details,
        array_cycles=(weights + attention) // _MACS_PER_CYCLE,
    )
