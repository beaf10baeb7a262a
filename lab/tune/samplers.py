"""Optuna's samplers, asked and told one plan at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import TrialState, create_trial

from celosia.lab.tune.spaces.choice_space import Choice
from celosia.lab.tune.trial import Found

__all__ = ["StudySampler"]


class StudySampler:
    """Proposes plans at random, or where those that were told of were good (tpe).

    Illegal plans count as pruned: the model of tpe puts them behind all that have cycles.
    """

    def __init__(self, strategy: str, choices: Mapping[str, Sequence[Choice]], seed: int):
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        samplers = optuna.samplers
        kinds: Any = {"random": samplers.RandomSampler, "tpe": samplers.TPESampler}
        self._study = optuna.create_study(sampler=kinds[strategy](seed=seed))
        self._distributions: dict[str, BaseDistribution] = {
            name: CategoricalDistribution(list(values)) for name, values in choices.items()
        }

    def ask(self, _number: int) -> Mapping[str, Choice]:
        """What to try next."""
        return dict(self._study.ask(self._distributions).params)

    def tell(self, chosen: Mapping[str, Choice], found: Found) -> None:
        """A plan was tried, by this process or an earlier one."""
        legal = found.cycles is not None
        trial = create_trial(
            state=TrialState.COMPLETE if legal else TrialState.PRUNED,
            params=dict(chosen),
            distributions=self._distributions,
            value=found.cycles,
        )
        self._study.add_trial(trial)
