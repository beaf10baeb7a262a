"""The steps of what attention reads: queries and keys, smoothed against each other, and values.

A factor for each column moves range from queries into keys or back: their products do not see it.
The products of all heads then get the same step, so that a program may repeat what one head does.
Values are smoothed with the weights that read what attention makes of them.  Where a rotation
makes queries or keys, the columns of its operand have the factors, both halves the same ones.
Tensors of several roles have the steps that all of their readers can do with (`score_clusters`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.quantize.graphs.observe import Observed
from celosia.sw.quantize.ranges import Clip, column_ranges, int8_step, least_error, said_step
from celosia.sw.quantize.smooth import STRENGTHS, Smoothing, smoothing_error, smoothing_factors
from celosia.sw.quantize.units.meetings import Cluster, Columns, Group, score_clusters
from celosia.sw.quantize.units.segments import Segments
from celosia.sw.quantize.units.units import Attention, Product, Rotation, Turn
from celosia.sw.quantize.units.values import Form
from celosia.sw.reference.encoder import Floats

__all__ = ["HeadSteps", "score_factors"]

_SHARES: Final = (0.3, 0.4, 0.5, 0.6, 0.7)
"""How much of the range of queries moves into keys."""


class HeadSteps:
    """The steps of all forms that attention reads, and of what it makes for products."""

    def __init__(
        self,
        segments: Segments,
        seen: Observed,
        weights: Callable[[Form, int], list[Floats]],
        clip: Clip,
    ):
        self.segments, self.seen, self._weights = segments, seen, weights
        self.clip: Clip = clip
        self.contexts: dict[str, Smoothing] = {}
        """How results of attention become int8, by their tensors; those that products read."""
        self.turned: dict[str, Floats] = {}
        """The factors of columns that a rotation reads, by the value's key."""
        self._steps: dict[str, NDArray[np.float64]] = {}
        units = segments.units.of(Attention)
        self._weighed = {
            column
            for unit in units
            for head in unit.heads[0]
            for column in Columns.of(head.value).each
        }
        """Columns that are values."""
        for cluster in score_clusters(units):
            self._cluster(cluster)
        for unit in units:
            self._values(unit)

    def of(self, form: Form) -> NDArray[np.float64]:
        """What 1 stands for in each column of a form that attention reads."""
        return np.nan_to_num(self._of(form.key), nan=1.0)

    def _product_step(self, queries: Columns, keys: Columns) -> float:
        return float(self._of(queries.key)[queries.col] * self._of(keys.key)[keys.col])

    def _of(self, key: str) -> NDArray[np.float64]:
        """The steps of a value's columns, as far as they are known."""
        return self._steps.setdefault(key, np.full(self.seen.tops(key).size, np.nan))

    def _rows(self, span: Columns) -> Floats:
        return self.seen.rows(span.key)[:, span.slice]

    def said(self, key: str) -> tuple[float, float] | None:
        """The range that the file says a value has."""
        return self.seen.said.get(self.segments.units.values[key].tensor)

    def _step(self, key: str, x: Floats) -> float:
        said = self.said(key)
        return int8_step(x, self.clip) if said is None else said_step(said)

    # Scores.

    def _cluster(self, cluster: Cluster) -> None:
        """The steps of queries and keys that have to do with each other."""
        if cluster.mixed or not all(map(self._turns_whole, cluster.columns)):
            self._one_for_all(cluster)
            return
        for group in cluster.groups:
            self._group(group)
        if not any(self.said(span.key) for span in cluster.columns):
            self._one_step(cluster)

    def _turns_whole(self, span: Columns) -> bool:
        """Whether a head is what one rotation makes, if it is made by one."""
        turns = self._turns(span.key)
        return not turns or any(Columns.of(turn.out) == span for turn in turns)

    def _one_for_all(self, cluster: Cluster) -> None:
        """One step for all queries and keys of a tensor: then products have one, too.

        It is coarser than need be for heads with small numbers, as with `_one_step`.
        """
        columns: dict[str, set[int]] = {}
        for span in cluster.columns:
            turned = (Columns.of(turn.out) for turn in self._turns(span.key))
            for each in (span, *turned):
                columns.setdefault(span.key, set()).update(col for _, col in each.each)
        for key, found in columns.items():
            places = sorted(found)
            self._of(key)[places] = self._step(key, self.seen.rows(key)[:, places])

    def _group(self, group: Group) -> None:
        """The steps of queries and keys that meet; no column is in two of them."""
        keys, queries = group.keys, group.queries
        spans = [*keys, *queries]
        ways = [self._way(span) for span in spans]
        factors = np.ones(spans[0].cols, np.float32)
        if None not in ways and not any(self.said(span.key) for span in spans):
            rows = [[self._rows(span) for span in side] for side in (queries, keys)]
            weighed = [[span for span in side if self._weighs(span)] for side in (queries, keys)]
            values = [[self._rows(span) for span in side] for side in weighed]
            factors = score_factors(*rows, tied="turned" in ways, values=values)
        for span, way in zip(spans, ways, strict=True):
            mine: Floats = np.float32(1) / factors if span in keys else factors
            step = self._step(span.key, self._rows(span) / mine)
            self._of(span.key)[span.slice] = mine * np.float64(step)
            if way == "turned":
                self._turn(span, mine)

    def _weighs(self, span: Columns) -> bool:
        """Whether queries or keys are values, too."""
        return not self._weighed.isdisjoint(span.each)

    def _one_step(self, cluster: Cluster) -> None:
        """Queries and keys get coarser, until 1 stands for the same in the scores of all heads.

        An error of scores counts for as much in each head, and none gets larger ones than the head
        whose scores are coarsest already has: of 12 heads, all squared errors together grow 2.2
        times at most.  That side gets coarser first whose roundings scores see less of.  A head
        whose scores are nothing has no step that matters, and keeps its own.
        """
        if any(len(group.keys) > 1 < len(group.queries) for group in cluster.groups):
            return
        coarsest: dict[str, float] = {}
        seen: dict[Group, tuple[float, float]] = {}
        for group in cluster.groups:
            pairs = dict.fromkeys((each.queries, each.keys) for each in group.meetings)
            of_keys = sum(self._seen(keys, queries) for queries, keys in pairs)
            of_queries = sum(self._seen(queries, keys) for queries, keys in pairs)
            if of_keys > 0 and of_queries > 0:
                seen[group] = of_keys, of_queries
                for each in group.meetings:
                    step = self._product_step(each.queries, each.keys)
                    coarsest[each.attention] = max(step, coarsest.get(each.attention, 0.0))
        for group, (of_keys, of_queries) in seen.items():
            others, shared, ratio = group.queries, group.keys[0], of_queries / of_keys
            if len(group.keys) > 1:
                others, shared, ratio = group.keys, group.queries[0], of_keys / of_queries
            factor = self._short(group, shared, coarsest)
            share = np.clip(np.sqrt(factor * np.sqrt(ratio)), 1, factor)
            self._of(shared.key)[shared.slice] *= share
            for span in others:
                self._of(span.key)[span.slice] *= self._short(group, span, coarsest)

    def _short(self, group: Group, span: Columns, coarsest: Mapping[str, float]) -> float:
        """How much coarser queries or keys may be for the scores that they are in."""
        return min(
            coarsest[each.attention] / self._product_step(each.queries, each.keys)
            for each in group.meetings
            if span in {each.queries, each.keys}
        )

    def _seen(self, rounded: Columns, other: Columns) -> float:
        """What scores see of the roundings of one side: squares, in parts of twelve."""
        steps = self._of(rounded.key)[rounded.slice]
        return float((steps**2 * np.square(self._rows(other)).mean(axis=0)).sum())

    def _way(self, span: Columns) -> str | None:
        """How columns of queries or keys get steps of their own; None: they cannot."""
        turns = self._turns(span.key)
        if not turns:
            return "made"
        unit = self._maker(Form(span.key, "heads"))
        operands = {turn.x.tensor for turn in turns}
        alone = self.segments.made[unit.value.tensor] == ("heads",)
        apart = _apart(turns)
        free = alone and apart and all(self._free(name, unit) for name in operands)
        return "turned" if free else None

    def _turns(self, key: str) -> tuple[Turn, ...]:
        """The turns of the rotation that makes a value for attention; none, if none does."""
        unit = self._maker(Form(key, "heads"))
        return unit.turns if isinstance(unit, Rotation) else ()

    def _free(self, operand: str, unit: Rotation) -> bool:
        """Whether columns of what a rotation reads can have steps of their own."""
        form = Form(operand, "wide")
        tensor = self.segments.units.values[operand].tensor
        made = isinstance(self._maker(form), Product) and self.segments.made[tensor] == ("wide",)
        return made and self.segments.users(form) == [unit]

    def _maker(self, form: Form) -> Any:
        """The unit that makes a form; None: the host."""
        if form in self.segments.converted:
            return None
        return self.segments.units.units.get(self.segments.units.values[form.key].tensor)

    def _turn(self, span: Columns, factors: Floats) -> None:
        for turn in self._turns(span.key):
            if Columns.of(turn.out) == span:
                ones = np.ones(self.seen.tops(turn.x.tensor).size, np.float32)
                operand = Columns.of(turn.x)
                self.turned.setdefault(operand.key, ones)[operand.slice] = factors

    # Values.

    def _values(self, unit: Attention) -> None:
        """The steps of values, and how what attention makes of them becomes int8."""
        heads, key = unit.heads[0], unit.heads[0][0].value.tensor
        columns = _all_columns(unit)
        steps = self._of(key)[columns]
        known = np.isfinite(steps)
        factors = np.ones(len(columns), np.float32)
        form = Form(unit.value.key, "small")
        if self.segments.made[unit.value.tensor] == ("small",):
            context = self.seen.rows(form.key)
            sources = np.zeros(context.shape[1], np.intp)
            for head in heads:
                first = int(np.searchsorted(columns, head.value.col))
                sources[Columns.of(head.out).slice] = np.arange(first, first + head.value.cols)
            if not known.any() and self._own_steps(unit) and not self.said(form.key):
                factors = self._value_factors(form, columns, key, sources)
            smooth = factors[sources]
            step = int8_step(context / smooth, self.clip)
            self.contexts[unit.value.tensor] = Smoothing(smooth, step)
        if not known.all():
            # Of values that are keys of some heads, only the rest is free.
            step = self._step(key, (self.seen.rows(key)[:, columns] / factors)[:, ~known])
            self._of(key)[columns] = np.where(known, steps, factors * np.float64(step))

    def _own_steps(self, unit: Attention) -> bool:
        """Whether columns of values can have steps of their own, the same ones in all texts."""
        key = unit.heads[0][0].value.tensor
        texts = {tuple(Columns.of(head.value) for head in heads) for heads in unit.heads}
        return len(texts) == 1 and not self.said(key) and not self._turns(key)

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

        squares = np.square(context).mean(axis=0)

        def lost(factors: Floats) -> float:
            error, _ = smoothing_error(context, weights, factors[sources], squares)
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


