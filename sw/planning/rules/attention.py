"""What makes a stage of heads of attention legal."""

from collections.abc import Iterator, Mapping

from celosia.sw.ir.graph import Op
from celosia.sw.planning.forms.groups import Head, head_of
from celosia.sw.planning.forms.stages import AttentionStage, HeadGroup
from celosia.sw.planning.rules.common import SHARES, Rule, StageRules
from celosia.sw.planning.rules.linear import drain_rules

__all__ = ["attention_rules"]


def attention_rules(
    stage: AttentionStage, ops: Mapping[str, Op], rules: StageRules
) -> Iterator[Rule]:
    """The rules of a stage that computes heads of `ops`."""
    yield "heads", bool(stage.groups), "there are none"
    heads: list[Head] = []
    for group in stage.groups:
        yield "heads", bool(group.heads), "a group has no heads"
        for names in group.heads:
            head = _head(ops[names[0]], ops[names[1]])
            yield "heads", head is not None, f"{' and '.join(names)} are no head"
            assert head is not None
            yield "heads-read", not head.reads(heads), f"{names[0]} reads another head's context"
            heads.append(head)
            yield from _group_rules(group, head, rules)
        yield from _turns(group, stage)
        yield from rules.fits(
            "slots-fit",
            stage.slots,
            "statistics",
            max(group.rows),
            pieces=1 + stage.ahead + (group.spill is not None),
            shares=SHARES,
        )
    yield from _apart(stage, rules)


def _head(scores: Op, context: Op) -> Head | None:
    """The head of two operators, if they are one."""
    try:
        return head_of(scores, context)
    except ValueError:
        return None


def _group_rules(group: HeadGroup, head: Head, rules: StageRules) -> Iterator[Rule]:
    scores, context = head.scores, head.context
    yield from rules.given([scores.bias, context.bias], inputs=True)
    yield from rules.block_rows(group.rows, scores.out.rows)
    yield from rules.cut("keys", group.keys, scores.out.cols)
    dim = rules.machine.dim
    begins = head.softmax.begins(dim)
    whole = all(keys % begins == 0 for keys in group.keys[:-1])
    yield "keys-tiles", whole, f"parts {group.keys} end within tiles of {begins}"
    rows, keys = max(group.rows), rules.tiles(max(group.keys))
    yield from rules.pieces(group.k, scores.a.cols, transposed=scores.b_transposed)
    for ring in group.queries:
        yield from rules.pieces_of_a(ring, group.k, scores.a.cols, rows)
    most = head.most_scores(group.rows, group.keys, dim)
    yield from rules.fits("scores-fit", group.scores, "accumulator", most)
    yield "exponents", group.exponents > 0, f"{group.exponents} transforms are none"
    for ring in group.numerators:
        yield from rules.fits("numerators-fit", ring, "scratchpad", most)
    if group.spill is not None:
        yield "spill", rules.config.stores_int16, "scores wait in memory, but no store makes int16"
        stored = head.softmax.stored
        yield "spill-stored", stored, f"scores of {scores.name} wait in memory, but are not int16"
        yield from rules.fits("spill-fits", group.spill.ring, "scratchpad", 2 * most)
    yield "values", not context.b_transposed, f"the values of {context} are transposed"
    yield from rules.pieces(group.v, max(group.keys), transposed=False)
    wide = rules.tiles(context.out.cols)
    yield from rules.fits("contexts-fit", group.contexts, "accumulator", rows * wide)
    biased = scores.bias is not None
    yield from drain_rules(group.drain, context, rows, wide, rules, biased=biased)
    if biased:
        yield from rules.parameters(group.drain.parameters, 1, keys)


def _turns(group: HeadGroup, stage: AttentionStage) -> Iterator[Rule]:
    """All parts count their turns alike, and one that waits for its context has rows of its own.

    In memory, too: scores of a block leave while those of the block before are there, and those of
    one whose contexts are behind (`ahead`).
    """
    if group.spill is not None:
        least, blocks = 2 + stage.ahead, group.spill.blocks
        yield "spill-blocks", blocks >= least, f"{blocks} blocks in memory, but {least} are needed"
    turns = len(stage.groups[0].queries)
    legal = 0 <= stage.ahead < turns
    yield "turns", legal, f"{turns} rings of queries, but {stage.ahead} ahead"
    for names, what in ((group.queries, "queries"), (group.numerators, "numerators")):
        yield "turns", len(names) == turns, f"{len(names)} rings of {what}, not {turns}"


def _apart(stage: AttentionStage, rules: StageRules) -> Iterator[Rule]:
    """What one part leaves for later is apart from what it and the next ones use until then."""
    groups = stage.groups
    weights = {ring for group in groups for ring in (group.k.ring, group.v.ring)}
    weights |= {group.drain.results for group in groups}
    numerators = {ring for group in groups for ring in group.numerators}
    back = {group.spill.ring for group in groups if group.spill is not None}
    yield from rules.apart(weights, numerators, back)
    for group in groups:
        yield from rules.apart((group.k.ring,), group.queries, group.numerators)
        yield from rules.apart(back, group.queries)
    for turn in range(len(groups[0].queries)):
        mine = {group.numerators[turn] for group in groups}
        others = {
            ring
            for group in groups
            for rings in (group.queries, group.numerators)
            for ring in (*rings[:turn], *rings[turn + 1 :])
        }
        yield from rules.apart(mine, others)
    contexts = {group.contexts for group in groups}
    yield from rules.apart({group.scores for group in groups}, contexts)
