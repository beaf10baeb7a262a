"""Plans survive as text; illegal ones are refused with the rule that they break."""

import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, settings

from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import Activation, Requantize, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.forms.plan import RingPlan, only_stage
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.forms.text import parse_plan, print_plan
from celosia.sw.planning.rules.verify import PlanError, machine_of, verify_plan
from tests.sw.scheduling.products import product_graph
from tests.sw.scheduling.test_product import works

CONFIG = resolve_config("base")
GRAPH, _ = product_graph(MatMul(m=200, n=300, k=100, bias=True, scale=0.01))
PLAN = decide(GRAPH, CONFIG)
(STAGE,) = PLAN.stages
assert isinstance(STAGE, LinearStage)
TALL = replace(product_graph(MatMul(m=5000, n=300, k=100, bias=True))[0], name="tall")


@settings(max_examples=40)
@given(works())
def test_a_plan_reads_back_as_it_was(work):
    config, problem, _ = work
    plan = decide(product_graph(problem)[0], config)
    text = print_plan(plan)
    assert parse_plan(text) == plan
    assert print_plan(parse_plan(text)) == text


def test_a_plan_for_another_machine_names_the_facts_that_are_others():
    wrong = replace(PLAN, machine=replace(PLAN.machine, dim=8, scratchpad_rows=3))
    told = r"machine: dim 8, scratchpad_rows 3: the accelerator has dim 16, scratchpad_rows 16384$"
    with pytest.raises(PlanError, match=told):
        verify_plan(wrong, GRAPH, CONFIG)


def test_names_of_any_form_read_back():
    rings = {'a "b"\n\\': RingPlan(space="scratchpad", spans=((0, 1),)), "": PLAN.rings["a"]}
    plan = replace(PLAN, graph='q"\x00\\', rings=rings)
    assert parse_plan(print_plan(plan)) == plan


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("graph = ", "graph ", "at line 1, column 7"),
        ("dim = 16", 'dim = "16"', r"plan\.machine\.dim: '16' is no int"),
        ("dim = 16", "dim = true", r"plan\.machine\.dim: True is no int"),
        ("dim = 16", "dim = 16.0", r"plan\.machine\.dim: 16\.0 is no int"),
        ("spans = [[0", "spans = [[false", r"spans\[0\]\[0\]: False is no int"),
        ("pieces = 1", "keep = 1", r"stages\[0\]\.w\.keep: 1 is no bool"),
        ('graph = "', "graph = 7 # ", r"plan\.graph: 7 is no str"),
        ("dim = 16, ", "", r"plan\.machine\.dim is missing"),
        ('space = "parameters"', 'space = "disk"', r"plan\.rings\.bias\.space: 'disk' is none of"),
        ("first = ", "fist = ", r"stages\[0\]\.a\.fist: there is no such field"),
        ("parts = [", "outer = 3 #", r"stages\[0\]\.outer: 3 is none of 'rows', 'cols'"),
        ("parts = [", "parts = 3 #", r"stages\[0\]\.parts: a list is expected"),
        ("spans = [[", "spans = [[1, ", r"spans\[0\]: 2 elements are expected, not 3"),
        ("[[stages]]", "[stages]", r"plan\.stages: a list is expected"),
        ("machine = {", "machine = 3 # {", r"plan\.machine: a table is expected, not 3"),
    ],
)
def test_text_that_is_no_plan_is_refused_with_its_place(old, new, message):
    text = print_plan(PLAN)
    assert old in text
    with pytest.raises(ValueError, match=message):
        parse_plan(text.replace(old, new, 1))


def test_text_cut_short_is_refused():
    text = print_plan(PLAN)
    for length in range(0, text.index("parts"), 7):
        with pytest.raises((ValueError, tomllib.TOMLDecodeError)):
            verify_plan(parse_plan(text[:length]), GRAPH, CONFIG)


