"""Outside of `hw/gemmini`, next to nothing of `hw` asks for what only Gemmini's programs need.

What asks is a condition: of a branch, a conditional expression or a comprehension, or an operand of
``and``, ``or``, ``not`` and ``*``.  It counts if it holds one of the flags, or a name that was
assigned from one.
"""

import ast
from pathlib import Path

import pytest

HW = Path(__file__).parents[3] / "hw"
FLAGS = {
    "bert",
    "convolution",
    "dataflow",
    "loop_ws",
    "output_stationary",
    "weight_stationary",
}
ALLOWED = 20


def _is_flag(node: ast.AST) -> bool:
    """Whether `node` is ``config.FLAG``, or FLAG of ``config`` by its name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        of_config = node.func.id in {"getattr", "hasattr"} and "config" in ast.dump(node.args[0])
        return of_config and isinstance(node.args[1], ast.Constant) and node.args[1].value in FLAGS
    if not isinstance(node, ast.Attribute) or node.attr not in FLAGS:
        return False
    owner = node.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return name in {"config", "_config"}


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _asks(node: ast.AST, derived: set[str]) -> bool:
    return any(_is_flag(part) or _name(part) in derived for part in ast.walk(node))


def _derived(tree: ast.AST) -> set[str]:
    """The names that are assigned from a flag, or from such a name."""
    found: set[str] = set()
    while True:
        more = set(found)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign)):
                if node.value is None or not _asks(node.value, found):
                    continue
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    parts = target.elts if isinstance(target, ast.Tuple) else [target]
                    more |= {_name(part) for part in parts} - {"", "config"}
        if more == found:
            return found
        found = more


def _conditions(node: ast.AST) -> list[ast.expr]:
    """The expressions that decide something in `node` itself."""
    found: list[ast.expr] = []
    match node:
        case ast.If() | ast.IfExp() | ast.While() | ast.Assert():
            found = [node.test]
        case ast.comprehension():
            found = node.ifs
        case ast.BoolOp():
            found = node.values
        case ast.UnaryOp(op=ast.Not()):
            found = [node.operand]
        case ast.BinOp(op=ast.Mult()):
            found = [node.left, node.right]
        case ast.Match():
            found = [node.subject]
        case ast.match_case(guard=ast.expr() as guard):
            found = [guard]
    return found


def asked(source: str) -> list[int]:
    """The lines of the conditions that hold a flag."""
    tree = ast.parse(source)
    derived = _derived(tree)
    return [
        condition.lineno
        for node in ast.walk(tree)
        for condition in _conditions(node)
        if _asks(condition, derived)
    ]


def test_the_lean_accelerator_asks_for_next_to_nothing_of_gemmini():
    found = {}
    for path in sorted(HW.rglob("*.py")):
        if HW / "gemmini" not in path.parents and (lines := asked(path.read_text())):
            found[path.relative_to(HW).as_posix()] = lines
    assert sum(map(len, found.values())) <= ALLOWED, found


@pytest.mark.parametrize(
    ("count", "source"),
    [
        (1, "if config.bert: pass"),
        (1, "x = 1 if self.config.convolution else 2"),
        (1, "x = [y for y in z if config.loop_ws]"),
        (2, "x = config.bert or self.config.loop_ws"),
        (1, "x = not config.output_stationary"),
        (1, "x = ['passing'] * config.bert"),
        (1, "x = config.bert\nif x: pass"),
        (1, "self.x = config.bert\ny = self.x\nwhile y: pass"),
        (1, "if getattr(config, 'bert'): pass"),
        (0, "x = config.normalization\nif x: pass"),
        (0, "m.d.comb += bert.activation.eq(1)"),
    ],
)
def test_conditions_are_counted(count, source):
    assert len(asked(source)) == count
