"""Every command runs in an empty folder."""

import pytest


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CELOSIA_REQUIRE", raising=False)
