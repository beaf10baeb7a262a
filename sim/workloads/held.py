"""Models that travel with the work that needs them, to workers that do not have their files."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.cache import digest
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Details, HeldModel
from celosia.sim.workloads.jobs import job_of
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sim.workloads.models.saved_model import save_prepared

__all__ = ["held"]


def held(
    name: str,
    details: Details | None,
    hardware: tuple[AcceleratorConfig, MemoryTiming],
    tell: Progress,
) -> HeldModel:
    """The model in the file `name`, quantized, with the inputs that a run takes, if there are any.

    Raises `InputError` for what is no model, or inputs that do not fit.
    """
    job = job_of(name, details, hardware, tell)
    assert isinstance(job, ModelJob)
    model, inputs = BytesIO(), BytesIO()
    save_prepared([job.prepared], model)
    if job.given is not None:
        given: dict[str, Any] = {**job.given}
        np.savez(inputs, **given)
    parts = model.getvalue(), inputs.getvalue()
    return HeldModel(digest=digest([Path(name).name, *parts]), model=parts[0], inputs=parts[1])
