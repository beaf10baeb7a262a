"""Figures 9 and 32: how latency grows with the length of the text."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from celosia.lab.survey.parts.analytical import Machine
from celosia.lab.survey.parts.decoding import CONTEXTS, step_job
from celosia.lab.survey.parts.jobs import Job
from celosia.lab.survey.parts.operators import MODELS, layer_operators, one_query
from celosia.lab.survey.parts.products import (
    layer_job,
    layer_products,
    product_job,
    stack_job,
)
from celosia.lab.survey.parts.values import (
    CYCLES,
    PERCENT,
    Evidence,
    Item,
    Scope,
    Study,
    Value,
)
from celosia.sw.reference.encoder import BERT_BASE

__all__ = ["LENGTHS", "STUDIES"]

LENGTHS: Final = (128, 256, 512, 1024, 2048, 4096)
_QUICK_LENGTH: Final = 512
_LONG_LENGTH: Final = 1024
_FIRST: Final = LENGTHS[0]
_STACK: Final = 4
"""Layers that are run one behind the other, to see whether they add up."""
_UNIT: Final = f"times BERT-Base at l = {_FIRST}"
_STEPS: Final = 16
"""Steps of a decoder that are computed, each for those around it."""


def _lengths(scope: Scope) -> Iterator[int]:
    most = _QUICK_LENGTH if scope.quick else LENGTHS[-1] if scope.long else _LONG_LENGTH
    yield from (tokens for tokens in LENGTHS if tokens <= most)


def _models(scope: Scope) -> Iterator[str]:
    yield from ("BERT-Base",) if scope.quick else MODELS


def _layer_jobs(scope: Scope) -> tuple[Job, ...]:
    layers = (
        layer_job(tokens, model=model) for model in _models(scope) for tokens in _lengths(scope)
    )
    others = () if scope.quick else (stack_job(_STACK, _FIRST), *map(step_job, CONTEXTS))
    return (*layers, *others)


def _measured(evidence: Evidence, item: str) -> Iterator[Value]:
    """Our layers on RTL, in cycles, and the growth of whole models beside the survey's."""
    first = evidence.runs.get(layer_job(_FIRST))
    unit = None if first is None else BERT_BASE.layers * first.cycles
    for model, shape in MODELS.items():
        for tokens in LENGTHS:
            job = layer_job(tokens, model=model)
            if (run := evidence.runs.get(job)) is None:
                continue
            name = f"{model} l={tokens}"
            yield evidence.rtl(item, f"{name} cycles of a layer", run.cycles, job, unit=CYCLES)
            if unit is None:
                continue
            yield Value(
                name=f"{name}, RTL",
                paper=evidence.paper.value(item, name),
                ours=shape.layers * run.cycles / unit,
                kind="rtl x layers",
                unit=_UNIT,
                settings=job.settings(),
                netlist=job.netlist,
                note=f"{shape.layers} times one layer, over BERT-Base at l = {_FIRST}",
            )
    if first is not None and unit is not None:
        yield from _stacked(evidence, item, first.cycles)
        yield from _generated(evidence, item, unit)


def _stacked(evidence: Evidence, item: str, layer: int) -> Iterator[Value]:
    """Whether the cycles of layers add up."""
    job = stack_job(_STACK, _FIRST)
    if (run := evidence.runs.get(job)) is not None:
        name = f"BERT-Base l={_FIRST}: {_STACK} layers over {_STACK} times one, percent more"
        yield evidence.rtl(item, name, 100 * (run.cycles / (_STACK * layer) - 1), job, unit=PERCENT)


def _generated(evidence: Evidence, item: str, unit: int) -> Iterator[Value]:
    """GPT-2 making all tokens of a text, by its steps at two contexts."""
    jobs = tuple(map(step_job, CONTEXTS))
    if any(job not in evidence.runs for job in jobs):
        return
    low, high = (evidence.runs[job].cycles for job in jobs)
    slope = (high - low) / (CONTEXTS[1] - CONTEXTS[0])
    for tokens in (length for length in LENGTHS if length <= CONTEXTS[-1]):
        mean = low + slope * ((tokens - 1) / 2 - CONTEXTS[0])
        yield Value(
            name=f"GPT-2 l={tokens}, RTL",
            paper=evidence.paper.value(item, f"GPT-2 l={tokens}"),
            ours=tokens * mean / unit,
            kind="rtl x layers",
            unit=_UNIT,
            settings=jobs[-1].settings(),
            netlist=jobs[-1].netlist,
            note=f"{tokens} steps on the straight line through those behind {CONTEXTS[0]} and "
            f"{CONTEXTS[1]:,} tokens, the product with the vocabulary included",
        )


