"""What makes branches that are computed beside each other legal."""

from collections.abc import Iterator, Mapping
from itertools import combinations

from celosia.sw.ir.graph import Op
from celosia.sw.planning.forms.names import rings_in
from celosia.sw.planning.forms.stages import ConcurrentStage
from celosia.sw.planning.rules.common import Rule, StageRules
from celosia.sw.planning.rules.verify import depend

__all__ = ["concurrent_rules"]


def concurrent_rules(
    stage: ConcurrentStage, ops: Mapping[str, Op], rules: StageRules
) -> Iterator[Rule]:
    """The rules of branches of `ops`, beside those of their stages."""
    yield "branches", len(stage.branches) > 1, "one branch is nothing beside another"
    for branch in stage.branches:
        yield "branches", bool(branch.stages), "a branch has no stages"
        count, legal = len(branch.cycles), len(branch.cycles) == len(branch.stages)
        yield "branches", legal, f"{count} numbers of cycles for {len(branch.stages)} stages"
        yield "branches", min(branch.cycles) > 0, f"cycles {branch.cycles} are not all positive"
    for one, other in combinations(stage.branches, 2):
        for a in one.ops:
            for b in other.ops:
                legal = not depend(ops[a], ops[b], rules.graph.moving)
                yield "branches-apart", legal, f"{a} and {b} depend on each other"
        yield from rules.apart(rings_in(one, rules.plan), rings_in(other, rules.plan))
