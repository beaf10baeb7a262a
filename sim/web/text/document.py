"""All that a page needs to go on with a text: documents, and the bytes that they point into."""

from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.support.progress import Progress, share, silent
from celosia.sim.verilator.wasm.machine import machine
from celosia.sim.web.text.blob import Blob
from celosia.sim.web.text.source import TextSource
from celosia.sim.web.text.steps import steps_document
from celosia.sim.web.text.tables import drafts_document, sampler_document
from celosia.sim.web.text.tokens import tokens_document
from celosia.sim.web.text.written import EXAMPLE, Asked, Written, write
from celosia.sw.decoding.comparison import Comparison
from celosia.sw.decoding.drafts.draft import MOST
from celosia.sw.decoding.session import DecoderSession
from celosia.sw.decoding.steps import session_bytes

__all__ = ["TextPart", "text_part"]

_COMPILED: Final = 0.8
"""The part of the work behind which programs are compiled."""


@dataclass(frozen=True, kw_only=True)
class TextPart:
    """What `generation.js` and its neighbors read."""

    document: dict[str, Any]
    """As JSON."""
    data: bytes
    """What the document's parts are places in."""
    parameters: int
    """How many the model has."""


def text_part(
    source: TextSource,
    config: AcceleratorConfig,
    timing: MemoryTiming,
    asked: Asked = EXAMPLE,
    progress: Progress = silent,
) -> TextPart:
    """The programs of `source` on `config`, and what the native simulator writes as an example.

    All that the example leaves in memory is compared with the integer graph: `DifferenceError` if
    something differs.  Raises `HostWorkError`, `TokenizerFormError` and `ValueError` for a model
    that a page cannot go on with.
    """
    blob, size = Blob(), session_bytes(source.decoder, source.context)
    with closing(VerilatorDevice(config, timing, size, progress)) as device:
        session = DecoderSession(device, source.decoder, source.context, Comparison())
        steps = steps_document(session.steps, blob, share(progress, 0, _COMPILED))
        progress(f"writing behind {asked.prompt!r}", _COMPILED)
        written = write(source, session, asked)
    document = {
        "steps": {**steps, "machine": machine(config, timing, size)},
        "tokens": tokens_document(source.tokenizer),
        "sampler": sampler_document(),
        "drafts": {**drafts_document(source.ngrams, blob), "most": MOST},
        "example": _example(asked, written),
    }
    return TextPart(
        document={**document, "bytes": len(blob.data)},  # When all have added theirs.
        data=bytes(blob.data),
        parameters=source.parameters,
    )


def _example(asked: Asked, written: Written) -> dict[str, Any]:
    return {"asked": asked.document(), "written": written.document()}
