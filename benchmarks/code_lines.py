"""Code lines of the product: by layer, of the road, and how far records of options reach.

A line counts if it has a token that is no comment and belongs to no docstring.  The *road* is what
is loaded to get from a graph to commands: the modules of `sw` that are there after a product and a
layer of BERT were compiled as everybody does, by `celosia.sw.compiler.verified.compile_graph` with
its defaults, less what predicts (`NOT_THE_ROAD`).  So what verifies programs is of it, as are the
rules of plans, which decisions ask.
A *record of options* is a frozen dataclass whose name ends with ``Options`` and that has more than
`MANY` fields.

``python benchmarks/code_lines.py [CHECKOUT]`` prints all three; the road is that of this checkout.
"""

import ast
import io
import pickle
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Final

__all__ = ["NOT_THE_ROAD", "code_lines", "loaded_by_compiling", "option_files", "road"]

ROOT: Final = Path(__file__).parents[1]
LAYERS: Final = ("isa", "hw", "sw", "sim", "lab", "api")
NOT_THE_ROAD: Final = ("sw/timeline/*", "sw/ir/graph*", "sw/ir/causal.py", "sw/branches/*")
"""What predicts cycles, and graphs as such.  A new file is of the road: this list only shrinks."""
MANY: Final = 6
"""Fields of a record of options that one still overlooks."""

_EMPTY: Final = frozenset({
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
})


def code_lines(source: str) -> int:
    """The lines of a module that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _EMPTY:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            assert node.end_lineno is not None
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def option_files(sources: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """The files that have a parameter or an attribute of each record of options.

    `sources` are files by path and text.
    """
    trees = {path: ast.parse(text) for path, text in sources}
    records = {
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and node.name.endswith("Options")
        and sum(isinstance(each, ast.AnnAssign) for each in node.body) > MANY
    }
    return {
        record: {
            path
            for path, tree in trees.items()
            if any(record in _names(annotation) for annotation in _annotations(tree))
        }
        for record in sorted(records)
    }


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation


def _names(annotation: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


def road(loaded: Iterable[str]) -> Counter[str]:
    """The code lines of the road by the folder of `sw`, if these files are loaded to compile."""
    counted: Counter[str] = Counter()
    for path in loaded:
        if path.startswith("sw/") and not any(fnmatchcase(path, each) for each in NOT_THE_ROAD):
            counted[path.split("/")[1]] += code_lines((ROOT / path).read_text())
    return counted


def loaded_by_compiling() -> list[str]:
    """Our files that a process loads to compile: it gets the graphs made."""
    cases = import_module("celosia.sw.models.cases")
    problems = import_module("celosia.sw.planning.problems")
    shapes = import_module("celosia.sw.reference.encoder")
    model = cases.random_quantized_encoder(
        shapes.EncoderShape(layers=2, width=64, heads=2, hidden=256), 0
    )
    graphs = [
        problems.graph_of("matmul", problems.Problem(m=64, n=64, k=64, bias=True, scale=0.01)),
        cases.encoder_layer_case(model, [16], 0).graph,
    ]
    child = subprocess.run(
        [sys.executable, __file__, "--compile"],
        input=pickle.dumps(graphs),
        stdout=subprocess.PIPE,
        check=True,
    )
    return child.stdout.decode().split()


def _compile_and_tell() -> None:
    """In a process of its own: take graphs to commands, and say what was loaded."""
    graphs = pickle.load(sys.stdin.buffer)
    config = import_module("celosia.isa.presets").PRESETS["base"]
    timing = import_module("celosia.isa.memory").MemoryTiming()
    compiler = import_module("celosia.sw.compiler.verified")
    for graph in graphs:
        assert compiler.compile_graph(graph, config, timing=timing).program
    for name, module in sorted(sys.modules.items()):
        if name.startswith("celosia.") and getattr(module, "__file__", None):
            print(Path(module.__file__ or "").relative_to(ROOT).as_posix())


def _sources(root: Path) -> Iterator[tuple[str, str]]:
    for layer in LAYERS:
        for path in sorted((root / layer).rglob("*.py")):
            yield path.relative_to(root).as_posix(), path.read_text()


def _main(checkout: str = "") -> None:
    root = Path(checkout or ROOT)
    sources = [*_sources(root)]
    layers = Counter[str]()
    for path, text in sources:
        layers[path.split("/")[0]] += code_lines(text)
    _print("code lines", layers)
    files = option_files(sources)
    reached = set[str]().union(*files.values())
    print(f"records of over {MANY} options: {', '.join(files) or 'none'}; in {len(reached)} files")
    if root == ROOT:
        _print("the road", road(loaded_by_compiling()))


def _print(title: str, counted: Counter[str]) -> None:
    print(f"{title}: {counted.total():,}")
    for name, lines in counted.most_common():
        print(f"  {name:14}{lines:8,}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--compile"]:
        _compile_and_tell()
    else:
        _main(*sys.argv[1:])