def score_factors(
    queries: list[Floats],
    keys: list[Floats],
    *,
    tied: bool,
    values: Sequence[Sequence[Floats]] = ((), ()),
) -> Floats:
    """What columns of queries are divided by, and those of keys multiplied by, to lose least.

    Each of the `queries` meets each of the `keys`, and each has a step of its own.  With `tied`,
    both halves of the columns have the same factors.  `values` are those of the queries and of the
    keys that are values, too: what they lose counts as much as what scores lose.
    """
    power, key_power = (sum(np.square(x).mean(axis=0) for x in each) for each in (queries, keys))
    range_queries, range_keys = (
        np.max([column_ranges(x) for x in each], axis=0) for each in (queries, keys)
    )
    if tied:
        range_queries, range_keys = (
            np.tile(each.reshape(2, -1).max(axis=0), 2) for each in (range_queries, range_keys)
        )

    def lost(factors: Floats) -> float:
        square = factors**2
        of_queries = sum(least_error(each / factors, key_power * square)[1] for each in queries)
        worth = np.asarray(power / square, np.float32)
        return of_queries + sum(least_error(each * factors, worth)[1] for each in keys)

    def lost_of_values(factors: Floats) -> float:
        sides = zip(values, (factors, np.float32(1) / factors), strict=True)
        return sum(least_error(x / mine, mine**2)[1] for side, mine in sides for x in side)

    candidates = [np.ones(keys[0].shape[1], np.float32)]
    for share in _SHARES:
        candidates.append(smoothing_factors(range_queries, range_keys[:, np.newaxis], share))
    losses = [np.array([lost(each) for each in candidates])]
    if any(values):
        losses.append(np.array([lost_of_values(each) for each in candidates]))
    relative = sum(each / (each.min() or 1.0) for each in losses)
    return candidates[int(np.argmin(relative))]


def _apart(turns: tuple[Turn, ...]) -> bool:
    """Whether no column is turned into two others."""
    into: dict[tuple[str, int], int] = {}
    return all(
        into.setdefault(column, turn.out.col) == turn.out.col
        for turn in turns
        for column in Columns.of(turn.x).each
    )


def _largest(sizes: Floats, sources: NDArray[np.intp], count: int) -> Floats:
    """The largest of those `sizes` that have the same source."""
    largest = np.zeros(count, np.float32)
    np.maximum.at(largest, sources, sizes)
    return largest


def _all_columns(unit: Attention) -> NDArray[np.intp]:
    """The columns of values that heads read, in order."""
    views = [head.value for heads in unit.heads for head in heads]
    return np.array(sorted({c for v in views for c in range(v.col, v.col + v.cols)}), np.intp)
