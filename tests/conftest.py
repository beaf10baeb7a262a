"""Hypothesis profiles: the tests are the same on every run, except at night."""

from hypothesis import HealthCheck, settings

# Simulations are slow and xdist's workers share two cores: no deadline, no complaint about speed.
_UNHURRIED = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}

settings.register_profile("ci", derandomize=True, database=None, **_UNHURRIED)
settings.register_profile("dev", print_blob=True, **_UNHURRIED)
settings.register_profile("nightly", max_examples=5_000, print_blob=True, **_UNHURRIED)

settings.load_profile("ci")  # `--hypothesis-profile` on the command line overrides it.
