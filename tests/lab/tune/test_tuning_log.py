"""Logs of searches for plans: what is in one, which are refused, and the best plan of one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS, resolve_config
from celosia.lab.sweep.version import whole_version
from celosia.lab.sweep.words import options_of
from celosia.lab.tune.spaces.choice_space import ChoiceSpace
from celosia.lab.tune.spaces.graph_space import GraphSpace
from celosia.lab.tune.tuning_log import DEFAULT, Entry, best_known, open_log, tuning_key
from celosia.lab.tune.work import product_space, works_of
from celosia.sim.support.problems import InputError, OutputError
from celosia.sw.models.cases import softmax_case
from celosia.sw.planning.rules.verify import PlanError
from tests.lab.tune.spaces.test_graph_space import layer
from tests.support.command_line import invoke, refused, right

PRODUCT = ("matmul", "--shape", "9x10x11", "--preset", "tiny")
OPTIONS, CONFIG = options_of(PRODUCT)
SPACE = product_space(OPTIONS, CONFIG)
TIMING = MemoryTiming()
KEY = tuning_key(SPACE.graph, CONFIG, TIMING)
LAYER = layer().graph
LAYER_KEY = tuning_key(LAYER, CONFIG, TIMING)


def entry(number: int, strategy: str = "exhaustive", **found) -> Entry:
    """A trial of the plan with this number, or of the compiler's own."""
    chosen = {} if strategy == DEFAULT else next(SPACE.all(number))
    return Entry(strategy=strategy, trial=number, chosen=chosen, **found)


def logged(path: Path, trials: int, key: str = "k") -> None:
    """A log of the compiler's own plan, then of so many others."""
    with open_log(path, key, "model", {None: SPACE}) as log:
        log.add(entry(0, DEFAULT, cycles=900))
        for number in range(trials):
            log.add(entry(number, cycles=100 + number))


def best_of(path: Path, *entries: Entry):
    path.unlink(missing_ok=True)
    with open_log(path, KEY, "model", {None: SPACE}) as log:
        for each in entries:
            log.add(each)
    return best_known(str(path), SPACE.graph, CONFIG, TIMING)


def test_a_log_keeps_the_trials_of_each_strategy_in_order(tmp_path):
    path = tmp_path / "log"
    with open_log(path, "k", "model", {None: SPACE}) as log:
        assert log.entries == []
        for each in (entry(2), entry(0, "tpe"), entry(1), entry(0)):
            log.add(each)
        assert log.of("exhaustive") == [entry(0), entry(1), entry(2)]
    with open_log(path, "k", "model", {None: SPACE}) as again:
        assert again.entries == [entry(2), entry(0, "tpe"), entry(1), entry(0)]
        assert again.of("tpe") == [entry(0, "tpe")]
        again.add(entry(1, "tpe"))
    head, *lines = map(json.loads, path.read_text().splitlines())
    assert head.pop("version") == whole_version()
    assert head == {"schema": "celosia.tune/1", "key": "k", "oracle": "model"}
    assert lines[-1] == entry(1, "tpe").document()
    assert len(lines) == 5


def test_a_key_is_of_all_that_cycles_depend_on():
    other = product_space(options_of((*PRODUCT[:2], "9x10x12", *PRODUCT[3:]))[0], CONFIG)
    keys = {
        KEY,
        tuning_key(other.graph, CONFIG, TIMING),
        tuning_key(SPACE.graph, PRESETS["small"], TIMING),
        tuning_key(SPACE.graph, CONFIG, MemoryTiming(latency=41)),
    }
    assert len(keys) == 4
    assert tuning_key(SPACE.graph, CONFIG, MemoryTiming()) == KEY


def test_the_best_plan_is_that_of_the_fewest_cycles(tmp_path):
    path, own = tmp_path / "log", entry(0, DEFAULT, cycles=50)
    higher = SPACE.size // len(SPACE.choices["block_rows"])  # Where its next value begins.
    low, high = legal_from(0), legal_from(higher)
    slow, fast = entry(low, cycles=70), entry(high, cycles=40)
    refused_one = entry(low, refused="too large")
    assert best_of(path) is None
    assert best_of(path, refused_one) is None
    assert best_of(path, slow, own) is None
    assert best_of(path, slow, refused_one) == SPACE.plan(slow.chosen)
    assert best_of(path, slow, own, fast) == SPACE.plan(fast.chosen)
    assert SPACE.plan(slow.chosen) != SPACE.plan(fast.chosen)


def legal_from(first: int) -> int:
    """The number of the first legal plan from number `first` on."""
    for number, chosen in enumerate(SPACE.all(first), first):
        try:
            SPACE.plan(chosen)
        except ValueError:
            continue
        return number
    raise AssertionError


