"""The tests: a package of its own, so that no installed package called `tests` joins it."""
