"""Which tests answer for a file."""

import pytest

from celosia.sim.checkout import checkout_root
from celosia.sim.mutate.mirrors import mirrored_tests, own_tests
from celosia.sim.mutate.patch import parse_patch
from celosia.sim.problems import InputError

ROOT = checkout_root()
PATCH = "Fault: two is three\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-two\n+three\n"


def test_a_foreign_patch_is_tested_by_what_mirrors_it_first():
    tests = mirrored_tests(parse_patch(PATCH.format("hw/dma/queue.py"), "p"), ROOT)
    assert tests[:2] == ("tests/hw/dma/test_queue.py", "tests/hw/dma/test_bursts.py")
    neighbors = [test for test in tests if test.startswith("tests/hw/dma/")]
    assert tests[len(neighbors)] == "tests/system/test_differential.py"
    assert len({*tests}) == len(tests)
    with pytest.raises(InputError, match="touches nothing"):
        mirrored_tests(parse_patch(PATCH.format("README.md"), "p"), ROOT)


def test_the_tests_of_a_single_file(tmp_path):
    for name in ("a/test_b.py", "a/test_b_more.py", "a/test_c.py", "test_d.py"):
        path = tmp_path / "tests" / "sw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("from celosia.sw.a.imported import thing\n" if "d" in name else "")
    mirrors = ("tests/sw/a/test_b.py", "tests/sw/a/test_b_more.py")
    assert own_tests("sw/a/b.py", tmp_path) == mirrors
    assert own_tests("sw/a/imported.py", tmp_path) == ("tests/sw/test_d.py",)
    assert own_tests("sw/a/unknown.py", tmp_path) == (*mirrors, "tests/sw/a/test_c.py")
    assert own_tests("sw/x/unknown.py", tmp_path) == ("tests/sw/test_d.py",)