def stage(**changes):
    return replace(PLAN, stages=(replace(STAGE, **changes),))


def ring(name, **changes):
    return replace(PLAN, rings={**PLAN.rings, name: replace(PLAN.rings[name], **changes)})


A, W, DRAIN = STAGE.a, STAGE.w, STAGE.drain
ROWS = CONFIG.scratchpad_rows


@pytest.mark.parametrize(
    ("rule", "plan"),
    [
        ("graph", replace(PLAN, graph="another")),
        ("machine", replace(PLAN, machine=replace(PLAN.machine, dim=8))),
        ("stages", replace(PLAN, stages=())),
        ("stages", stage(op="another")),
        ("ring-spans", ring("a", spans=())),
        ("ring-inside", ring("a", spans=((ROWS - 10, 11),))),
        ("ring-inside", ring("a", spans=((-1, 11),))),
        ("ring-inside", ring("a", spans=((3, 0),))),
        ("ring-apart", ring("a", spans=((0, ROWS),))),
        ("ring-apart", ring("a", spans=((0, 64), (63, 2)))),
        ("rows", stage(rows=(199,))),
        ("rows", stage(rows=())),
        ("rows", stage(rows=(201, -1))),
        ("rows-most", replace(stage(rows=(5000,)), graph="tall")),
        ("w-tall", stage(w=replace(W, k_tiles=300))),
        ("tiles", stage(tiles=(300,))),
        ("parts", stage(parts=(1, 1000))),
        ("parts", stage(parts=(0, *STAGE.tiles[-1:]))),
        ("a-tiles", stage(a=replace(A, tiles=8))),
        ("a-tiles", stage(a=replace(A, first=A.tiles + 1))),
        ("a-tiles", stage(a=replace(A, first=-1))),
        ("a-tiles", stage(a=replace(A, tiles=0, first=0, keep=False))),
        ("w-tiles", stage(w=replace(W, columns=5))),
        ("w-tiles", stage(w=replace(W, k_tiles=0))),
        ("ring", stage(a=replace(A, ring="z"))),
        ("ring-space", stage(a=replace(A, ring="sums"))),
        ("a-fits", ring("a", spans=((0, 10),))),
        ("w-fits", ring("b", spans=(*PLAN.rings["b"].spans[1:], (PLAN.rings["b"].spans[0][0], 1)))),
        ("sums-fit", stage(rows=(200,), tiles=(19,), parts=())),
        ("parameters", stage(drain=replace(DRAIN, parameters=""))),
        ("parameters-fit", ring("bias", spans=((0, 1),))),
        ("drain-tiles", stage(drain=replace(DRAIN, tiles=0))),
        ("drain-tiles", stage(drain=replace(DRAIN, tiles=5))),
    ],
)
def test_an_illegal_plan_is_refused_with_the_rule_that_it_breaks(rule, plan):
    verify_plan(PLAN, GRAPH, CONFIG)
    graph = TALL if plan.graph == TALL.name else GRAPH
    with pytest.raises(PlanError, match=f"^{rule}: ") as refused:
        verify_plan(plan, graph, CONFIG)
    assert refused.value.rule == rule


@pytest.mark.parametrize("shared", [True, False])
def test_stages_are_in_the_order_of_what_they_share(shared):
    builder = GraphBuilder("two")
    a = builder.input(Tensor("a", "int8", 4, 4))
    first = builder.tensor(Tensor("first", "int8", 4, 4))
    second = builder.tensor(Tensor("second", "int8", 4, 4))
    for name, source, out in (("x", a, first), ("y", first if shared else a, second)):
        b = builder.input(Tensor(f"b{name}", "int8", 4, 4))
        builder.matmul(name, out, source, b, Requantize(0.1))
    graph = builder.finish("first", "second")
    assert isinstance(STAGE, LinearStage)
    pieces = replace(STAGE.a, tiles=1, first=1)
    drain = replace(DRAIN, parameters="")
    small = replace(STAGE, rows=(4,), tiles=(1,), a=pieces, drain=drain, parts=())
    stages = tuple(replace(small, op=name) for name in "yx")
    plan = replace(PLAN, graph="two", stages=stages)
    if shared:
        with pytest.raises(PlanError, match=r"^order: y, x: y comes before x, which it depends on"):
            verify_plan(plan, graph, CONFIG)
    else:
        assert verify_plan(plan, graph, CONFIG) == plan
    with pytest.raises(PlanError, match="2 operators"):
        decide(graph, CONFIG)


