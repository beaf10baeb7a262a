"""Planted faults: patches, copies of the tree, campaigns, and the command."""

from pathlib import Path

import pytest

from celosia.sim.mutate import campaign
from celosia.sim.mutate.campaign import Campaign, load_faults
from celosia.sim.mutate.patch import apply_patch, parse_patch
from celosia.sim.mutate.trial import Trial, mirrored_tests
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from tests.support.command_line import refused

PATCH = """Fault: two is three
Caught-by: tests/a.py -k two
--- a/hw/a.py
+++ b/hw/a.py
@@ -1,3 +1,3 @@
 one
-two
+three
 four
"""
ROOT = checkout_root()


def tree(place: Path, text: str) -> Path:
    (place / "hw").mkdir()
    (place / "hw" / "a.py").write_text(text)
    return place


def test_a_patch_says_what_it_is_and_applies_where_its_lines_are(tmp_path):
    patch = parse_patch(PATCH, "p")
    assert (patch.title, patch.tests) == ("two is three", ("tests/a.py -k two",))
    apply_patch(patch, tree(tmp_path, "zero\none\ntwo\nfour\n"))
    assert (tmp_path / "hw" / "a.py").read_text() == "zero\none\nthree\nfour\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "changes no file"),
        (PATCH.replace("hw/a.py", "../a.py"), "not a file below"),
        (PATCH.split("@@", maxsplit=1)[0], "without a hunk"),
    ],
)
def test_what_is_no_patch(text, message):
    with pytest.raises(InputError, match=message):
        parse_patch(text, "p")


def test_a_patch_may_end_with_a_line_like_a_header():
    patch = parse_patch("--- a/hw/a.py\n+++ b/hw/a.py\n@@ -1 +1 @@\n--- x\n", "p")
    assert [each.path for each in patch.files] == ["hw/a.py"]


def test_a_patch_that_does_not_fit(tmp_path):
    with pytest.raises(InputError, match="has no lines"):
        apply_patch(parse_patch(PATCH, "p"), tree(tmp_path, "one\n2\nfour\n"))
    with pytest.raises(InputError, match="there is no file"):
        apply_patch(parse_patch(PATCH.replace("a.py", "b.py"), "p"), tmp_path)


def test_every_fault_of_the_checkout_applies_and_names_tests_that_exist(tmp_path):
    faults = load_faults(ROOT)
    assert len(faults) >= 40
    for fault in faults:
        assert fault.title
        assert fault.tests
        for test in fault.tests:
            assert (ROOT / test.split()[0]).exists(), test
        for file in fault.files:
            copy = tmp_path / file.path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text((ROOT / file.path).read_text())
        apply_patch(fault, tmp_path)


def test_every_file_of_the_hardware_has_a_fault():
    changed = {file.path for fault in load_faults(ROOT) for file in fault.files}
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "hw").rglob("*.py")}
    assert not {path for path in files - changed if not path.endswith("__init__.py")}


def test_a_foreign_patch_is_tested_by_what_mirrors_it_first():
    text = PATCH.replace("hw/a.py", "hw/store/gear.py").replace("Caught-by", "Nothing")
    tests = mirrored_tests(parse_patch(text, "p"), ROOT)
    assert tests[:2] == ("tests/hw/store/test_gear.py", "tests/hw/bus/test_bursts.py")
    neighbors = [test for test in tests if test.startswith("tests/hw/dma/")]
    assert tests[len(neighbors)] == "tests/system/test_differential.py"
    assert len({*tests}) == len(tests)
    with pytest.raises(InputError, match="touches nothing"):
        mirrored_tests(parse_patch(PATCH.replace("hw/a.py", "README.md"), "p"), ROOT)


def test_a_campaign_keeps_its_results(tmp_path, monkeypatch):
    tried = []

    def trial(fault, *_):
        tried.append(fault.name)
        return Trial(fault.name, fault.title, "a test", 1.0)

    monkeypatch.setattr(campaign, "try_fault", trial)
    fault = parse_patch(PATCH, "p")
    for fresh in (False, False, True):
        (result,) = Campaign(tmp_path, fresh).run([fault], 1, silent)
        assert result.caught_by == "a test"
    assert tried == ["p", "p"]


def test_wrong_arguments_of_mutate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused("there is no fault", "mutate", "nonsense")
    refused("No such file", "mutate", "--patch", "nothing.patch")
    (tmp_path / "x.patch").write_text("hello")
    refused("changes no file", "mutate", "--patch", "x.patch")
    refused("not both", "mutate", "lib_queue", "--patch", "x.patch")
    (tmp_path / "y.patch").write_text(PATCH)
    refused("does not apply", "mutate", "--patch", "y.patch")


@pytest.mark.nightly
def test_all_faults_are_caught(tmp_path):
    trials = Campaign(ROOT, fresh=False).run(load_faults(ROOT), 1, silent)
    assert [trial.name for trial in trials if not trial.caught_by] == []
