"""What a document says of the checkout that it comes from."""

import shutil
import subprocess
from pathlib import Path

import pytest

from celosia.sim.run import origin
from celosia.sim.run.origin import commit, versions

FILE = Path(origin.__file__).name


def git(folder, *words):
    """What git says, with nothing of the machine's own settings."""
    told = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", folder, *told, *words], capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture
def checkout(tmp_path):
    """A repository with a file of this name below its root, and another one."""
    if not shutil.which("git"):
        pytest.skip("git is not there")
    git(tmp_path, "init", "-q")
    package = tmp_path / "sim"
    package.mkdir()
    (package / FILE).write_text("one\n")
    (tmp_path / "other").write_text("one\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return package


def test_a_commit_is_that_of_the_checkout(checkout):
    assert commit(checkout) == git(checkout, "rev-parse", "HEAD")


def test_files_that_git_does_not_know_change_nothing(checkout):
    (checkout / "scratch").write_text("mine\n")
    assert commit(checkout) == git(checkout, "rev-parse", "HEAD")


@pytest.mark.parametrize("add", [False, True], ids=["changed", "and added"])
def test_any_change_of_a_file_that_git_knows_is_said(checkout, add):
    """Also of one beside the package, whose code may decide results as well."""
    (checkout.parent / "other").write_text("two\n")
    if add:
        git(checkout, "add", ":/")
    assert commit(checkout) == git(checkout, "rev-parse", "HEAD") + "-dirty"


def test_what_is_installed_below_another_repository_has_no_commit(checkout):
    installed = checkout / "site-packages"
    installed.mkdir()
    (installed / FILE).write_text("one\n")
    assert commit(installed) is None


def test_there_is_no_commit_outside_of_git(tmp_path):
    (tmp_path / FILE).write_text("one\n")
    assert commit(tmp_path) is None


def test_versions_are_of_this_environment():
    found = versions()
    assert found["celosia"]
    assert found["numpy"]
    assert str(found["python"]).startswith("3.")
