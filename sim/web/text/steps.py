"""What a host does for steps of one text on a device, as data that any language can follow.

Programs are those of `celosia.sw.decoding.steps.Steps`: for each number of rows and for lengths of
64 tokens, with the words that are patched for a length.  Beside them stand the bytes that are
written to device memory: once before the first step, and before each one.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import RING_ENTRY, pack_ring
from celosia.isa.memory import MEMORY_BASE
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.support.progress import Progress, silent
from celosia.sim.web.text.blob import Blob
from celosia.sw.decoding.bucket import Bucket
from celosia.sw.decoding.decoder import DecoderStep
from celosia.sw.decoding.step_graph import TOKENS
from celosia.sw.decoding.steps import BUCKET, ROWS, StepPrograms, Steps, blank_cache
from celosia.sw.decoding.texts import Text
from celosia.sw.driver.buffers import POISON
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph_interpret import Array
from celosia.sw.quantize.units.segments import Segment

__all__ = ["HostWorkError", "image_of", "steps_document"]

_OPERANDS: Final = {"rs1": RING_ENTRY.size - 16, "rs2": RING_ENTRY.size - 8}
"""Where the operands of a command are in its entry."""


class HostWorkError(ValueError):
    """A decoder of which the host computes more than a page can."""


class _Noted(FunctionalDevice):
    """A device that notes what is written to its memory."""

    def __init__(self, config: AcceleratorConfig, memory_bytes: int):
        super().__init__(config, memory_bytes=memory_bytes)
        self.writes: list[tuple[int, int]] = []
        """Where, behind the base, and how many bytes."""

    def write(self, address: int, data: bytes) -> None:
        """What the device does."""
        super().write(address, data)
        self.writes.append((address - MEMORY_BASE, len(data)))


def image_of(steps: Steps) -> bytes:
    """Device memory from its base on before the first step: constants, and caches of no text."""
    (bucket,) = _programs(steps, 1, 0).buckets
    compiled, memory = bucket.compiled, _Noted(steps.device.config, steps.device.memory_bytes)
    GraphRun(memory, compiled).load_constants()
    for name, tensor in compiled.graph.tensors.items():
        if tensor.cache:
            memory.write(compiled.addresses[name], blank_cache(compiled, name).tobytes())
    return memory.read(MEMORY_BASE, memory.memory_bytes)


def steps_document(steps: Steps, blob: Blob, progress: Progress = silent) -> dict[str, Any]:
    """The JSON document of a session of one text on `steps`, whose bytes are in `blob`.

    Raises `HostWorkError` for a decoder of which the host computes anything but its embeddings,
    and `ValueError` as `Steps.programs` does.
    """
    kinds = [
        (1 << power, first)
        for power in range(ROWS.bit_length())
        for first in range(0, steps.context, BUCKET)
    ]
    programs = []
    for number, (rows, first) in enumerate(kinds):
        progress(f"compiling steps of {rows} rows behind {first} tokens", number / len(kinds))
        found = _programs(steps, rows, first)
        programs.append({"rows": rows, "first": first, **_program(found, blob)})
    usual = _programs(steps, 1, 0)
    form = next(iter(usual.step.model.segments[0].outputs.values()))
    logits = usual.step.model.formats[form]
    return {
        "context": steps.context,
        "vocabulary": steps.model.vocabulary,
        "rows": ROWS,
        "bucket": BUCKET,
        "poison": POISON,
        "image": blob.add(image_of(steps)),
        "tables": _tables(steps, usual.step, blob),
        "programs": programs,
        "logits": {"step": logits.step, "zeroPoint": logits.zero_point, "type": logits.type},
        "bytes": _bytes(usual.step),
    }


def _programs(steps: Steps, rows: int, first: int) -> StepPrograms:
    """The programs of a step, of which there is one: the host computes embeddings, and that is it.

    Raises `HostWorkError` where it computes more.
    """
    found = steps.programs(1, rows, first)
    model = found.step.model
    before, *behind = model.host
    gathers = [node.inputs for node in before if node.op == "gather" and node.inputs[1] == TOKENS]
    alone = len(model.segments) == len(gathers) == len(before) == 1 and not any(behind)
    if not alone or model.segments[0].given or steps.rings:
        raise HostWorkError(f"{steps.model.graph.name}: the host computes more than embeddings")
    return found


def _program(found: StepPrograms, blob: Blob) -> dict[str, Any]:
    """A program with what is patched in it, and what is written to memory before it."""
    (bucket,), (segment,) = found.buckets, found.step.model.segments
    compiled = bucket.compiled
    inputs = {form.key: _offset(bucket, name) for name, form in segment.inputs.items()}
    (name,) = segment.outputs
    out = compiled.graph.tensors[name]
    return {
        "commands": blob.add(pack_ring(compiled.program)),
        "length": bucket.places[0].context,
        "patches": _patches(bucket),
        "poisoned": [each for each in _writes(bucket) if each[0] not in inputs.values()],
        "inputs": inputs,
        "logits": (_offset(bucket, name), out.bytes // out.rows),
    }


def _writes(bucket: Bucket) -> list[tuple[int, int]]:
    """Where a host writes before a step, and how many bytes."""
    compiled = bucket.compiled
    memory = _Noted(compiled.config, compiled.end - MEMORY_BASE)
    tensors = {name: compiled.graph.tensors[name] for name in compiled.graph.inputs}
    inputs = {n: np.zeros(each.shape, each.type) for n, each in tensors.items() if not each.cache}
    GraphRun(memory, compiled).load_step(inputs)
    return memory.writes


def _patches(bucket: Bucket) -> list[tuple[int, str]]:
    """The places of the words that a token more changes, and by how much; they have 64 bits."""
    return [
        (RING_ENTRY.size * patch.entry + _OPERANDS[patch.operand], str(patch.token))
        for patch in bucket.patches
        if patch.token
    ]


def _offset(bucket: Bucket, name: str) -> int:
    return bucket.compiled.addresses[name] - MEMORY_BASE


def _tables(steps: Steps, step: DecoderStep, blob: Blob) -> dict[str, Any]:
    """What the rows of inputs are taken from: by tokens, or by places of the text."""
    (segment,) = step.model.segments
    found = {}
    for by, rows in (
        ("token", _embeddings(step, segment)),
        ("place", _of_places(steps, step, segment)),
    ):
        for key, table in rows.items():
            data = np.ascontiguousarray(table.astype(table.dtype.newbyteorder("<")))
            found[key] = {"by": by, "rows": blob.add(data.tobytes()), "bytes": data[0].nbytes}
    return found


def _embeddings(step: DecoderStep, segment: Segment) -> Mapping[str, Array]:
    """The integers of each token's embedding."""
    model = step.model
    ((gather,), *_) = model.host
    (form,) = (
        each for each in segment.inputs.values() if model.values[each.key].tensor == gather.name
    )
    found, _ = model.formats[form].integers(model.constants[gather.inputs[0]])
    return {form.key: found}


def _of_places(steps: Steps, step: DecoderStep, segment: Segment) -> Mapping[str, Array]:
    """The integers of what depends on places alone, for each place that a step may have."""
    places = Text(0, steps.context + ROWS)
    found = step.tables(segment, [places])
    return {segment.inputs[name].key: table for name, table in found.items()}


def _bytes(step: DecoderStep) -> dict[str, int]:
    """What a step has to read of memory: fixed bytes, and some for each key."""
    least, more = (step.least_bytes([Text(context)]) for context in (0, 1))
    return {"fixed": least - (more - least), "key": more - least}