def test_stages_that_share_elements_are_in_order_however_many_are_between():
    """What is written is read two operators later."""
    builder = GraphBuilder("three")
    x = builder.input(Tensor("x", "int8", 4, 4))
    outs = [builder.tensor(Tensor(name, "int8", 4, 4)) for name in ("u", "v", "w")]
    products = (("first", x, outs[0]), ("second", x, outs[1]), ("third", outs[0], outs[2]))
    for name, source, out in products:
        b = builder.input(Tensor(f"b {name}", "int8", 4, 4))
        builder.matmul(name, out, source, b, Requantize(0.1))
    graph = builder.finish("v", "w")
    drain = replace(DRAIN, parameters="")
    small = replace(
        STAGE, rows=(4,), tiles=(1,), a=replace(A, tiles=1, first=1), drain=drain, parts=()
    )

    def plan(*names):
        stages = tuple(replace(small, op=name) for name in names)
        return replace(PLAN, graph="three", stages=stages)

    for legal in (("first", "second", "third"), ("second", "first", "third")):
        verify_plan(plan(*legal), graph, CONFIG)
    for wrong in (("third", "second", "first"), ("second", "third", "first")):
        with pytest.raises(PlanError, match=r"^order: .*third comes before first, which it dep"):
            verify_plan(plan(*wrong), graph, CONFIG)


def test_a_load_of_a_and_a_store_of_sums_move_as_much_as_a_request_may():
    """64 bytes on `base`: four tiles of 16 bytes, or one of 16 words."""
    deep = replace(product_graph(MatMul(m=32, n=32, k=200))[0], name="deep")
    plan = decide(deep, CONFIG)
    found = only_stage(plan)

    def tiles(count):
        pieces = replace(found.a, tiles=count, first=1)
        return replace(plan, stages=(replace(found, a=pieces),))

    verify_plan(tiles(4), deep, CONFIG)
    with pytest.raises(PlanError, match=r"^a-tiles: .*then 5 tiles, of 13 tiles of K"):
        verify_plan(tiles(5), deep, CONFIG)
    sums = replace(product_graph(MatMul(m=32, n=64, k=32))[0], name="sums")
    plan = decide(sums, CONFIG)
    found = only_stage(plan)
    for count in (1, 2):
        changed = replace(found, drain=replace(found.drain, tiles=count))
        stages = replace(plan, stages=(changed,))
        if count == 1:
            verify_plan(stages, sums, CONFIG)
        else:
            with pytest.raises(PlanError, match=r"^drain-tiles: .*2 is not in 1\.\.1$"):
                verify_plan(stages, sums, CONFIG)


def test_a_finish_that_mvout_does_not_do_is_a_transforms_where_there_are_any():
    (op,) = GRAPH.ops
    graph = replace(GRAPH, ops=(replace(op, finish=Activation("gelu", 1.0, 1.0)),))
    with pytest.raises(PlanError, match=r"^drain: stage product: mvout does not do gelu"):
        verify_plan(PLAN, graph, CONFIG)
    plan = decide(graph, CONFIG)
    assert only_stage(plan).drain.by == "transform"
    gemmini = resolve_config("base", ("normalization=false",))
    with pytest.raises(PlanError, match=r"^drain: stage product: transform is not how"):
        verify_plan(replace(plan, machine=machine_of(gemmini)), graph, gemmini)