@pytest.mark.parametrize(
    "changed",
    [
        {"chosen": {}},
        {"chosen": {**next(SPACE.all()), "more": 1}},
        {"chosen": {name: value for name, value in next(SPACE.all()).items() if name != "tail"}},
        {"chosen": {**next(SPACE.all()), "tail": "two"}},
    ],
)
def test_a_trial_chooses_all_that_there_is_to_choose(tmp_path, changed):
    with pytest.raises(InputError, match=r"line 3: .* is no plan of this workload"):
        best_of(tmp_path / "log", entry(0, cycles=4), replace(entry(0, cycles=5), **changed))


def test_the_compilers_own_plan_chooses_nothing_that_is_looked_at(tmp_path):
    assert best_of(tmp_path / "log", replace(entry(0, DEFAULT, cycles=1), chosen={"x": 1})) is None


def test_a_log_of_something_else_is_refused_and_stays(tmp_path):
    path = tmp_path / "log"
    logged(path, 2)
    text = path.read_text()
    with pytest.raises(InputError, match="its key is k, here it is other"):
        open_log(path, "other", "model", {None: SPACE}).__enter__()
    with pytest.raises(InputError, match="its cycles are by model, not by rtl"):
        open_log(path, "k", "rtl", {None: SPACE}).__enter__()
    with (
        open_log(path, "k", "model", {None: SPACE}),
        pytest.raises(OutputError, match="another search"),
    ):
        open_log(path, "k", "model", {None: SPACE}).__enter__()
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("celosia.tune/1", "celosia.run/1", "its schema is celosia.run/1, not celosia.tune/1"),
        ('"trial"', '"trail"', "line 2: not a line of a tuning log"),
        ('"a_banks": 1', '"a_banks": 9', "line 3: .* is no plan of this workload"),
        ("}\n", "}", "line 1 was cut short; remove it"),
        ("{", "[", "line 1: not a line of a tuning log"),
        ('"cycles": 900', '"cycles": -900', "line 2: cycles: -900 is not a whole number of 1 or"),
        ('"cycles": 100', '"cycles": 0', "line 3: cycles: 0 is not a whole number of 1 or more"),
        ('"cycles": 100', '"cycles": NaN', "line 3: cycles: nan is not a whole number of 1 or"),
        ('"cycles": 100', '"cycles": -Infinity', "line 3: cycles: -inf is not a whole number"),
        ('"cycles": 100', '"cycles": true', "line 3: cycles: True is not a whole number"),
        ('"cycles": 100', '"cycles": "1"', "line 3: cycles: '1' is not a whole number"),
        ('"chosen": {}', '"chosen": []', "line 2: not a line of a tuning log"),
        ('"trial": 0', '"trial": "0"', "line 2: not a line of a tuning log"),
    ],
)
def test_a_damaged_log_is_refused(tmp_path, old, new, message):
    path = tmp_path / "log"
    logged(path, 1)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message):
        open_log(path, "k", "model", {None: SPACE}).__enter__()


def test_a_log_of_a_model_has_the_best_plan_of_each_of_its_graphs(tmp_path):
    path, start = tmp_path / "log", GraphSpace(LAYER, CONFIG).start
    spaces: dict[str | None, ChoiceSpace] = {KEY: SPACE, LAYER_KEY: GraphSpace(LAYER, CONFIG)}
    of_layer = Entry(strategy="tpe", trial=0, chosen=start, graph=LAYER_KEY, cycles=1)
    legal = next(number for number in range(1000) if _is_legal(number))
    with open_log(path, "k", "model", spaces) as log:
        log.add(replace(entry(0, DEFAULT, cycles=50), graph=KEY))
        log.add(of_layer)
        log.add(replace(entry(legal, cycles=40), graph=KEY))
        assert log.of("tpe") == []
        assert log.of("tpe", LAYER_KEY) == [of_layer]
    with open_log(path, "k", "model", spaces) as again:
        assert again.entries == log.entries
    plan = SPACE.plan(next(SPACE.all(legal)))
    assert best_known(str(path), SPACE.graph, CONFIG, TIMING) == plan
    assert best_known(str(path), LAYER, CONFIG, TIMING) == spaces[LAYER_KEY].plan(start)
    with pytest.raises(InputError, match="a log of another workload"):
        best_known(str(path), softmax_case(5, 30, 0).graph, CONFIG, TIMING)
    with pytest.raises(InputError, match=f"line 3: {LAYER_KEY} is no graph of this workload"):
        open_log(path, "k", "model", {KEY: SPACE}).__enter__()


def _is_legal(number):
    try:
        return SPACE.plan(next(SPACE.all(number)))
    except PlanError:
        return None


