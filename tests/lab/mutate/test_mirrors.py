"""Which tests answer for a file."""

import pytest

from celosia.lab.mutate.mirrors import (
    _imports,
    mirrored_tests,
    nearest_tests,
    own_tests,
    whole_tests,
)
from celosia.lab.mutate.patch import parse_patch
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.problems import InputError

ROOT = checkout_root()
PATCH = "Fault: two is three\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-two\n+three\n"


def test_a_foreign_patch_is_tested_by_what_mirrors_it_first():
    tests = mirrored_tests(parse_patch(PATCH.format("hw/bus/bursts.py"), "p"), ROOT)
    assert tests[:2] == ("tests/hw/bus/test_bursts.py", "tests/hw/bus/test_read_arbiter.py")
    neighbors = [test for test in tests if test.startswith("tests/hw/bus/")]
    assert tests[len(neighbors)] == "tests/system/test_differential.py"
    assert len({*tests}) == len(tests)
    with pytest.raises(InputError, match="touches nothing"):
        mirrored_tests(parse_patch(PATCH.format("README.md"), "p"), ROOT)


FILES = {
    "tests/sw/a/test_b.py": "",
    "tests/sw/a/test_b_more.py": "",
    "tests/sw/a/test_c.py": "",
    "tests/sw/c/test_it.py": "",
    "tests/sw/test_d.py": "from celosia.sw.a.imported import thing\n",
    "tests/sw/test_encoding.py": "",
    "tests/sim/test_far.py": "from celosia.sw.a.far import thing\n",
    "sw/a/b.py": "from celosia.sw.a.far import thing\n",
    "sw/a/c.py": "",
    "sw/encoding/fields.py": "",
}


