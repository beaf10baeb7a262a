"""The steps of what attention reads: queries and keys, smoothed against each other, and values.

A factor for each column moves range from queries into keys or back: their products do not see it.
The products of all heads then get the same step, so that a program may repeat what one head does.
Values are smoothed with the weights that read what attention makes of them.  Where a rotation
makes queries or keys, the columns of its operand have the factors, both halves the same ones.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.ir.graph import View
from celosia.sw.quantize.graphs.observe import Observed
from celosia.sw.quantize.graphs.stages import Form, Stages
from celosia.sw.quantize.graphs.units import Attention, Head, Product, Rotation
from celosia.sw.quantize.ranges import Clip, column_ranges, int8_step, least_error, said_step
from celosia.sw.quantize.smooth import STRENGTHS, Smoothing, smoothing_error, smoothing_factors
from celosia.sw.reference.encoder import Floats

__all__ = ["HeadSteps", "score_factors"]

_SHARES: Final = (0.3, 0.4, 0.5, 0.6, 0.7)
"""How much of the range of queries moves into keys."""


class HeadSteps:
    """The steps of all forms that attention reads, and of what it makes for products."""

    def __init__(
        self,
        stages: Stages,
        seen: Observed,
        weights: Callable[[Form, int], list[Floats]],
        clip: Clip,
    ):
        self.stages, self.seen, self._weights = stages, seen, weights
        self.clip: Clip = clip
        self.contexts: dict[str, Smoothing] = {}
        """How results of attention become int8, by their tensors; those that products read."""
        self.turned: dict[str, Floats] = {}
        """The factors of columns that a rotation reads, by the value's key."""
        self._steps: dict[str, NDArray[np.float64]] = {}
        units = [unit for unit in stages.units.units.values() if isinstance(unit, Attention)]
        for unit in units:
            groups = _groups(unit)
            views = [view for key, queries in groups.items() for view in (key, *queries)]
            bound = any(map(self._bound, views))
            for key, queries in groups.items():
                self._scores(key, queries)
            if not bound:
                self._one_step(groups)
        for unit in units:
            self._values(unit)

    def of(self, form: Form) -> NDArray[np.float64]:
        """What 1 stands for in each column of a form that attention reads."""
        return np.nan_to_num(self._of(form.key), nan=1.0)

    def score_step(self, head: Head) -> float:
        """What 1 stands for in the products of a head's queries and keys."""
        return self._product_step(head.query, head.key)

    def _product_step(self, query: View, key: View) -> float:
        return float(self._of(query.tensor)[query.col] * self._of(key.tensor)[key.col])

    def _of(self, key: str) -> NDArray[np.float64]:
        """The steps of a value's columns, as far as they are known."""
        return self._steps.setdefault(key, np.full(self.seen.tops(key).size, np.nan))

    def _rows(self, view: View) -> Floats:
        return self.seen.rows(view.tensor)[:, _columns(view)]

    def _said(self, key: str) -> tuple[float, float] | None:
        """The range that the file says a value has."""
        return self.seen.said.get(self.stages.units.values[key].tensor)

    def _step(self, key: str, x: Floats) -> float:
        said = self._said(key)
        return int8_step(x, self.clip) if said is None else said_step(said)

    # Scores.

    def _scores(self, key: View, queries: list[View]) -> None:
        """The steps of keys, and of all queries that meet them."""
        views = [key, *queries]
        known = [np.isfinite(self._of(view.tensor)[_columns(view)]).any() for view in views]
        ways = [self._way(view) for view in views]
        factors = np.ones(key.cols, np.float32)
        said = any(self._said(view.tensor) for view in views)
        if not any(known) and None not in ways and not said:
            rows = [self._rows(view) for view in queries]
            factors = score_factors(rows, self._rows(key), tied="turned" in ways)
        for view, way, taken in zip(views, ways, known, strict=True):
            if taken:
                continue
            mine: Floats = np.float32(1) / factors if view is key else factors
            step = self._step(view.tensor, self._rows(view) / mine)
            self._of(view.tensor)[_columns(view)] = mine * np.float64(step)
            if way == "turned":
                self._turn(view, mine)

    def _bound(self, view: View) -> bool:
        """Whether the steps of queries or keys are not free: others read them, or the file says."""
        known = np.isfinite(self._of(view.tensor)[_columns(view)]).any()
        return bool(known) or self._said(view.tensor) is not None

    def _one_step(self, groups: Mapping[View, list[View]]) -> None:
        """Queries and keys get coarser, until 1 stands for the same in the scores of all heads.

        An error of scores counts for as much in each head, and none gets larger ones than the head
        whose scores are coarsest already has: of 12 heads, all squared errors together grow 2.2
        times at most.  That side gets coarser first whose roundings scores see less of.  A head
        whose scores are nothing has no step that matters, and keeps its own.
        """
        steps: dict[View, float] = {}
        seen: dict[View, tuple[float, float]] = {}
        for key, queries in groups.items():
            of_key = sum(self._seen(key, query) for query in queries)
            of_queries = sum(self._seen(query, key) for query in queries)
            if of_key > 0 and of_queries > 0:
                steps[key] = max(self._product_step(query, key) for query in queries)
                seen[key] = of_key, of_queries
        coarsest = max(steps.values(), default=1.0)
        for key, (of_key, of_queries) in seen.items():
            factor = coarsest / steps[key]
            share = np.clip(np.sqrt(factor * np.sqrt(of_queries / of_key)), 1, factor)
            self._of(key.tensor)[_columns(key)] *= share
            for query in groups[key]:
                short = coarsest / self._product_step(query, key)
                self._of(query.tensor)[_columns(query)] *= short

    def _seen(self, rounded: View, other: View) -> float:
        """What scores see of the roundings of one side: squares, in parts of twelve."""
        steps = self._of(rounded.tensor)[_columns(rounded)]
        return float((steps**2 * np.square(self._rows(other)).mean(axis=0)).sum())

    def _way(self, view: View) -> str | None:
        """How columns of queries or keys get steps of their own; None: they cannot."""
        form = Form(view.tensor, "heads")
        unit = self._maker(form)
        if not isinstance(unit, Rotation):
            return "made"
        operands = {turn.x.tensor for turn in unit.turns}
        alone = self.stages.made[unit.value.tensor] == ("heads",)
        return "turned" if alone and all(self._free(name, unit) for name in operands) else None

    def _free(self, operand: str, unit: Rotation) -> bool:
        """Whether columns of what a rotation reads can have steps of their own."""
        form = Form(operand, "wide")
        tensor = self.stages.units.values[operand].tensor
        made = isinstance(self._maker(form), Product) and self.stages.made[tensor] == ("wide",)
        return made and self.stages.users(form) == [unit]

    def _maker(self, form: Form) -> Any:
        """The unit that makes a form; None: the host."""
        if form in self.stages.converted:
            return None
        return self.stages.units.units.get(self.stages.units.values[form.key].tensor)

    def _turn(self, view: View, factors: Floats) -> None:
        unit = self._maker(Form(view.tensor, "heads"))
        for turn in unit.turns:
            if turn.out.col == view.col:
                ones = np.ones(self.seen.tops(turn.x.tensor).size, np.float32)
                self.turned.setdefault(turn.x.tensor, ones)[_columns(turn.x)] = factors

    # Values.

    def _values(self, unit: Attention) -> None:
        """The steps of values, and how what attention makes of them becomes int8."""
        heads, key = unit.heads[0], unit.heads[0][0].value.tensor
        columns = _all_columns(heads)
        taken = np.isfinite(self._of(key)[columns]).any()
        factors = np.ones(len(columns), np.float32)
        form = Form(unit.value.key, "small")
        if self.stages.made[unit.value.tensor] == ("small",):
            context = self.seen.rows(form.key)
            sources = np.zeros(context.shape[1], np.intp)
            for head in heads:
                first = int(np.searchsorted(columns, head.value.col))
                sources[_columns(head.out)] = np.arange(first, first + head.value.cols)
            if not taken and not self._said(key) and not self._said(form.key):
                factors = self._value_factors(form, columns, key, sources)
            smooth = factors[sources]
            step = int8_step(context / smooth, self.clip)
            self.contexts[unit.value.tensor] = Smoothing(smooth, step)
        if not taken:
            step = self._step(key, self.seen.rows(key)[:, columns] / factors)
            self._of(key)[columns] = factors * np.float64(step)

    def _value_factors(
        self, form: Form, columns: NDArray[np.intp], key: str, sources: NDArray[np.intp]
    ) -> Floats:
        """The factor of each column of values, with which the products behind lose least."""
        values, context = self.seen.rows(key)[:, columns], self.seen.rows(form.key)
        found = self._weights(form, context.shape[1])
        if not found:
            return np.ones(len(columns), np.float32)
        weights = np.concatenate(found, axis=1)
        largest = _largest(np.abs(weights).max(axis=1), sources, len(columns))
        # Averaging makes errors of values smaller, as it does the values.
        power = float(np.square(values).mean())
        share = float(np.square(context).mean()) / power if power else 1.0
        worth = np.bincount(sources, np.square(weights).sum(axis=1), len(columns)) * share

        def lost(factors: Floats) -> float:
            error, _ = smoothing_error(context, weights, factors[sources])
            return error + least_error(values / factors, np.float32(1) * worth * factors**2)[1]

        ranges = (
            column_ranges(values),
            _largest(column_ranges(context), sources, len(columns)),
        )
        candidates = (
            smoothing_factors(one, largest[:, np.newaxis], strength)
            for one in ranges
            for strength in STRENGTHS
        )
        return min(candidates, key=lost)


