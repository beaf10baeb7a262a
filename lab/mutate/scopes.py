"""Functions and classes of a Python file by their qualified names."""

import ast
from collections.abc import Iterator
from typing import TypeAlias

__all__ = ["Scope", "find_scope", "functions"]

Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def find_scope(module: ast.Module, name: str) -> Scope | ast.Module | None:
    """The function or class `name`, as in `Repeat._pop`; `module` for an empty name."""
    if not name:
        return module
    return next((scope for each, scope in _scopes(module, "") if each == name), None)


def functions(module: ast.Module) -> Iterator[tuple[str, Scope]]:
    """Outermost functions and methods, with their qualified names, in the order of the file."""
    for name, scope in _scopes(module, ""):
        if not isinstance(scope, ast.ClassDef) and not _is_nested(module, name):
            yield name, scope


def _is_nested(module: ast.Module, name: str) -> bool:
    """Whether `name` is defined in another function."""
    owner = find_scope(module, name.rpartition(".")[0])
    return isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef)


def _scopes(node: ast.AST, prefix: str) -> Iterator[tuple[str, Scope]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Scope):
            yield prefix + child.name, child
            yield from _scopes(child, f"{prefix}{child.name}.")
        else:
            yield from _scopes(child, prefix)