def _profile(evidence: Evidence) -> Item:
    return Item(
        id="fig9",
        title="Figure 9: latency over length, on a processor and on Celosia",
        where=evidence.paper.where("fig9"),
        values=tuple(_measured(evidence, "fig9")),
        notes=(
            "The survey profiles a processor with libraries that it does not name; nobody can run "
            "that again. Beside it stand layers and steps on our RTL.",
        ),
        missing=_left_out(evidence.scope),
    )


def _left_out(scope: Scope) -> str:
    if scope.quick:
        return f"--quick runs BERT-Base alone, up to l = {_QUICK_LENGTH}"
    return "" if scope.long else f"without --long no layer of more than {_LONG_LENGTH:,} tokens"


@cache
def _decoder_cycles(machine: Machine, tokens: int, serial: bool) -> float:
    """Cycles in which a GPT-2 makes `tokens` tokens, one after the other."""
    step = tokens // _STEPS
    total = 0.0
    for context in range(step // 2, tokens, step):
        layer = one_query(layer_operators(BERT_BASE, context), context)
        total += step * machine.model_cycles(BERT_BASE, layer, serial=serial)
    return total


def _modeled(evidence: Evidence) -> Iterator[Value]:
    machine = Machine.of(evidence.paper.tables["machine"])
    for serial in (False, True):
        unit = machine.model_cycles(BERT_BASE, layer_operators(BERT_BASE, _FIRST), serial=serial)
        suffix = ", L2 filled first" if serial else ""
        for model in (*MODELS, "GPT-2"):
            for tokens in LENGTHS:
                if model == "GPT-2":
                    cycles = _decoder_cycles(machine, tokens, serial)
                else:
                    shape = MODELS[model]
                    layer = layer_operators(shape, tokens)
                    cycles = machine.model_cycles(shape, layer, serial=serial)
                yield _beside(evidence, f"{model} l={tokens}", suffix, cycles / unit)


def _beside(evidence: Evidence, name: str, suffix: str, ours: float) -> Value:
    printed = evidence.paper.printed("fig32", name)
    assert printed is not None
    inside = printed.holds(ours, 0.1)
    return Value(
        name=name + suffix,
        paper=printed.value,
        ours=ours,
        kind="model",
        unit=_UNIT,
        settings={"overlap": "scratchpad only" if suffix else "all"},
        note="" if inside else "outside of the rounding interval widened by 10 %",
    )


def _errors(evidence: Evidence) -> Iterator[Value]:
    """The analytical model's error of single products, against RTL of the same sizes."""
    machine = Machine.of(evidence.paper.tables["machine"])
    for tokens in LENGTHS:
        operators = {op.name: op for op in layer_operators(BERT_BASE, tokens)}
        for product in layer_products(tokens):
            job = product_job(product)
            op = operators[product.operator]
            if (run := evidence.runs.get(job)) is None:
                continue
            cycles = machine.cost(op).cycles / getattr(op, "count", 1)
            yield Value(
                name=f"l={tokens} {product.operator}: error of the analytical model, percent",
                ours=100 * (cycles / run.cycles - 1),
                kind="model",
                unit=PERCENT,
                settings=job.settings(),
                netlist=job.netlist,
                note=f"{cycles:,.0f} cycles instead of {run.cycles:,}",
            )


def _analytical(evidence: Evidence) -> Item:
    return Item(
        id="fig32",
        title="Figure 32: latency over length by the analytical model",
        where=evidence.paper.where("fig32"),
        values=(*_modeled(evidence), *_measured(evidence, "fig32"), *_errors(evidence)),
        notes=(
            "As written, an operator takes the longest of computing, DRAM and L2. GPT-2 comes out "
            "too fast by a fifth then. If only the scratchpad has two buffers, so that L2 is "
            "filled before an operator, all three models agree: this assumption, or one of the "
            "same effect, is missing.",
            "Passes of the vector unit (softmax 3, LayerNorm 2) and tiles are not in the survey.",
            "The error is against products from memory to memory on the RTL. The model has neither "
            "start nor end, and writes scores as int32, where the product that is run requantizes "
            "them.",
        ),
    )


def _analytical_jobs(scope: Scope) -> tuple[Job, ...]:
    lengths = (_QUICK_LENGTH,) if scope.quick else _lengths(scope)
    products = (product for tokens in lengths for product in layer_products(tokens))
    return (*_layer_jobs(scope), *map(product_job, products))


STUDIES: Final = (
    Study(id="fig9", jobs=_layer_jobs, make=_profile),
    Study(id="fig32", jobs=_analytical_jobs, make=_analytical),
)