def test_the_tests_of_a_single_file(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    mirrors = ("tests/sw/a/test_b.py", "tests/sw/a/test_b_more.py")
    for source, tests in {
        "sw/a/b.py": mirrors,
        "sw/a/b_less.py": ("tests/sw/a/test_b.py",),
        "sw/a/b_less_often.py": ("tests/sw/a/test_b.py",),
        "sw/a/_b.py": (*mirrors, "tests/sw/a/test_c.py"),
        "sw/c.py": ("tests/sw/c/test_it.py",),
        "sw/encoding/fields.py": ("tests/sw/test_encoding.py",),
        "sw/a/imported.py": ("tests/sw/test_d.py",),
        "sw/a/far.py": mirrors,
        "sw/a/unknown.py": (*mirrors, "tests/sw/a/test_c.py"),
        "sw/x/unknown.py": ("tests/sw/test_d.py", "tests/sw/test_encoding.py"),
    }.items():
        assert own_tests(source, tmp_path) == tests, source


def test_tests_of_no_file_of_a_folder_look_at_all_of_it(tmp_path):
    for name, text in {
        "sw/a/b.py": "",
        "sw/a/c/d.py": "",
        "tests/sw/a/test_b.py": "",
        "tests/sw/a/test_all.py": "from celosia.sw.other import thing\n",
        "tests/sw/a/test_some.py": "from celosia.sw.a.c.d import thing\n",
        "tests/sw/a/test_c.py": "",
        "tests/sw/test_far.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert own_tests("sw/a/b.py", tmp_path) == ("tests/sw/a/test_all.py", "tests/sw/a/test_b.py")
    assert own_tests("sw/a/c/d.py", tmp_path) == ("tests/sw/a/test_c.py",)
    handlers = "sw/frontend/importer/handlers"
    found = own_tests(f"{handlers}/attention.py", ROOT)
    assert found == tuple(
        f"tests/{handlers}/test_{each}.py" for each in ("attention", "defaults", "refusals")
    )


def test_tests_of_the_package_itself_are_near_what_it_imports(tmp_path):
    for name, text in {
        "sim/b.py": "",
        "api/__init__.py": "def compile():\n    from celosia.sim.b import thing\n",
        "tests/sim/test_b.py": "",
        "tests/api/test_it.py": "import celosia\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert nearest_tests("sim/b.py", tmp_path) == ("tests/api/test_it.py",)
    assert "tests/api/test_compile.py" in nearest_tests("sim/run/models/compiled_model.py", ROOT)


def test_a_command_is_near_the_tests_that_call_it_most(tmp_path):
    line = "from tests.support.command_line import right\n"
    table = '    Command("fly", Panel.RUN, "celosia.sim.command.fly_command:fly"),\n'
    for name, text in {
        "sim/commands.py": table,
        "sim/command/fly_command.py": "from celosia.sim.command.wings import wings\n",
        "sim/command/wings.py": "",
        "tests/sim/command/test_fly_command.py": line + 'right("fly")\n' * 9,
        "tests/sim/cli/test_many.py": line + 'right("fly")\n' * 3,
        "tests/lab/test_one.py": line + 'right("fly")\n',
        "tests/lab/test_two.py": line + 'right("fly")\n' * 2,
        "tests/sim/cli/test_none.py": line + 'right("swim")\n',
        "tests/sim/cli/test_words.py": 'print("fly", "fly")\n',
        "tests/sim/cli/test_a_single.py": line + 'right("fly")\n',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    called = (
        "tests/sim/cli/test_many.py",
        "tests/lab/test_two.py",
        "tests/lab/test_one.py",
    )
    assert nearest_tests("sim/command/fly_command.py", tmp_path) == called
    (tmp_path / "tests/sim/command/test_wings.py").write_text("")
    assert nearest_tests("sim/command/wings.py", tmp_path)[1:] == called[:2]
    assert "tests/sim/cli/test_c_host.py" in nearest_tests("sim/c_host/command.py", ROOT)


def test_helpers_of_tests_stand_between(tmp_path):
    for name, text in {
        "sim/a/b.py": "",
        "tests/support/runs.py": "from celosia.sim.a.b import thing\n",
        "tests/sim/test_far.py": "from tests.support.runs import thing\n",
        "tests/sim/test_other.py": "from tests.support.walks import thing\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert own_tests("sim/a/b.py", tmp_path) == ("tests/sim/test_far.py",)


def test_the_nearest_tests_are_others_that_import_the_file(tmp_path):
    line = "from celosia.sw.a.b import thing\n"
    others = {
        "tests/sw/a/test_z.py": line,
        "tests/sw/test_plan.py": line,
        "tests/sw/c/test_c.py": line,
        "tests/sim/cli/test_a.py": line,
        "tests/sim/test_b.py": line,
        "tests/system/test_all.py": line,
        "tests/sw/a/test_named.py": "# celosia.sw.a.b\n",
    }
    for name, text in (FILES | others).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert nearest_tests("sw/a/b.py", tmp_path) == (
        "tests/sw/a/test_z.py",
        "tests/sw/test_plan.py",
        "tests/sw/c/test_c.py",
    )
    for name in ("tests/sw/a/test_z.py", "tests/sw/c/test_c.py"):
        (tmp_path / name).write_text("")
    _imports.cache_clear()
    assert nearest_tests("sw/a/b.py", tmp_path) == (
        "tests/sw/test_plan.py",
        "tests/sim/test_b.py",
        "tests/system/test_all.py",
    )
    assert nearest_tests("sw/a/imported.py", tmp_path) == ()


def test_where_few_tests_import_a_file_those_follow_that_import_what_does(tmp_path):
    sources = {
        "hw/a/inner.py": "",
        "hw/a/middle.py": "from celosia.hw.a.inner import thing\n",
        "hw/outer.py": "from celosia.hw.a.middle import thing\nfrom celosia.hw.a.inner import x\n",
        "sim/top.py": 'def load():\n    return import_module("celosia.hw.outer").thing\n',
    }
    tests = {
        "tests/hw/a/test_inner.py": "from celosia.hw.a.inner import thing\n",
        "tests/hw/a/test_middle.py": "from celosia.hw.a.middle import thing\n",
        "tests/hw/test_outer.py": "from celosia.hw.outer import thing\n",
        "tests/hw/b/test_far.py": "from celosia.sim.top import thing\n",
        "tests/sim/test_far.py": "from celosia.sim.top import thing\n",
    }
    for name, text in (sources | tests).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert nearest_tests("hw/a/inner.py", tmp_path) == (
        "tests/hw/a/test_middle.py",
        "tests/hw/test_outer.py",
        "tests/hw/b/test_far.py",
    )


def test_some_tests_look_at_every_file_of_a_layer():
    assert whole_tests("hw/vector/root.py", ROOT) == (
        "tests/hw/test_documentation.py",
        "tests/hw/test_resets.py",
    )
    assert whole_tests("isa/config.py", ROOT) == ()
    for layer in ("sw", "sim"):
        numbers = {f"tests/{layer}/test_{name}.py" for name in ("largest", "said_numbers")}
        assert numbers < {*whole_tests(f"{layer}/any.py", ROOT)}