def score_factors(queries: list[Floats], keys: Floats, *, tied: bool) -> Floats:
    """What columns of queries are divided by, and those of keys multiplied by, to lose least.

    `queries` are those of each head that reads the `keys`, which has a step of its own.  With
    `tied`, both halves of the columns have the same factors.
    """
    power, key_power = (
        sum(np.square(each).mean(axis=0) for each in queries),
        np.square(keys).mean(axis=0),
    )
    range_queries = np.max([column_ranges(each) for each in queries], axis=0)
    range_keys = column_ranges(keys)
    if tied:
        range_queries, range_keys = (
            np.tile(each.reshape(2, -1).max(axis=0), 2) for each in (range_queries, range_keys)
        )

    def lost(factors: Floats) -> float:
        square = factors**2
        of_queries = sum(least_error(each / factors, key_power * square)[1] for each in queries)
        return of_queries + least_error(keys * factors, np.asarray(power / square, np.float32))[1]

    candidates = [np.ones(keys.shape[1], np.float32)]
    for share in _SHARES:
        candidates.append(smoothing_factors(range_queries, range_keys[:, np.newaxis], share))
    return min(candidates, key=lost)


def _groups(unit: Attention) -> dict[View, list[View]]:
    """The keys of each head of the first text, with the queries of all heads that read them."""
    groups: dict[View, list[View]] = {}
    for head in unit.heads[0]:
        groups.setdefault(head.key, []).append(head.query)
    return groups


def _largest(sizes: Floats, sources: NDArray[np.intp], count: int) -> Floats:
    """The largest of those `sizes` that have the same source."""
    largest = np.zeros(count, np.float32)
    np.maximum.at(largest, sources, sizes)
    return largest


def _columns(view: View) -> slice:
    return slice(view.col, view.col + view.cols)


def _all_columns(heads: tuple[Head, ...]) -> NDArray[np.intp]:
    """The columns of values that heads read, in order."""
    views = [head.value for head in heads]
    return np.array(sorted({c for v in views for c in range(v.col, v.col + v.cols)}), np.intp)