@pytest.mark.parametrize("names", [{"0.query": "0.up", "0.up": "0.query"}, {"0.query": "first"}])
def test_a_graph_that_is_alike_takes_the_plan_under_its_own_names(tmp_path, names):
    """Decisions have the names of operators, which may be those of others there."""
    ops = tuple(replace(op, name=names.get(op.name, op.name)) for op in LAYER.ops)
    graph = replace(LAYER, name="like it", ops=ops)
    assert tuning_key(graph, CONFIG, TIMING) == LAYER_KEY
    own, other = GraphSpace(LAYER, CONFIG), GraphSpace(graph, CONFIG)
    chosen = {**own.start, "0.query.k": 2, "0.down.k": 1}
    with open_log(tmp_path / "log", LAYER_KEY, "model", {None: own}) as log:
        log.add(Entry(strategy="tpe", trial=0, chosen=chosen, cycles=1))
    there = {**other.start, f"{names['0.query']}.k": 2, "0.down.k": 1}
    assert best_known(str(tmp_path / "log"), graph, CONFIG, TIMING) == other.plan(there)
    with open_log(tmp_path / "log", LAYER_KEY, "model", {None: other}) as log:
        assert [entry.chosen for entry in log.entries] == [there]
    # A file that somebody has sorted still has its own names.
    text = json.dumps(dict(sorted(chosen.items())))
    lines = (tmp_path / "log").read_text().replace(json.dumps(chosen), text)
    (tmp_path / "log").write_text(lines)
    assert best_known(str(tmp_path / "log"), LAYER, CONFIG, TIMING) == own.plan(chosen)


def test_what_differs_in_more_than_names_and_numbers_is_not_alike():
    """Four of the six products of a layer are as large, and have one key."""
    works = works_of(options_of(("minilm-linears",))[0])
    keys = [tuning_key(each.graph, CONFIG, TIMING) for each in works]
    assert [keys.index(key) for key in keys] == [0, 0, 0, 0, 4, 5]
    kept = replace(SPACE.graph, tensors=SPACE.graph.tensors, outputs=())
    assert tuning_key(kept, CONFIG, TIMING) != KEY


def test_cycles_that_nothing_takes_win_nothing(tmp_path):
    with pytest.raises(InputError, match="line 3: cycles: -5 is not a whole number of 1 or more"):
        best_of(tmp_path / "log", entry(0, DEFAULT, cycles=50), entry(1, cycles=-5))


@pytest.mark.parametrize("content", [b"\x7fELF\x02\x01", b"\x00" * 9, b"PK\x03\x04{\x85}"])
def test_what_never_was_a_log_was_not_cut_short(tmp_path, content):
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputError, match="line 1: not a line of a tuning log"):
        open_log(path, "k", "model", {None: SPACE}).__enter__()
    assert path.read_bytes() == content


def test_a_log_is_picked_up_by_compilation_and_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("--trials", "3", "--strategy", "exhaustive", "--storage", "log")
    result = invoke("tune", *PRODUCT, *words)
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert lines[0]["key"] == tuning_key(SPACE.graph, resolve_config("tiny"), OPTIONS.target.timing)
    best = {**lines[2], "cycles": 1}
    (tmp_path / "log").write_text("".join(json.dumps(line) + "\n" for line in (lines[0], best)))
    printed = right("compile", *PRODUCT, "--tuned", "log", "--print-after", "plan").stdout
    own = right("compile", *PRODUCT, "--print-after", "plan").stdout
    assert printed != own
    right("run", *PRODUCT, "--tuned", "log", "--sim", "functional")
    refused("another workload", "run", "matmul", "--shape", "9x10x12", "--tuned", "log")
    refused("another workload", "run", "softmax", "--shape", "4x4", "--tuned", "log")
    refused("not together with --tuned", "compile", *PRODUCT, "--tuned", "log", "--plan", "log")


GRAPH = ("softmax", "--shape", "5x30", "--preset", "tiny")


def test_a_log_of_a_graph_is_picked_up_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("--trials", "3", "--strategy", "exhaustive", "--storage", "log")
    assert invoke("tune", *GRAPH, *words).exit_code == 0
    head, own, *lines = [json.loads(line) for line in Path("log").read_text().splitlines()]
    assert own["strategy"] == DEFAULT
    assert lines[0]["chosen"]["overlap"]
    assert len(lines) == 3
    chosen = next(line for line in lines if line["chosen"]["schedule_loads"])
    Path("log").write_text(f"{json.dumps(head)}\n{json.dumps({**chosen, 'cycles': 1})}\n")
    printed = right("compile", *GRAPH, "--tuned", "log", "--print-after", "plan").stdout
    assert 'scheduler = "need"' in printed
    assert "scheduler" not in right("compile", *GRAPH, "--print-after", "plan").stdout
    right("run", *GRAPH, "--tuned", "log", "--sim", "functional")
    refused("needs a normalization unit", "tune", *GRAPH[:3], "--preset", "gemmini", *words)
