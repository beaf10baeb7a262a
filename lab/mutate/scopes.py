"""Functions, classes and values of a Python file by the qualified names of what they are in."""

import ast
from collections.abc import Iterator
from typing import TypeAlias

__all__ = ["Scope", "find_scope", "functions", "values"]

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


def values(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Values of the module's and its classes' names, and defaults of parameters.

    Each comes with the name of its class or function; `__all__` and aliases of types have no part
    in a result.
    """
    yield from _assigned("", module)
    for name, scope in _scopes(module, ""):
        if isinstance(scope, ast.ClassDef):
            yield from _assigned(name, scope)
        else:
            defaults = [*scope.args.defaults, *scope.args.kw_defaults]
            yield from ((name, each) for each in defaults if each is not None)


def _assigned(name: str, scope: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for each in scope.body:
        match each:
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                pass
            case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
                pass
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                yield name, value


def _is_nested(module: ast.Module, name: str) -> bool:
    """Whether `name` is defined in another function."""
    owner = find_scope(module, name.rpartition(".")[0])
    return isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef)


def _scopes(node: ast.AST, prefix: str) -> Iterator[tuple[str, Scope]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Scope):
            yield prefix + child.name, child
            yield from _scopes(child, f"{prefix}{child.name}.")
        elif not isinstance(child, ast.expr):  # No expression defines a function with a name.
            yield from _scopes(child, prefix)
